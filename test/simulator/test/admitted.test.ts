import { peerKey } from '@shardswap/interface'
import { clientKey, type Decision, ownerKey } from '@shardswap/server'
import { describe, expect, it } from 'vitest'
import { AdmittedCount } from '../src/checkers/admitted.ts'
import { Violation } from '../src/checkers/violation.ts'
import { admissionFor } from '../src/nodes/admission.ts'

const admits: Decision = { action: 'admit', reason: 'score' }
const waits: Decision = { action: 'wait', reason: 'low-score' }

/** The rule that is broken, and how; undefined where none is. */
function broken(act: () => void): string | undefined {
  try {
    act()
  } catch (error) {
    if (error instanceof Violation) return `${error.rule}: ${error.message}`
    throw error
  }
  return undefined
}

describe('[I9] [I10] [I11] invariant 9, at every decision of a serving node', () => {
  it('lets nobody be admitted while somebody with a higher score waits', () => {
    const count = new AdmittedCount(10)
    expect(broken(() => count.admit(3, 1, [{ score: 5, decision: admits }]))).toBeUndefined()
    expect(broken(() => count.admit(3, 1, [{ score: 2, decision: waits }]))).toBeUndefined()
    expect(broken(() => count.admit(3, 1, [{ score: 5, decision: waits }]))).toBe(
      'admission: a request with a score of 3 is admitted, and one with 5 is not'
    )
  })

  it('lets nobody be turned away while somebody with a lower score is admitted', () => {
    const count = new AdmittedCount(10)
    expect(broken(() => count.turnAway(3, [{ score: 5, decision: admits }]))).toBeUndefined()
    expect(broken(() => count.turnAway(3, [{ score: 2, decision: admits }]))).toBe(
      'admission: a request with a score of 3 is turned away, and one with 2 is not'
    )
  })

  it('lets no more be open than Cap_max, and no more end than were admitted', () => {
    const count = new AdmittedCount(10)
    count.admit(20, 10, [])
    expect(broken(() => count.admit(20, 1, []))).toBe('admission: 11 requests are open, of 10')
    count.end(11)
    expect(broken(() => count.end(1))).toBe('admission: more requests have ended than were admitted')
  })

  it('finds an account of admission’s own that is not what was admitted', () => {
    const count = new AdmittedCount(10)
    count.admit(20, 3, [])
    count.end(1)
    expect(broken(() => count.check(2))).toBeUndefined()
    expect(broken(() => count.check(3))).toBe('admission: 3 requests are said to be open, and 2 are')
  })

  it('looks on at the production admission, and notes what it admits', () => {
    const hog = ownerKey('hog')
    const admission = admissionFor({
      limits: { openRequestsMax: 10, freeScoreRequests: 2 },
      owners: [{ owner: 'hog', servers: 1, received: 100, lost: 0 }]
    })
    const [client, stranger] = [peerKey('client'), peerKey('stranger')]
    admission.identified(client, clientKey(client), hog, 0)
    expect(admission.room(stranger, 1)).toBe(3)
    admission.admit(stranger, 2, 1)
    admission.admit(client, 5, 2)
    admission.check()
    expect(admission.turnAway(stranger, 1, 3)).toEqual({ action: 'wait', reason: 'low-free-score' })
    admission.ended(client, 5, { isServed: true }, 4)
    admission.ended(stranger, 2, { isServed: false }, 4)
    admission.check()
    expect(admission.open).toBe(0)
    expect(admission.admitted).toEqual([
      { atMs: 1, owner: undefined, requests: 2 },
      { atMs: 2, owner: hog, requests: 5 }
    ])
  })
})
