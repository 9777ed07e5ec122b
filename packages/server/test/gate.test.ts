import { type PeerKey, peerKey } from '@shardswap/interface'
import { describe, expect, it } from 'vitest'
import { defaultServeLimits } from '../src/index.ts'
import { alice, asks, block, blocks, bob, cancel, want, wantHave } from './asks.ts'
import type { TestBlock } from './asks.ts'
import { message, register, Scene } from './scene.ts'

const KiB = 1024
const MiB = 1024 * KiB

describe('in the mode open', () => {
  it('[I14] an open request is a want-block that was taken and is not fully written', async () => {
    const scene = new Scene({ envelopeBytesMin: 4000, envelopesAheadMax: 2 }, { openRequestsMax: 100 })
    const all = await blocks(10, 2000)
    scene.store.put(...all)
    scene.hold(alice)
    scene.ask(alice, ...asks(all))
    // One envelope is written, two are ahead.
    expect(scene.admission.open).toBe(6)
    expect(scene.engine.ledger(alice)?.openRequests).toBe(6)
    scene.releaseOne(alice)
    scene.settle()
    expect(scene.admission.open).toBe(6)
    scene.release(alice)
    scene.settle()
    expect(scene.admission.open).toBe(0)
    expect(scene.admission.view(0).served).toBe(10)
  })

  it('[I10][I11] what is not admitted waits in its ledger, and is served once there is room; whoever has a higher score meanwhile', async () => {
    const scene = new Scene({ envelopeBytesMin: 2000 }, { openRequestsMax: 100, freeScoreRequests: 3 })
    const all = await blocks(40, 2000)
    scene.store.put(...all)
    register(scene, bob)
    scene.hold(alice)
    scene.ask(alice, ...asks(all))
    expect(scene.admission.open).toBe(4)
    scene.ask(bob, ...asks(all))
    expect(scene.answers(bob).length).toBe(40)
    scene.release(alice)
    scene.settle()
    expect(scene.answers(alice).filter((line) => line.startsWith('block')).length).toBe(40)
    // It was counted as often as it had its turn in vain after something was taken, not at every look.
    expect(scene.admission.counts().get('low-free-score')).toBeLessThanOrEqual(40)
    expect(scene.admission.counts().get('low-free-score')).toBeGreaterThan(1)
    expect(scene.engine.ledger(alice)?.turnedAway).toBe(scene.admission.counts().get('low-free-score'))
  })

  it('[I10] a HAVE is said to who has to wait', async () => {
    const scene = new Scene({}, { openRequestsMax: 1, freeScoreRequests: 0 })
    const { cid, bytes } = await block(1, 5000)
    scene.store.put({ cid, bytes })
    scene.ask(alice, wantHave(cid))
    expect(scene.answers(alice)).toEqual([`have ${cid.toString()}`])
  })
})

