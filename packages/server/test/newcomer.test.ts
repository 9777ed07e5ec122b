import { type PeerKey, peerKey } from '@shardswap/interface'
import { describe, expect, it } from 'vitest'
import { alice, blocks, want } from './asks.ts'
import type { TestBlock } from './asks.ts'
import { message, Scene } from './scene.ts'

const KiB = 1024

/** Greedy peers that have had several messages each and have much more to come; each message is being written. */
async function greedy(scene: Scene, count: number, sizeBytes: number): Promise<PeerKey[]> {
  const all = await blocks(1024, sizeBytes)
  scene.store.put(...all)
  const peers = Array.from({ length: count }, (_, index) => peerKey(`greedy ${index}`))
  for (const peer of peers) {
    scene.hold(peer)
    scene.tell(peer, message(all.map(({ cid }) => want(cid))))
  }
  scene.settle()
  for (let round = 0; round < 3; round++) for (const peer of peers) scene.releaseOne(peer)
  scene.settle()
  return peers
}

describe('a newcomer with one want', () => {
  for (const count of [8, 10, 100]) {
    it(`has it sent within ${count} + 2 messages among ${count} peers with a thousand wants each`, async () => {
      const scene = new Scene()
      const peers = await greedy(scene, count, 64 * KiB)
      const wanted = (await blocks(1, 64 * KiB, 10_000))[0] as TestBlock
      scene.store.put(wanted)
      const before = scene.sent.length
      scene.tell(alice, message([want(wanted.cid)]))
      // One after the other, whoever began first: no message of a greedy peer ends unless it is let go.
      for (let turn = 0; scene.answers(alice).length === 0 && turn < 10 * count; turn++) {
        while (scene.turn()) if (scene.answers(alice).length > 0) break
        scene.releaseOne(peers[turn % count] as PeerKey)
      }
      expect(scene.answers(alice)).toEqual([`block ${wanted.cid.toString()}`])
      expect(scene.sent.length - before).toBeLessThanOrEqual(count + 2)
    })
  }

  it('comes and goes and comes again without passing anybody who waits', async () => {
    const scene = new Scene({ responseBytesMax: 16 * KiB * KiB })
    const peers = await greedy(scene, 4, 256 * KiB)
    const small = await blocks(40, 256 * KiB, 20_000)
    scene.store.put(...small)
    const sentTo = (peer: PeerKey): number => scene.answers(peer).filter((line) => line.startsWith('block')).length
    const before = peers.map(sentTo)
    // As soon as it has one, it asks for the next: its queue is never longer than one.
    for (const { cid } of small) {
      scene.tell(alice, message([want(cid)]))
      scene.settle()
      for (const peer of peers) scene.releaseOne(peer)
      scene.settle()
    }
    const theirs = peers.map((peer, index) => sentTo(peer) - (before[index] ?? 0))
    expect(sentTo(alice)).toBe(small.length)
    for (const blocksSent of theirs) expect(blocksSent).toBeGreaterThanOrEqual(small.length / 2)
  })
})
