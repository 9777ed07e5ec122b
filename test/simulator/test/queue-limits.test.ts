import { peerKey, type BlockKey } from '@shardswap/interface'
import { describe, expect, it } from 'vitest'
import { QueueLimits } from '../src/checkers/queue-limits.ts'

const a = peerKey('a')
const KiB = 1024

/** A peer that gets each of so many wants in its turn, and answers each so many milliseconds later, all alike. */
function after(blocks: number, bytes: number, latencyMs: number, isOpen = true): number {
  const limits = new QueueLimits()
  for (let index = 0; index < blocks; index++) {
    const key = `${index}` as BlockKey
    const atMs = index * (latencyMs + 100)
    limits.sent(a, key, atMs)
    limits.delivered(a, key, bytes, { isOpen, isWanted: true }, atMs + latencyMs)
  }
  return limits.mostWants(a)
}

/** A peer that sends 1 KiB a millisecond, whose last block is asked for so long after a large one came. */
function afterLarge(askedAfterMs: number): number {
  const limits = new QueueLimits()
  const ask = (key: string, bytes: number, fromMs: number, tookMs: number): void => {
    limits.sent(a, key as BlockKey, fromMs)
    limits.delivered(a, key as BlockKey, bytes, { isOpen: true, isWanted: true }, fromMs + tookMs)
  }
  for (let index = 0; index < 2000; index++) ask(`${index}`, 10 * KiB, index * 20, 10)
  ask('large', 100 * KiB, 50_000, 100)
  ask('next', 10 * KiB, 50_100 + askedAfterMs, 10)
  return limits.mostWants(a)
}

describe('[B15] want-blocks that may be in flight at a peer, by what was seen of it', () => {
  it('are 128 at one of which nothing is known', () => {
    const limits = new QueueLimits()
    expect(limits.mostWants(a)).toBe(128)
    limits.sent(a, 'x' as BlockKey, 0)
    limits.answered(a, 'x' as BlockKey, 3000)
    expect(limits.mostWants(a)).toBe(128)
  })

  it('are what its rate delivers in twice its latency and the slack, once it has delivered much', () => {
    // 64 KiB in 100 ms: (2 × (100 + 5) + 30) ms of that are 157,286 bytes, 2 blocks, so 128 stand; of 4 KiB in 1 ms 168 KiB, 42.
    expect(after(300, 64 * KiB, 100)).toBe(128)
    expect(after(5000, 4 * KiB, 1)).toBe(128)
    // 1 MiB in 10 ms: 6 MiB are 6 blocks.
    expect(after(20, 1024 * KiB, 10)).toBe(128)
    // One block of 2 MiB in 20 ms, and 10,000 small ones as quick: a window of 8 MiB is more of them than a server keeps.
    const limits = new QueueLimits()
    limits.sent(a, 'large' as BlockKey, 0)
    limits.delivered(a, 'large' as BlockKey, 2048 * KiB, { isOpen: true, isWanted: true }, 20)
    for (let index = 0; index < 10_000; index++) {
      limits.sent(a, `${index}` as BlockKey, 1000 + index * 20)
      limits.delivered(a, `${index}` as BlockKey, 16 * KiB, { isOpen: true, isWanted: true }, 1020 + index * 20)
    }
    // 2 MiB in 20 ms, for 2 × 25 + 30 ms, are 8 MiB: 512 blocks of 16 KiB, of which the first is still a part of the average.
    expect(limits.mostWants(a)).toBe(511)
  })

  it('are more at first, when what a peer may have in flight trebles with each windowful, and never above 1,024', () => {
    // 4 MiB and twice what came, of blocks of 8 KiB.
    expect(after(1, 8 * KiB, 10)).toBe(514)
    expect(after(100, 8 * KiB, 10)).toBe(712)
    expect(after(1000, 8 * KiB, 10)).toBe(1024)
  })

  it('count what came less than a hold before the message: the core may have asked before', () => {
    // 110 KiB in 10 ms, for 2 × 105 + 30 ms, in blocks of 20 KB on average; or no more than before.
    expect([afterLarge(4), afterLarge(6)]).toEqual([133, 128])
  })
})