describe('in the mode registered', () => {
  it('[I14] what is not admitted is denied where that was asked for, and not kept', async () => {
    const scene = new Scene({}, { mode: 'registered', openRequestsMax: 10, freeScoreRequests: 0 })
    const [one, two, three] = (await blocks(3, 5000)) as [TestBlock, TestBlock, TestBlock]
    scene.store.put(one, two, three)
    scene.ask(alice, want(one.cid, { sendDontHave: true }), want(two.cid), wantHave(three.cid, { sendDontHave: true }))
    expect(scene.answers(alice)).toEqual([`dont-have ${one.cid.toString()}`, `dont-have ${three.cid.toString()}`])
    expect(scene.ledger(alice)?.wants).toEqual([])
    expect(scene.admission.counts().get('low-free-score')).toBe(3)
    expect(scene.engine.takeTurnedAway()).toEqual([{ peer: alice, decision: { action: 'refuse', reason: 'low-free-score' }, requests: 3 }])
    // And again at each request: whoever is registered meanwhile is served.
    register(scene, alice)
    scene.ask(alice, want(one.cid))
    expect(scene.answers(alice).at(-1)).toBe(`block ${one.cid.toString()}`)
  })

  it('[I14] what was queued is denied too when its turn comes and there is no room any more', async () => {
    const scene = new Scene({ envelopeBytesMin: 2000 }, { mode: 'registered', openRequestsMax: 10, freeScoreRequests: 1 })
    const all = await blocks(8, 2000)
    scene.store.put(...all)
    for (const peer of [alice, bob]) {
      scene.hold(peer)
      scene.tell(peer, message(asks(all)))
    }
    // Both are told that there is room, and then one of them takes it.
    const lookups = [scene.engine.takeLookups(), scene.engine.takeLookups()]
    for (const wants of lookups) {
      scene.engine.lookedUp(
        wants,
        wants.map(({ cid }) => scene.store.size(cid)),
        0
      )
    }
    scene.settle()
    expect(scene.admission.open).toBe(2)
    for (const peer of [alice, bob]) scene.release(peer)
    scene.settle()
    for (const peer of [alice, bob]) {
      const answers = scene.answers(peer)
      expect(answers.length).toBe(8)
      expect(answers.filter((line) => line.startsWith('block')).length).toBe(1)
      expect(scene.ledger(peer)?.wants).toEqual([])
    }
    expect(scene.admission.open).toBe(0)
  })

  it('[I11][I14] who is alone is not refused for its own requests, until another comes for whom there is no room', async () => {
    const scene = new Scene({ envelopeBytesMin: 2000 }, { mode: 'registered', openRequestsMax: 10, freeScoreRequests: 1 })
    const all = await blocks(8, 2000)
    scene.store.put(...all)
    scene.hold(alice)
    scene.ask(alice, ...asks(all))
    expect(scene.admission.open).toBe(2)
    scene.ask(alice, wantHave((all[7] as TestBlock).cid))
    expect(scene.answers(alice).filter((line) => line.startsWith('dont-have'))).toEqual([])
    expect(scene.engine.takeTurnedAway()).toEqual([])
    // Bob is refused, and from now on alice has what there is room for, as he has when he comes again.
    scene.ask(bob, ...asks(all.slice(0, 1)))
    expect(scene.answers(bob)).toEqual([`dont-have ${(all[0] as TestBlock).cid.toString()}`])
    scene.release(alice)
    scene.settle()
    const answers = scene.answers(alice)
    expect(answers.filter((line) => line.startsWith('dont-have')).length).toBeGreaterThan(0)
    scene.ask(bob, ...asks(all.slice(0, 1)))
    expect(scene.answers(bob).at(-1)).toBe(`block ${(all[0] as TestBlock).cid.toString()}`)
    // Once that was long ago she has all.
    scene.nowMs += 60_000
    scene.ask(alice, ...asks(all))
    expect(
      scene
        .answers(alice)
        .slice(-8)
        .filter((line) => line.startsWith('block')).length
    ).toBe(8)
    expect(scene.admission.open).toBe(0)
  })

  it('[I14] a block that we lack is denied as ever, and pushed when it comes to who is let in then', async () => {
    const scene = new Scene({}, { mode: 'registered', openRequestsMax: 10, freeScoreRequests: 0 })
    const { cid, bytes } = await block(1, 5000)
    scene.ask(alice, want(cid))
    scene.ask(bob, want(cid, { sendDontHave: true }))
    register(scene, alice)
    scene.arrive({ cid, bytes })
    scene.settle()
    expect(scene.answers(alice)).toEqual([`block ${cid.toString()}`])
    expect(scene.answers(bob)).toEqual([`dont-have ${cid.toString()}`, `dont-have ${cid.toString()}`])
  })
})

it('[I14] in the mode off all is denied at once, and nothing is kept or read', async () => {
  const scene = new Scene({}, { mode: 'off' })
  const { cid, bytes } = await block(1, 5000)
  scene.store.put({ cid, bytes })
  register(scene, alice)
  scene.ask(alice, want(cid, { sendDontHave: true }))
  scene.ask(bob, wantHave(cid))
  expect(scene.answers(alice)).toEqual([`dont-have ${cid.toString()}`])
  expect(scene.answers(bob)).toEqual([])
  expect(scene.engine.gauges().wants).toBe(0)
  expect(scene.store.reads).toBe(0)
  expect(scene.admission.counts().get('off')).toBe(2)
})

/** `count` peers that read nothing and ask for the same blocks, and who they are. */
function deaf(scene: Scene, count: number, all: readonly TestBlock[]): PeerKey[] {
  const peers = Array.from({ length: count }, (_, index) => peerKey(`deaf ${index}`))
  for (const peer of peers) {
    scene.hold(peer)
    scene.ask(peer, ...asks(all))
  }
  return peers
}

