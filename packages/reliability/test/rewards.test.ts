import type { PeerKey, Random } from '@shardswap/interface'
import { rewardShares } from '@shardswap/reliability'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { accountsWith, keyOf, peerOf } from './account-scene.ts'

// Deterministic seeds: a failure is the same on every machine.
const runs = { seed: 20_261_130, numRuns: 300 }

/** mulberry32: small, and good enough to draw peers with. */
function randomOf(seed: number): Random {
  let state = seed
  return {
    next: () => {
      state = (state + 0x6d2b79f5) | 0
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
    }
  }
}

function normalized(values: readonly number[]): number[] {
  const sum = values.reduce((sum, value) => sum + value, 0)
  return values.map((value) => value / sum)
}

const scoresOf = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 30 })

describe('[P13] reward shares', () => {
  it('after routing by score are those of equal routing multiplied by score', () => {
    fc.assert(
      fc.property(scoresOf, fc.integer({ min: 1, max: 1_000_000 }), (scores, requests) => {
        // Then: as many requests for each, paid by score. Now: requests by score, paid by request.
        const before = normalized(scores.map((score) => (requests / scores.length) * (score / 100)))
        const routed = normalized(scores).map((share) => share * requests)
        const now = rewardShares(routed.map((rewardable, index) => ({ peer: peerOf(index), rewardable })))
        for (const [index, { share }] of now.entries()) expect(share).toBeCloseTo(before[index] as number, 10)
      }),
      runs
    )
  })

  it('multiplied by the score once more would be others: it is applied once', () => {
    const routed = [100, 50, 1].map((rewardable, index) => ({ peer: peerOf(index), rewardable }))
    const shares = rewardShares(routed).map(({ share }) => share)
    expect(shares[0]).toBeCloseTo((shares[1] as number) * 2, 10)
    expect(shares[1]).toBeCloseTo((shares[2] as number) * 50, 10)
    const twice = normalized(shares.map((share, index) => share * ((routed[index]?.rewardable ?? 0) / 100)))
    expect(twice[0]).toBeGreaterThan((shares[0] as number) + 0.1)
  })

  it('are so for drawn turns too, within what chance allows', () => {
    const random = randomOf(7)
    const scores = [100, 80, 50, 20, 10, 1]
    const wants = 60_000
    const sum = scores.reduce((total, score) => total + score, 0)
    const accounts = accountsWith()
    for (let want = 0; want < wants; want++) {
      let ticket = random.next() * sum
      const peer = scores.findIndex((score) => (ticket -= score) < 0)
      const key = keyOf(want & 0xfff)
      accounts.turn(key, peerOf(peer), 'primary', want)
      // A tenth of the turns is backed, and one in ten of all primaries fails: credits move, evenly.
      const backup = (peer + 1) % scores.length
      const isBacked = random.next() < 0.1
      if (isBacked) accounts.turn(key, peerOf(backup), 'backup', want)
      if (isBacked) accounts.settle(key, peerOf(backup), 'timeout', want)
      accounts.settle(key, peerOf(peer), random.next() < 0.9 ? 'success' : 'timeout', want)
      accounts.end(key, want)
    }
    const rows = accounts.report(wants)?.rows ?? []
    for (const { peer, share } of rewardShares(rows)) {
      const expected = (scores[Number(peer.slice(peerOf(0).length - 1))] as number) / sum
      // Four standard deviations of a share that was drawn so often.
      expect(Math.abs(share - expected)).toBeLessThan(4 * Math.sqrt((expected * (1 - expected)) / (0.9 * wants)))
    }
  })

  it('sum to 1 where anybody is to be paid, and none is below 0', () => {
    const rows = fc.array(fc.record({ rewardable: fc.nat(1e9), stake: fc.constantFrom(0, 1, 4000) }), { maxLength: 20 })
    fc.assert(
      fc.property(rows, fc.constantFrom(0, 2000), (rows, stakeMin) => {
        const stakes = new Map<PeerKey, number>(rows.map(({ stake }, index) => [peerOf(index), stake]))
        const shares = rewardShares(
          rows.map(({ rewardable }, index) => ({ peer: peerOf(index), rewardable })),
          stakes,
          stakeMin
        )
        const sum = shares.reduce((total, { share }) => total + share, 0)
        const isPaid = shares.some(({ isStaked, rewardable }) => isStaked && rewardable > 0)
        expect(sum).toBeCloseTo(isPaid ? 1 : 0, 9)
        for (const { share, isStaked, rewardable } of shares) expect(share > 0).toBe(isStaked && rewardable > 0)
      }),
      runs
    )
  })
})

it('[P11] a peer without stake keeps its credits and is paid nothing', () => {
  const rows = [30, 10, 60].map((rewardable, index) => ({ peer: peerOf(index), rewardable }))
  const stakes = new Map([
    [peerOf(0), 4000],
    [peerOf(1), 4000],
    [peerOf(2), 0]
  ])
  expect(rewardShares(rows, stakes).map(({ rewardable, isStaked, share }) => [rewardable, isStaked, share])).toEqual([
    [30, true, 0.75],
    [10, true, 0.25],
    [60, false, 0]
  ])
  expect(rewardShares(rows, stakes, 5000).map(({ share }) => share)).toEqual([0, 0, 0])
  expect(rewardShares(rows).map(({ share }) => share)).toEqual([0.3, 0.1, 0.6])
})
