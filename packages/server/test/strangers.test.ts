import { type PeerKey, peerKey } from '@shardswap/interface'
import { describe, expect, it } from 'vitest'
import { defaultServeLimits } from '../src/index.ts'
import { alice, asks, block, blocks, bob, cancel } from './asks.ts'
import type { TestBlock } from './asks.ts'
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

/** Rounds of 5 ms in which a greedy client reads a message and asks for more, until `isOver` or there were so many. */
function stream(scene: Scene, greedy: PeerKey, all: readonly TestBlock[], rounds: number, isOver: () => boolean): void {
  for (let round = 0; round < rounds && !isOver(); round++) {
    scene.nowMs += 5
    scene.releaseOne(greedy)
    scene.tell(greedy, message(asks(all)))
    scene.settle()
  }
}

/** Alice, who has more requests open than strangers may, and goes on. */
async function begun(): Promise<{ scene: Scene; all: TestBlock[] }> {
  const scene = new Scene({}, { openRequestsMax: 1024, freeScoreRequests: 128 })
  const all = await blocks(1024, KiB)
  scene.store.put(...all)
  register(scene, alice)
  scene.hold(alice)
  scene.ask(alice, ...asks(all))
  stream(scene, alice, all, 30, () => false)
  expect(scene.admission.open).toBeGreaterThan(128)
  return { scene, all }
}

describe('beside a client with a proven owner that asks for small blocks without end', () => {
  const { newcomerAfterMs, sendSlowMs } = defaultServeLimits

  it('[I11][I14] a stranger waits while more is open than its score, but not for ever', async () => {
    const { scene, all } = await begun()
    const beganMs = scene.nowMs
    scene.tell(bob, message(asks(all.slice(0, 1))))
    stream(scene, alice, all, 100, () => scene.answers(bob).length > 0)
    expect(scene.answers(bob)).toEqual([])
    expect(scene.engine.ledger(bob)?.waits).toBe(true)
    // Time passes in which nothing happens that the test needs.
    scene.nowMs = beganMs + newcomerAfterMs - 100
    stream(scene, alice, all, 200, () => scene.answers(bob).length > 0)
    expect(scene.answers(bob).length).toBe(1)
    expect(scene.nowMs - beganMs).toBeLessThanOrEqual(newcomerAfterMs + sendSlowMs)
    expect(scene.admission.counts().get('free')).toBe(1)
    expect(scene.engine.ledger(bob)?.waits).toBe(false)
  })

  it('[I4] any number of strangers that wait have their way once in ten seconds together, for a second at most', async () => {
    const { scene, all } = await begun()
    const strangers = Array.from({ length: 40 }, (_, index) => peerKey(`stranger ${index}`))
    for (const peer of strangers) {
      scene.hold(peer)
      scene.tell(peer, message(asks(all.slice(0, 100))))
    }
    stream(scene, alice, all, 1, () => false)
    scene.nowMs += newcomerAfterMs
    const servedSome = (): boolean => strangers.some((peer) => scene.answers(peer).length > 0)
    stream(scene, alice, all, 200, servedSome)
    expect(servedSome()).toBe(true)
    // Now it is she who is served, whoever still waits.
    const before = scene.answers(alice).length
    stream(scene, alice, all, 20, () => false)
    expect(scene.answers(alice).length - before).toBeGreaterThan(1000)
    // For the next one she is given nothing …
    scene.nowMs += newcomerAfterMs
    const taken = (): number => {
      const reads = scene.store.reads
      scene.releaseOne(alice)
      scene.settle()
      return scene.store.reads - reads
    }
    expect(taken()).toBe(0)
    // … but where what is open does not end, others do not wait for that.
    scene.nowMs += sendSlowMs
    expect(taken()).toBeGreaterThan(0)
    // The next one is due ten seconds later, not never.
    scene.nowMs += newcomerAfterMs
    expect(taken()).toBe(0)
  })

  it('who cancels what waits does not wait, and nobody waits for it', async () => {
    const { scene, all } = await begun()
    scene.tell(bob, message(asks(all.slice(0, 1))))
    stream(scene, alice, all, 1, () => false)
    expect(scene.engine.ledger(bob)?.waits).toBe(true)
    scene.tell(bob, message([cancel((all[0] as TestBlock).cid)]))
    expect(scene.engine.ledger(bob)?.waits).toBe(false)
    scene.nowMs += newcomerAfterMs
    const before = scene.answers(alice).length
    stream(scene, alice, all, 20, () => false)
    expect(scene.answers(alice).length - before).toBeGreaterThan(1000)
  })

  it('nobody waits for who has left, and nothing of it stays', async () => {
    const { scene, all } = await begun()
    scene.tell(bob, message(asks(all.slice(0, 1))))
    stream(scene, alice, all, 1, () => false)
    expect(scene.engine.ledger(bob)?.waits).toBe(true)
    scene.disconnect(bob)
    expect(scene.engine.takeTurnedAway().map(({ peer }) => peer)).not.toContain(bob)
    scene.nowMs += newcomerAfterMs
    const before = scene.answers(alice).length
    stream(scene, alice, all, 20, () => false)
    expect(scene.answers(alice).length - before).toBeGreaterThan(1000)
    // Once she has left in the midst of it, strangers have all that there is.
    scene.disconnect(alice)
    scene.settle()
    const large = await blocks(64, 256 * KiB, 5000)
    scene.store.put(...large)
    for (let index = 0; index < 20; index++) {
      scene.hold(peerKey(`stranger ${index}`))
      scene.ask(peerKey(`stranger ${index}`), ...asks(large))
    }
    expect(scene.engine.gauges().responseBytes).toBeGreaterThan(10 * MiB)
  })

  it('nobody waits for who reads slowly', async () => {
    const scene = new Scene({}, { openRequestsMax: 1024, freeScoreRequests: 128 })
    const all = await blocks(1024, KiB)
    scene.store.put(...all)
    scene.hold(bob)
    scene.ask(bob, ...asks(all.slice(0, 1)))
    scene.nowMs += sendSlowMs + 1
    scene.release(bob)
    scene.settle()
    expect(scene.engine.ledger(bob)?.slow).toBe(true)
    register(scene, alice)
    scene.hold(alice)
    scene.ask(alice, ...asks(all))
    stream(scene, alice, all, 30, () => false)
    scene.tell(bob, message(asks(all.slice(0, 1))))
    stream(scene, alice, all, 1, () => false)
    expect(scene.engine.ledger(bob)?.waits).toBe(true)
    scene.nowMs += newcomerAfterMs
    const carol = peerKey('carol')
    register(scene, carol)
    scene.ask(carol, ...asks(all.slice(0, 1)))
    expect(scene.answers(carol).length).toBe(1)
  })
})