describe('clients that do not read', () => {
  const limits = { responseBytesMax: 16 * MiB }

  it('after a second have their part of the memory, and what was read ahead for them is let go', async () => {
    const scene = new Scene(limits)
    const all = await blocks(16, 256 * KiB)
    const [last] = await blocks(1, 256 * KiB, 999)
    scene.store.put(...all, last as TestBlock)
    deaf(scene, 100, all)
    expect(scene.engine.gauges().responseBytes).toBeGreaterThan((limits.responseBytesMax * 2) / 3)
    for (let wave = 0; wave < 4; wave++) scene.late(defaultServeLimits.sendSlowMs + 1)
    expect(scene.engine.gauges().responseBytes).toBeLessThanOrEqual(limits.responseBytesMax / 4)
    scene.ask(bob, ...asks([last as TestBlock]))
    expect(scene.answers(bob).length).toBe(1)
  })

  it('[I10] do not count against others’ scores, and have a quarter of Cap_max at most', async () => {
    const scene = new Scene({}, { openRequestsMax: 40, freeScoreRequests: 4 })
    const all = await blocks(16, 20 * KiB)
    scene.store.put(...all)
    deaf(scene, 30, all)
    expect(scene.admission.open).toBe(5)
    scene.ask(bob, ...asks(all.slice(0, 2)))
    expect(scene.answers(bob)).toEqual([])
    for (let wave = 0; wave < 10; wave++) scene.late(defaultServeLimits.sendSlowMs + 1)
    expect(scene.admission.overdue).toBeLessThanOrEqual(10)
    expect(scene.admission.open).toBeLessThanOrEqual(15)
    expect(scene.answers(bob).length).toBe(2)
  })

  it('nothing of theirs is lost: it is sent once they read', async () => {
    const scene = new Scene(limits, { openRequestsMax: 40, freeScoreRequests: 8 })
    const all = await blocks(16, 100 * KiB)
    scene.store.put(...all)
    const peers = deaf(scene, 20, all)
    for (let wave = 0; wave < 3; wave++) scene.late(defaultServeLimits.sendSlowMs + 1)
    for (const peer of peers) {
      scene.release(peer)
      scene.engine.connected(peer)
    }
    scene.settle()
    for (const peer of peers) expect(scene.ledger(peer)).toMatchObject({ wants: [], blocksSent: 16 })
    expect(scene.admission.gauges()).toMatchObject({ open: 0, clients: 0 })
    expect(scene.admission.overdue).toBe(0)
    expect(scene.engine.gauges().responseBytes).toBe(0)
  })

  it('are sent nothing for ten seconds after a send was given up, however often they ask', async () => {
    const scene = new Scene({}, { openRequestsMax: 4 })
    const all = await blocks(16, 20 * KiB)
    scene.store.put(...all)
    const peers = deaf(scene, 3, all)
    const sentTo = (peer: PeerKey): number => scene.sent.filter((sent) => sent.peer === peer).length
    for (let wave = 0; wave < 4; wave++) scene.late(defaultServeLimits.sendSlowMs + 1)
    const before = peers.map(sentTo)
    expect(Math.max(...before)).toBe(1)
    for (let second = 0; second < 5; second++) {
      for (const peer of peers) scene.ask(peer, ...asks(all))
      scene.advance(1000)
    }
    expect(peers.map(sentTo)).toEqual(before)
    for (const peer of peers) scene.release(peer)
    scene.advance(defaultServeLimits.lateRestMs)
    for (const peer of peers) {
      expect(scene.ledger(peer)?.wants).toEqual([])
      // What was asked for again while it was being written is answered again.
      expect(scene.ledger(peer)?.blocksSent).toBeGreaterThanOrEqual(16)
    }
  })

  it('a late answer that is only announcements is nobody’s request', async () => {
    const scene = new Scene()
    const { cid } = await block(1)
    scene.hold(alice)
    scene.ask(alice, want(cid, { sendDontHave: true }))
    scene.late(5000)
    scene.release(alice)
    scene.settle()
    // Nor was it served anything.
    expect(scene.engine.ledger(alice)?.servedMs).toBeUndefined()
    expect(scene.answers(alice)).toEqual([`dont-have ${cid.toString()}`])
  })
})

it('[I4] while a client with an owner is served, all without one have 2 MiB together; alone, all that there is', async () => {
  const scene = new Scene()
  const all = await blocks(64, 256 * KiB)
  scene.store.put(...all)
  const strangers = Array.from({ length: 50 }, (_, index) => peerKey(`stranger ${index}`))
  register(scene, alice)
  scene.hold(alice)
  scene.ask(alice, ...asks(all))
  const hers = scene.engine.gauges().responseBytes
  for (const peer of strangers) {
    scene.hold(peer)
    scene.ask(peer, ...asks(all))
  }
  expect(scene.engine.gauges().responseBytes - hers).toBe(defaultServeLimits.strangersBytesMax)
  // She is stuck: nobody waits for her longer than it takes to see that.
  scene.late(defaultServeLimits.sendSlowMs + 1, alice)
  expect(scene.engine.gauges().responseBytes).toBeGreaterThan(10 * MiB)
  for (const peer of [alice, ...strangers]) scene.disconnect(peer)
  scene.settle()
  expect(scene.engine.gauges()).toMatchObject({ responseBytes: 0, ledgers: 0 })
  expect(scene.admission.open).toBe(0)
})

