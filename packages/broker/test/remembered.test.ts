import type { PeerStanding, ReliabilityCore } from '@shardswap/reliability'
import { expect, it } from 'vitest'
import { indifferent } from '../src/indifferent.ts'
import { A, asks, at, B, scene, want } from './scene.ts'

const poor: PeerStanding = { score: 1, weight: 1, isVetted: false, shutOutUntilMs: Number.NEGATIVE_INFINITY }
const good: PeerStanding = { score: 100, weight: 100, isVetted: true, shutOutUntilMs: Number.NEGATIVE_INFINITY }

/** As after a restart: A is remembered for its silence, B for what it delivered; no latency is known of either. */
const remembered: ReliabilityCore = {
  ...indifferent,
  standing: (peer) => (peer === A ? poor : good),
  mayPickNewcomer: () => false,
  isDoubtful: (peer) => peer === A,
  failChance: (peer) => (peer === A ? 0.9 : 0.05)
}

/** Eight blocks are wanted; both are asked whether they have the first, and A says so at once. */
function begun(): ReturnType<typeof scene> {
  const c = scene({ peers: [A, B], reliability: remembered })
  want(c, 0, 8, 0)
  expect(asks(c.decide(0)).sort()).toEqual(['have 0 A', 'have 0 B'])
  c.receivePresence(A, at(0).key, 'have', 5)
  expect(asks(c.decide(5)).filter((line) => line.startsWith('block'))).toEqual([])
  return c
}

it('[C4][B21] a peer that was silent yesterday gets none of a session’s first blocks for being the quickest to say HAVE', () => {
  const c = begun()
  for (const ms of [20, 100, 179]) expect(asks(c.tick(ms)).filter((line) => line.startsWith('block'))).toEqual([])
  c.receivePresence(B, at(0).key, 'have', 180)
  const blocks = asks(c.decide(180)).filter((line) => line.startsWith('block'))
  expect(blocks.sort()).toEqual(Array.from({ length: 8 }, (_, i) => `block ${i} B`))
})

it('[C4] who delivered yesterday is waited for no longer than 200 ms, where no latency of it is known', () => {
  const c = begun()
  expect(c.wakeAtMs()).toBeLessThanOrEqual(200)
  expect(asks(c.tick(200)).filter((line) => line.startsWith('block'))).toHaveLength(1)
})
