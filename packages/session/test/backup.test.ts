import { describe, expect, it } from 'vitest'
import { chooseBackup } from '../src/backup.ts'
import { Candidates } from '../src/candidates.ts'
import { block, limits, peer, seeded, stand } from './scene.ts'

const blockBytes = 1000
const anybody = (): boolean => true

describe('the choice of a backup', () => {
  it('[C5] takes the one of two that would deliver sooner', () => {
    const candidates = new Candidates(limits, seeded(1))
    const slow = peer('slow', { latencyMs: 80, bytesPerMs: 1000 })
    const full = peer('full', { latencyMs: 10, bytesPerMs: 10, inFlightBytes: 5000 })
    const free = peer('free', { latencyMs: 10, bytesPerMs: 1000 })
    for (const each of [slow, full, free]) candidates.add(each, 1)
    const chosen = { slow: 0, full: 0, free: 0 }
    for (let seed = 1; seed <= 300; seed++) {
      const backup = chooseBackup(candidates, block(1), blockBytes, anybody, seeded(seed * 7919))
      chosen[backup?.key as unknown as keyof typeof chosen] += 1
    }
    // Who is the slowest of all is never the better one of two.
    expect(chosen.full).toBe(0)
    expect(chosen.slow + chosen.free).toBe(300)
    expect(chosen.slow).toBeGreaterThan(60)
    expect(chosen.free).toBeGreaterThan(150)
  })

  it('[C5] prefers one that said HAVE, and asks nobody that is not fit', () => {
    const candidates = new Candidates(limits, seeded(1))
    const [primary, promised, other] = [peer('primary'), peer('promised', { latencyMs: 500 }), peer('other', { latencyMs: 1 })]
    for (const each of [primary, promised, other]) candidates.add(each, 1)
    const of = block(1)
    stand(of, primary, 'in-flight')
    stand(of, promised, 'have')
    const isFit = (each: { key: string }): boolean => each.key !== primary.key
    for (let seed = 1; seed < 50; seed++) expect(chooseBackup(candidates, of, blockBytes, isFit, seeded(seed))).toBe(promised)
    expect(chooseBackup(candidates, of, blockBytes, () => false, seeded(1))).toBeUndefined()
  })

  it('[C5] draws the two among all that said HAVE, whoever said it first', () => {
    const candidates = new Candidates(limits, seeded(1))
    const of = block(1)
    const promised = [1, 2, 3, 4].map((each) => peer(`${each}`, { latencyMs: each }))
    for (const each of promised) {
      candidates.add(each, 1)
      stand(of, each, 'have')
    }
    const chosen = [0, 0, 0, 0]
    for (let seed = 1; seed <= 600; seed++) {
      const backup = chooseBackup(candidates, of, blockBytes, anybody, seeded(seed * 7919))
      const at = promised.findIndex((each) => each === backup)
      chosen[at] = (chosen[at] ?? 0) + 1
    }
    // The nearest is the better one of half of all six pairs, the second of a third, the third of one.
    for (const [at, pairs] of [3, 2, 1, 0].entries()) expect(Math.abs((chosen[at] ?? 0) - 100 * pairs)).toBeLessThan(60)
    expect(chosen[3]).toBe(0)
  })

  it('[C5] looks at a bounded number of those, with draws of its own', () => {
    const candidates = new Candidates(limits, seeded(1))
    const of = block(1)
    for (let each = 0; each < 100; each++) {
      const one = peer(`${each}`)
      candidates.add(one, 1)
      stand(of, one, 'have')
    }
    let looks = 0
    expect(chooseBackup(candidates, of, blockBytes, () => ++looks < 0, seeded(1))).toBeUndefined()
    expect(looks).toBeLessThanOrEqual(24)
  })
})