it('peers take turns by bytes: large blocks and small ones, large messages and small ones, get the same', async () => {
  const scene = new Scene()
  const large = await blocks(12, 2 * MiB)
  const middle = await blocks(96, 256 * KiB, 100)
  const small = await blocks(1020, 4 * KiB, 1000)
  scene.store.put(...large, ...middle, ...small)
  const kinds = [large, middle, small, large, middle, small]
  const peers = kinds.map((_, index) => peerKey(`peer ${index}`))
  for (const [index, peer] of peers.entries()) scene.tell(peer, message(asks(kinds[index] as TestBlock[])))
  const bytes = (): number[] => peers.map((peer) => scene.ledger(peer)?.bytesSent ?? 0)
  // Until nobody is a newcomer.
  while (bytes().includes(0)) scene.serveOne()
  const before = bytes()
  const since = (): number[] => bytes().map((all, index) => all - (before[index] as number))
  while (Math.min(...since()) < 3 * MiB) expect(scene.serveOne()).toBeDefined()
  // To within what one may owe, which was sent whole, for two that may be ahead and behind.
  expect(Math.max(...since()) - Math.min(...since())).toBeLessThanOrEqual(2 * MiB + defaultServeLimits.turnBytes)
})

it('a newcomer with one want has its turn at once among greedy ones, and however many come, half of the turns are the others’', async () => {
  const scene = new Scene()
  const all = await blocks(100, 256 * KiB)
  scene.store.put(...all)
  const greedy = Array.from({ length: 8 }, (_, index) => peerKey(`greedy ${index}`))
  for (const peer of greedy) scene.tell(peer, message(asks(all)))
  for (let turn = 0; turn < 20; turn++) scene.serveOne()
  scene.tell(alice, message(asks(all.slice(0, 1))))
  expect([scene.serveOne(), scene.serveOne()]).toContain(alice)
  const comers = Array.from({ length: 50 }, (_, index) => peerKey(`newcomer ${index}`))
  for (const peer of comers) scene.tell(peer, message(asks(all.slice(0, 1))))
  const order = Array.from({ length: 100 }, () => scene.serveOne())
  expect(order.filter((peer) => peer !== undefined && comers.includes(peer)).length).toBe(50)
  // Whoever comes while others wait has its turn behind those of its kind only.
  for (const [index, peer] of comers.entries()) expect(order.indexOf(peer)).toBeLessThanOrEqual(2 * index + 1)
})

it('who was given nothing for ten seconds is a newcomer again, and what it owed is forgotten', async () => {
  const scene = new Scene()
  const all = await blocks(60, 256 * KiB)
  const huge = await block(999, 3 * MiB)
  scene.store.put(...all, huge)
  const greet = (peer: PeerKey): void => scene.tell(peer, message(asks(all)))
  greet(bob)
  scene.tell(alice, message(asks([huge])))
  for (let turn = 0; turn < 3; turn++) scene.serveOne()
  expect(scene.ledger(alice)?.blocksSent).toBe(1)
  // She took 3 MiB: so much is Bob's first.
  greet(alice)
  const before = scene.ledger(bob)?.bytesSent ?? 0
  while (scene.serveOne() === bob);
  expect((scene.ledger(bob)?.bytesSent ?? 0) - before).toBeGreaterThanOrEqual(3 * MiB - defaultServeLimits.turnBytes)
  scene.nowMs += defaultServeLimits.newcomerAfterMs
  scene.tell(alice, message([], { full: true }))
  greet(alice)
  expect([scene.serveOne(), scene.serveOne()]).toContain(alice)
})

it('who owes much and is given nothing for ten seconds owes nothing more', async () => {
  const scene = new Scene()
  const all = await blocks(60, 256 * KiB)
  const huge = await blocks(2, 3 * MiB, 900)
  scene.store.put(...all, ...huge)
  scene.tell(bob, message(asks(all)))
  scene.tell(alice, message(asks(huge.slice(0, 1))))
  for (let turn = 0; turn < 3; turn++) scene.serveOne()
  expect(scene.ledger(alice)?.blocksSent).toBe(1)
  scene.nowMs += defaultServeLimits.newcomerAfterMs
  scene.tell(alice, message(asks(huge.slice(1))))
  expect([scene.serveOne(), scene.serveOne()]).toContain(alice)
})

