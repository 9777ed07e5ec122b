import { describe, expect, it } from 'vitest'
import { Candidate } from '../src/candidate.ts'
import { deliveredFactor, grownLimit, newcomerFactor, queueFactor, restFactor, timeoutFactor, weightOf } from '../src/weight.ts'
import { limits, peer } from './scene.ts'

function candidate(hit = 1, score = 1): Candidate {
  return new Candidate(peer('A', { score }), 0, hit, 0, limits)
}

describe('the weight of a peer', () => {
  it('[B16] rises with the blocks received in this session: 1 at first, 2.5 after N, 3.25 after 3 N, never 4', () => {
    expect([0, 1, 4, 8, 24, 56].map((blocks) => deliveredFactor(blocks, 8))).toEqual([1, 1 + 3 / 9, 2, 2.5, 3.25, 3.625])
    expect(deliveredFactor(1e6, 8)).toBeLessThan(4)
    const delivering = candidate()
    const weights = Array.from({ length: 8 }, () => {
      delivering.receive()
      return delivering.weight(1)
    })
    expect(weights).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((blocks) => 1 + (3 * blocks) / (blocks + 8)))
  })

  it('[B17] halves with each timeout down to 1/1,024, and each block forgives a quarter of them', () => {
    expect([0, 1, 2, 3, 10, 11, 1000].map((timeouts) => timeoutFactor(timeouts))).toEqual([
      1,
      1 / 2,
      1 / 4,
      1 / 8,
      2 ** -10,
      2 ** -10,
      2 ** -10
    ])
    const late = candidate()
    late.timeOut(0, 100)
    late.timeOut(100, 200)
    expect(late.weight(1)).toBe(1 / 4)
    late.receive()
    expect(late.timeouts).toBe(1.5)
    expect(late.weight(1)).toBe((1 + 3 / 9) * 2 ** -1.5)
  })

  it('[B18] falls with the depth of the queue over all sessions, to a tenth where it is full', () => {
    expect([0, 0.25, 0.5, 1, 2, -1].map((depth) => queueFactor(depth))).toEqual([1, 0.775, 0.55, 1 - 0.9, 1 - 0.9, 1])
  })

  it('[B20] is 0 for T after a timeout of the want there, then rises linearly to the full weight at 5 T', () => {
    const restMs = 5 * 20
    const factors = [0, 99, 100, 200, 300, 400, 500, 5000].map((ms) => restFactor(1000, restMs, 1000 + ms))
    expect(factors).toEqual([0, 0, 0, 0.25, 0.5, 0.75, 1, 1])
  })

  it('[B21] starts at 1.5 × the median of what others delivered, until the first block or timeout', () => {
    expect([0, 1, 2.5, 4].map((median) => newcomerFactor(median))).toEqual([1, 1.5, 3.75, 6])
    const newcomer = new Candidate(peer('new'), 0, 1, 2, limits)
    expect(newcomer.weight(1)).toBe(3)
    newcomer.receive()
    expect(newcomer.weight(1)).toBe(1 + 3 / 9)
    const silent = new Candidate(peer('silent'), 0, 1, 2, limits)
    silent.timeOut(0, 100)
    expect(silent.weight(1)).toBe(1 / 2)
  })

  it('[C3] is the product of its factors, so that with the others equal it is as the score', () => {
    expect(weightOf({ score: 50, delivered: 2, timeouts: 0.5, presence: 0.25 })).toBe(12.5)
    expect([100, 50, 1].map((score) => candidate(1, score).weight(1))).toEqual([100, 50, 1])
  })

  it('counts a peer of which nothing is known for the block by its hit rate so far', () => {
    const partial = candidate(0)
    const hits = [true, true, false, false, true].map((has) => {
      partial.answer(has)
      return partial.hit
    })
    // The first answer is all that is known; each further one moves the rate by a quarter.
    expect(hits).toEqual([1, 1, 0.75, 0.5625, 0.671875])
    expect(partial.weight(partial.hit)).toBe(0.671875)
  })
})

describe('the limit of a peer in a session', () => {
  it('[B11][B12][B13] is N before the first block, 2 N after it, and doubles as often as the blocks reach half of it', () => {
    const grown = candidate()
    const changes: [number, number][] = [[0, grown.limit]]
    for (let blocks = 1; blocks <= 600; blocks++) {
      grown.receive()
      if (grown.limit !== changes.at(-1)?.[1]) changes.push([blocks, grown.limit])
    }
    expect(changes).toEqual([
      [0, 8],
      [1, 16],
      [8, 32],
      [16, 64],
      [32, 128],
      [64, 256],
      [128, 512],
      [256, 1024]
    ])
  })

  it.each([1, 2, 5, 8, 16])('[B11][B12][B13] follows any N: %i, 2 N after 1 block, 4 N after N, 8 N after 2 N, 16 N after 4 N', (n) => {
    let limit = n
    const after = new Map<number, number>()
    for (let blocks = 1; blocks <= 4 * n; blocks++) {
      limit = grownLimit(limit, blocks, n, 1 << 20)
      after.set(blocks, limit)
    }
    // With N = 1 the first block is the Nth as well: the limit doubles once a block.
    const [blocks, expected] =
      n > 1
        ? [
            [1, n, 2 * n, 4 * n],
            [2 * n, 4 * n, 8 * n, 16 * n]
          ]
        : [
            [1, 2, 3, 4],
            [2, 4, 8, 16]
          ]
    expect(blocks?.map((count) => after.get(count))).toEqual(expected)
  })

  it('lets a peer rest once it was silent for what was sent after its first timeout: 0.5 s, then 1, 2, 4, 8, 10 s', () => {
    const silent = candidate()
    // What was in flight at once counts once.
    silent.timeOut(0, 1000)
    silent.timeOut(0, 1000)
    expect(silent.restUntilMs).toBe(Number.NEGATIVE_INFINITY)
    const rests = [1, 2, 3, 4, 5, 6, 7].map((n) => {
      silent.timeOut(n * 1000, (n + 1) * 1000)
      return silent.restUntilMs - (n + 1) * 1000
    })
    expect(rests).toEqual([500, 1000, 2000, 4000, 8000, 10_000, 10_000])
    silent.receive()
    expect(silent.restUntilMs).toBe(Number.NEGATIVE_INFINITY)
  })

  it('[B15] halves with each timeout, floor 1, and grows again from there', () => {
    const late = candidate()
    const halved = [1, 2, 3, 4, 5].map(() => {
      late.timeOut(0, 100)
      return late.limit
    })
    expect(halved).toEqual([4, 2, 1, 1, 1])
    const grown = [1, 2, 3, 4, 5, 6, 7, 8].map(() => {
      late.receive()
      return late.limit
    })
    // Up to N each block doubles it; above, half of it must have come since the timeout.
    expect(grown).toEqual([2, 4, 8, 16, 16, 16, 16, 32])
  })
})
