import { type PeerKey, peerKey } from '@shardswap/interface'
import { describe, expect, it } from 'vitest'
import { defaultServeLimits } from '../src/index.ts'
import { alice, asks, block, blocks, bob } from './asks.ts'
import { message, register, Scene } from './scene.ts'

const KiB = 1024
const MiB = 1024 * KiB

describe('while a client with a proven owner is served', () => {
  it('[I4] a stranger’s large block is not passed for ever by small ones of others', async () => {
    const scene = new Scene()
    const large = await block(1, 2 * MiB)
    const all = await blocks(64, 256 * KiB, 100)
    scene.store.put(large, ...all)
    register(scene, alice)
    const greedy = [alice, ...[0, 1, 2, 3].map((index) => peerKey(`small ${index}`))]
    for (const peer of greedy) {
      scene.hold(peer)
      scene.ask(peer, ...asks(all))
    }
    scene.ask(bob, ...asks([large]))
    for (let round = 0; round < 100 && scene.answers(bob).length === 0; round++) {
      for (const peer of [alice, greedy[1 + (round % 4)] as PeerKey]) {
        scene.releaseOne(peer)
        scene.tell(peer, message(asks(all)))
        scene.settle()
      }
    }
    expect(scene.answers(bob).length).toBe(1)
  })

  it('[I3][I4] one whose owner nobody has verified is a stranger: a binding alone costs nothing', async () => {
    const scene = new Scene()
    const all = await blocks(64, 256 * KiB)
    scene.store.put(...all)
    const unproven = Array.from({ length: 20 }, (_, index) => peerKey(`unproven ${index}`))
    for (const peer of unproven) {
      register(scene, peer, 0)
      scene.hold(peer)
      scene.ask(peer, ...asks(all))
    }
    // It takes nothing from others …
    expect(scene.engine.gauges().responseBytes).toBeGreaterThan(10 * MiB)
    for (const peer of unproven) scene.disconnect(peer)
    scene.settle()
    register(scene, alice)
    scene.hold(alice)
    scene.ask(alice, ...asks(all))
    const hers = scene.engine.gauges().responseBytes
    // … and has no more than they.
    for (const peer of unproven) {
      register(scene, peer, 0)
      scene.ask(peer, ...asks(all))
    }
    expect(scene.engine.gauges().responseBytes - hers).toBe(defaultServeLimits.strangersBytesMax)
  })

  it('[I4] strangers who come have half of what strangers get, and no more, however many come', async () => {
    const scene = new Scene({ envelopeBytesTarget: 64 * KiB, envelopeBytesMin: 64 * KiB, strangersBytesMax: 128 * KiB })
    const all = await blocks(64, 64 * KiB)
    scene.store.put(...all)
    register(scene, alice)
    const comers = Array.from({ length: 200 }, (_, index) => peerKey(`newcomer ${index}`))
    for (const peer of [alice, bob, ...comers]) scene.hold(peer)
    for (const peer of [alice, bob]) scene.ask(peer, ...asks(all))
    const before = scene.answers(bob).length
    for (const peer of comers) scene.tell(peer, message(asks(all.slice(0, 1))))
    for (let round = 0; round < 25; round++) {
      // Between any two of theirs she takes one: all that is free then is what she leaves.
      for (const peer of [bob, ...comers.filter((peer) => scene.answers(peer).length > 0)]) {
        scene.releaseOne(peer)
        scene.settle()
        scene.releaseOne(alice)
        scene.tell(alice, message(asks(all)))
        scene.settle()
      }
    }
    const served = comers.filter((peer) => scene.answers(peer).length > 0).length
    const his = scene.answers(bob).length - before
    expect(his).toBeGreaterThan(10)
    expect(served).toBeGreaterThanOrEqual(his / 2)
  })
})