it('who is late once more is so in the same part of the memory', async () => {
  const scene = new Scene()
  const all = await blocks(4, 256 * KiB)
  scene.store.put(...all)
  scene.hold(alice)
  scene.ask(alice, ...asks(all))
  for (let wave = 0; wave < 3; wave++) {
    scene.late(defaultServeLimits.sendSlowMs + 1)
    scene.releaseOne(alice)
    scene.settle()
  }
  scene.release(alice)
  scene.settle()
  expect(scene.engine.gauges().responseBytes).toBe(0)
})

it('[I4] what was read for a stranger counts as that until it is written, also where it has shown an owner meanwhile', async () => {
  const scene = new Scene()
  const all = await blocks(64, 128 * KiB)
  const small = await blocks(40, KiB, 1000)
  scene.store.put(...all, ...small)
  scene.hold(alice)
  scene.ask(alice, ...asks(all.slice(0, 1)))
  scene.ask(alice, ...asks(small.slice(0, 3)))
  register(scene, alice)
  scene.ask(alice, ...asks(small.slice(3, 6)))
  scene.release(alice)
  scene.settle()
  register(scene, bob)
  scene.hold(bob)
  scene.ask(bob, ...asks(all))
  const his = scene.engine.gauges().responseBytes
  for (let index = 0; index < 40; index++) {
    const stranger = peerKey(`stranger ${index}`)
    scene.hold(stranger)
    scene.ask(stranger, ...asks(all))
  }
  expect(scene.engine.gauges().responseBytes - his).toBe(defaultServeLimits.strangersBytesMax)
})

it('[I4] strangers whose sends were late have no more for that afterwards', async () => {
  const scene = new Scene()
  const all = await blocks(64, 256 * KiB)
  scene.store.put(...all)
  const late = deaf(scene, 20, all)
  scene.late(defaultServeLimits.sendSlowMs + 1)
  for (const peer of late) scene.disconnect(peer)
  scene.settle()
  register(scene, alice)
  scene.hold(alice)
  scene.ask(alice, ...asks(all))
  const hers = scene.engine.gauges().responseBytes
  for (let index = 0; index < 20; index++) {
    scene.hold(peerKey(`other ${index}`))
    scene.ask(peerKey(`other ${index}`), ...asks(all))
  }
  expect(scene.engine.gauges().responseBytes - hers).toBe(defaultServeLimits.strangersBytesMax)
})

it('[I13] what is cancelled after it was taken is no request served', async () => {
  const scene = new Scene({ envelopeBytesTarget: 8000 })
  const all = await blocks(4, 2000)
  scene.store.put(...all)
  scene.tell(alice, message(asks(all)))
  scene.engine.lookedUp(scene.engine.takeLookups(), [2000, 2000, 2000, 2000], 0)
  scene.begin()
  expect(scene.admission.open).toBe(4)
  scene.tell(alice, message(all.slice(1).map(({ cid }) => cancel(cid))))
  scene.settle()
  expect(scene.admission.view(0)).toMatchObject({ open: 0, served: 1 })
})

it('[I14] who was refused in silence is not attended to any more, and strangers have all that there is', async () => {
  const scene = new Scene({}, { mode: 'registered', openRequestsMax: 400, freeScoreRequests: 400 })
  const all = await blocks(64, 256 * KiB)
  scene.store.put(...all)
  register(scene, alice)
  const strangers = Array.from({ length: 20 }, (_, index) => peerKey(`stranger ${index}`))
  for (const peer of [alice, ...strangers]) scene.hold(peer)
  // It is let in, and then there is no room when its turn comes.
  scene.tell(alice, message(all.slice(0, 1).map(({ cid }) => want(cid))))
  scene.engine.lookedUp(scene.engine.takeLookups(), [256 * KiB], 0)
  scene.admission.admit(bob, 400, 0)
  scene.settle()
  expect(scene.ledger(alice)?.wants).toEqual([])
  scene.admission.ended(bob, 400, { isServed: false }, 0)
  for (const peer of strangers) scene.ask(peer, ...asks(all))
  expect(scene.engine.gauges().responseBytes).toBeGreaterThan(10 * MiB)
})
