import { expect, it } from 'vitest'
import { expectClean, isFull, scale, workMs } from './scale.ts'

it.each([
  { title: 'gets', oneShot: false, gets: isFull ? 10_000 : 3000 },
  { title: 'one-shot sessions', oneShot: true, gets: 10_000 }
])(
  '[F23] $gets single-block $title, of which a third time out and a third are aborted, leave nothing behind',
  { timeout: workMs },
  async ({ oneShot, gets }) => {
    const findings = await scale('thirds', { gets, oneShot })
    expectClean(findings)
    const { block, TimeoutError, AbortError } = findings.counts
    expect({ block, TimeoutError, AbortError }).toEqual({
      block: Math.ceil(gets / 3),
      TimeoutError: Math.floor((gets + 1) / 3),
      AbortError: Math.floor(gets / 3)
    })
    const [, , second = 0] = findings.liveBytes
    expect(findings.liveBytes.at(-1)).toBeLessThan(second * 1.05)
  }
)

it(
  '[F26] a signal shared by 1,000 gets at once and 10,000 in turn has one listener at most, and none when idle',
  { timeout: workMs },
  async () => {
    const findings = await scale('sharedSignal', { atOnce: 1000, inTurn: 10_000 })
    expectClean(findings)
    expect(findings.counts).toMatchObject({ blocks: 11_000, listenersMost: 1, listenersBetween: 0, listenersAfter: 0 })
  }
)
