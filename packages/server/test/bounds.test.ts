import { type PeerKey, peerKey } from '@shardswap/interface'
import { describe, expect, it } from 'vitest'
import { defaultServeLimits } from '../src/limits.ts'
import { alice, asks, block, blocks, bob, want } from './asks.ts'
import type { TestBlock } from './asks.ts'
import { message, Scene } from './scene.ts'

const KiB = 1024
const MiB = 1024 * KiB

describe('a wantlist above its limit', () => {
  it('wants for blocks we lack give way to wants for blocks we have', async () => {
    const scene = new Scene()
    const missing = await blocks(1500, 64, 10_000)
    const here = await blocks(1024, 2000)
    scene.store.put(...here)
    scene.hold(alice)
    const asked = [...missing, ...here].map(({ cid }, index) => want(cid, { priority: 10_000 - index }))
    scene.ask(alice, ...asked)
    expect(scene.ledger(alice)?.wants.length).toBe(1024)
    scene.release(alice)
    scene.settle()
    expect(scene.ledger(alice)?.blocksSent).toBe(1024)
  })

  it('the same where they came in an earlier message; the oldest goes first', async () => {
    const scene = new Scene({ wantsPerPeerMax: 10 })
    const missing = await blocks(10, 64, 10_000)
    const here = await blocks(4, 2000)
    scene.store.put(...here)
    scene.hold(alice)
    scene.ask(alice, ...missing.map(({ cid }) => want(cid)))
    scene.ask(alice, ...here.map(({ cid }) => want(cid)))
    const kept = scene.ledger(alice)?.wants.map((cid) => cid.toString())
    const expected = [...missing.slice(4), ...here].map(({ cid }) => cid.toString())
    expect(kept?.sort()).toEqual(expected.sort())
    scene.release(alice)
    scene.settle()
  })

  it('then the lowest priority goes, and is told DONT_HAVE where it asked', async () => {
    const scene = new Scene({ wantsPerPeerMax: 4, envelopeBytesTarget: 2000, envelopesAheadMax: 1 })
    const here = await blocks(7, 2000)
    scene.store.put(...here)
    scene.hold(alice)
    const [a, b, c, d, e, f] = here as [TestBlock, TestBlock, TestBlock, TestBlock, TestBlock, TestBlock]
    // a is being written, b is read ahead, c and d are queued.
    scene.ask(alice, ...[a, b, c, d].map(({ cid }, i) => want(cid, { priority: 9 - i, sendDontHave: true })))
    scene.ask(alice, want(e.cid, { priority: 8 }))
    scene.ask(alice, want(f.cid, { priority: 1, sendDontHave: true }))
    scene.release(alice)
    scene.settle()
    const text = scene.answers(alice)
    expect(text.filter((line) => line.startsWith('block'))).toEqual([a, b, e, c].map(({ cid }) => `block ${cid.toString()}`))
    expect(text.filter((line) => line.startsWith('dont')).sort()).toEqual([d, f].map(({ cid }) => `dont-have ${cid.toString()}`).sort())
  })

  it('one of equal priority does not take the place of an earlier one', async () => {
    const scene = new Scene({ wantsPerPeerMax: 3, envelopeBytesTarget: 2000, envelopesAheadMax: 1 })
    const here = await blocks(4, 2000)
    scene.store.put(...here)
    scene.hold(alice)
    scene.ask(alice, ...here.slice(0, 3).map(({ cid }) => want(cid)))
    scene.ask(alice, want((here[3] as TestBlock).cid))
    scene.release(alice)
    scene.settle()
    expect(scene.answers(alice)).toEqual(here.slice(0, 3).map(({ cid }) => `block ${cid.toString()}`))
  })

  it('a want that is queued is not denied when its repetition is too much to look up', async () => {
    const scene = new Scene({ lookupsPerPeerMax: 1, envelopesAheadMax: 1 })
    const [busy, ahead, queued, other] = (await blocks(4, 2000)) as [TestBlock, TestBlock, TestBlock, TestBlock]
    scene.store.put(busy, ahead, queued, other)
    scene.hold(alice)
    scene.ask(alice, want(busy.cid))
    scene.ask(alice, want(ahead.cid))
    scene.ask(alice, want(queued.cid))
    scene.ask(alice, want(other.cid, { priority: 9 }), want(queued.cid, { sendDontHave: true }))
    scene.release(alice)
    scene.settle()
    expect(scene.answers(alice)).toEqual([busy, ahead, other, queued].map(({ cid }) => `block ${cid.toString()}`))
  })

  it('above what is looked up at once, the highest priorities are taken', async () => {
    const scene = new Scene({ lookupsPerPeerMax: 3 })
    const all = await blocks(8, 64)
    scene.store.put(...all)
    const priorities = [5, 1, 7, 5, 5, 9, 0, 2]
    scene.ask(alice, ...all.map(({ cid }, i) => want(cid, { priority: priorities[i] ?? 0 })))
    const served = [5, 2, 0].map((index) => `block ${(all[index] as TestBlock).cid.toString()}`)
    expect(scene.answers(alice)).toEqual(served)
  })
})

describe('what all peers share', () => {
  it('[F20] greedy peers stay in the common limits, however many, and give way to one that has less', async () => {
    const limits = { wantsPerPeerMax: 100, wantsMax: 1000, presencesPerPeerMax: 50, presencesMax: 500 }
    const scene = new Scene(limits)
    const absent = await blocks(120, 64, 10_000)
    const wants = absent.map(({ cid }) => want(cid, { sendDontHave: true }))
    const greedy = Array.from({ length: 200 }, (_, index) => peerKey(`greedy ${index}`))
    for (const peer of greedy) {
      scene.hold(peer)
      scene.ask(peer, ...wants)
      const { wants: kept, presences } = scene.engine.gauges()
      expect(kept).toBeLessThanOrEqual(limits.wantsMax)
      // As many again may be written, and sixteen for each envelope however many are.
      expect(presences).toBeLessThanOrEqual(2 * limits.presencesMax + 16 * greedy.length)
    }
    expect(scene.engine.gauges().wants).toBe(limits.wantsMax)
    const kept = greedy.map((peer) => scene.ledger(peer)?.wants.length ?? 0)
    // Who comes last has as much as anybody.
    expect(kept.at(-1)).toBeGreaterThanOrEqual(Math.max(...kept) - 1)
    expect(Math.min(...kept)).toBeGreaterThan(0)
    // One that asks for little gets all of it, and is told what is not here.
    scene.ask(alice, ...wants.slice(0, 4))
    expect(scene.ledger(alice)?.wants.length).toBe(4)
    expect(scene.answers(alice).length).toBe(4)
    for (const peer of greedy) scene.disconnect(peer)
    scene.settle()
    expect(scene.engine.gauges()).toMatchObject({ wants: 4, presences: 0 })
    scene.ask(alice, ...wants)
    expect(scene.ledger(alice)?.wants.length).toBe(100)
  })

  it('a want that gives way is one for a block that we lack, then one of low priority, which is denied', async () => {
    const scene = new Scene({ wantsPerPeerMax: 4, wantsMax: 4, envelopeBytesTarget: 2000, envelopesAheadMax: 1 })
    const [writing, ahead, low] = (await blocks(3, 2000)) as [TestBlock, TestBlock, TestBlock]
    const [absent, bobs, more, third] = (await blocks(4, 2000, 10)) as [TestBlock, TestBlock, TestBlock, TestBlock]
    scene.store.put(writing, ahead, low)
    scene.hold(alice)
    const asked = [writing, ahead, low, absent].map(({ cid }, index) => want(cid, { priority: 9 - index, sendDontHave: true }))
    scene.ask(alice, ...asked)
    scene.ask(bob, want(bobs.cid))
    // Alice has four and Bob none: two of hers go.
    const left = scene.ledger(alice)?.wants.map((cid) => cid.toString())
    expect(left).toEqual([writing, ahead].map(({ cid }) => cid.toString()))
    scene.ask(bob, want(more.cid))
    // Now each has two, and a third is no reason to take another's.
    scene.ask(bob, want(third.cid))
    expect(scene.ledger(alice)?.wants.length).toBe(2)
    expect(scene.ledger(bob)?.wants.length).toBe(2)
    scene.release(alice)
    scene.settle()
    expect(
      scene
        .answers(alice)
        .filter((line) => line.startsWith('dont-have'))
        .sort()
    ).toEqual([low, absent].map(({ cid }) => `dont-have ${cid.toString()}`).sort())
  })
})

describe('a peer that asks faster than the store answers', () => {
  it('[F20] waits above half of what may be looked up for it, or for all where it has some of that', async () => {
    const scene = new Scene({ lookupsPerPeerMax: 8, lookupsMax: 12, lookupBatchMax: 1 })
    const all = await blocks(20, 64)
    const tell = (peer: PeerKey, count: number): void => scene.tell(peer, message(asks(all.slice(0, count))))
    tell(alice, 4)
    expect(scene.engine.isBehind(alice)).toBe(false)
    tell(bob, 3)
    expect([alice, bob].map((peer) => scene.engine.isBehind(peer))).toEqual([true, true])
    expect(scene.engine.isBehind(peerKey('carol'))).toBe(false)
    scene.disconnect(bob)
    expect(scene.engine.isBehind(alice)).toBe(false)
    tell(alice, 5)
    expect(scene.engine.isBehind(alice)).toBe(true)
    scene.settle()
    expect(scene.engine.isBehind(alice)).toBe(false)
  })

  it('is denied its last wants where others ask for little, and those are not', async () => {
    const scene = new Scene({ lookupsPerPeerMax: 8, lookupsMax: 64 })
    const all = await blocks(16, 2000)
    scene.store.put(...all)
    const greedy = Array.from({ length: 20 }, (_, index) => peerKey(`greedy ${index}`))
    for (const peer of greedy) scene.tell(peer, message(asks(all)))
    expect(scene.engine.gauges().lookups).toBe(64)
    scene.tell(bob, message(asks(all.slice(0, 2))))
    expect(scene.engine.gauges().lookups).toBe(64)
    scene.settle()
    expect(scene.answers(bob)).toEqual(all.slice(0, 2).map(({ cid }) => `block ${cid.toString()}`))
    // All were told something about each want, and have about as much.
    for (const peer of greedy) expect(scene.answers(peer).length).toBe(16)
    const served = greedy.map((peer) => scene.answers(peer).filter((line) => line.startsWith('block')).length)
    expect(Math.min(...served)).toBeGreaterThanOrEqual(2)
    expect(scene.engine.gauges()).toMatchObject({ lookups: 0, wants: 0, presences: 0 })
  })

  it('is denied so much at most that waits to be said', async () => {
    const scene = new Scene({ presencesPerPeerMax: 5, envelopesAheadMax: 1 })
    const busy = await block(1, 2000)
    const absent = await blocks(20, 64, 100)
    scene.store.put(busy)
    scene.hold(alice)
    scene.ask(alice, want(busy.cid))
    scene.ask(alice, ...asks(absent))
    expect(scene.engine.gauges().presences).toBe(5)
    scene.release(alice)
    scene.settle()
    expect(scene.answers(alice).length).toBe(6)
  })
})

describe('memory', () => {
  it('of one peer no more is read ahead where blocks are large', async () => {
    const scene = new Scene({ readAheadBytesPerPeerMax: 3 * MiB })
    const all = await blocks(16, MiB)
    scene.store.put(...all)
    scene.hold(alice)
    scene.ask(alice, ...asks(all))
    expect(scene.engine.gauges().responseBytes).toBe(4 * MiB)
    scene.disconnect(alice)
    scene.settle()
  })

  it('an envelope takes an eighth of what is left, so that some is left', async () => {
    const scene = new Scene({ responseBytesMax: 16 * MiB, envelopeBytesMin: 4 * MiB, envelopeBytesTarget: 4 * MiB })
    const all = await blocks(64, 128 * KiB)
    scene.store.put(...all)
    scene.hold(alice)
    scene.tell(alice, message(asks(all)))
    scene.tell(bob, message(asks(all)))
    for (let wants = scene.engine.takeLookups(); wants.length > 0; wants = scene.engine.takeLookups()) {
      scene.engine.lookedUp(
        wants,
        wants.map(() => 128 * KiB),
        0
      )
    }
    // Of the 12 MiB that are for peers that read.
    expect(scene.engine.nextEnvelope(0)?.bytes).toBe(1.5 * MiB)
  })

  it('of one peer a bounded amount is read ahead, however much it asks and however slowly it reads', async () => {
    const scene = new Scene()
    const all = await blocks(64, 256 * KiB)
    scene.store.put(...all)
    scene.hold(alice)
    scene.ask(alice, ...all.map(({ cid }) => want(cid)))
    // One block is being written.
    expect(scene.engine.gauges().responseBytes).toBe(defaultServeLimits.readAheadBytesPerPeerMax + 256 * KiB)
    expect(scene.store.reads).toBe(17)
    scene.release(alice)
    scene.settle()
    expect(scene.ledger(alice)?.blocksSent).toBe(64)
    expect(scene.engine.gauges().responseBytes).toBe(0)
  })

  it('they are read at a time, whichever peer has its turn; announcements need no reading', async () => {
    const scene = new Scene()
    const all = await blocks(8, 256 * KiB)
    const absent = await block(999)
    scene.store.put(...all)
    const wants = all.map(({ cid }) => want(cid))
    scene.tell(alice, message(wants))
    scene.tell(bob, message([...wants, want(absent.cid, { sendDontHave: true })]))
    const lookUp = (): void => {
      for (let wants = scene.engine.takeLookups(); wants.length > 0; wants = scene.engine.takeLookups()) {
        scene.engine.lookedUp(
          wants,
          wants.map(({ cid }) => scene.store.size(cid)),
          0
        )
      }
    }
    lookUp()
    const order = Array.from({ length: 4 }, () => scene.engine.nextEnvelope(0)?.ledger.peer)
    // Alice is no newcomer any more after her first turn; newcomers and others take turns.
    expect(order).toEqual([alice, alice, bob, alice])
    scene.begin()
    expect(scene.reading).toBe(12)
    const carol = peerKey('carol')
    scene.tell(carol, message([want((all[0] as TestBlock).cid), want(absent.cid, { sendDontHave: true })]))
    scene.tell(peerKey('dave'), message([want(absent.cid, { sendDontHave: true })]))
    lookUp()
    expect([1, 2, 3].map(() => scene.engine.nextEnvelope(0, false)?.ledger.peer)).toEqual([carol, peerKey('dave'), undefined])
  })

  it('nor are more than so many envelopes, where blocks are small', async () => {
    const scene = new Scene({ envelopesAheadMax: 3, envelopeBytesMin: 4 * KiB })
    const all = await blocks(64, KiB)
    scene.store.put(...all)
    scene.hold(alice)
    scene.ask(alice, ...all.map(({ cid }) => want(cid)))
    expect(scene.store.reads).toBe(4 * 4)
    scene.release(alice)
    scene.settle()
    expect(scene.ledger(alice)?.blocksSent).toBe(64)
  })

  it('of a peer that is slow, one envelope is read ahead', async () => {
    const scene = new Scene()
    const all = await blocks(64, 256 * KiB)
    scene.store.put(...all)
    scene.hold(alice)
    scene.ask(alice, want((all[0] as TestBlock).cid))
    scene.nowMs = defaultServeLimits.sendSlowMs + 1
    scene.releaseOne(alice)
    scene.ask(alice, ...all.slice(1).map(({ cid }) => want(cid)))
    expect(scene.engine.gauges().responseBytes).toBe(2 * 256 * KiB)
    scene.release(alice)
    scene.settle()
    expect(scene.ledger(alice)?.blocksSent).toBe(64)
  })

  it('slow readers do not use it up: others are served meanwhile', async () => {
    const limits = { responseBytesMax: 16 * MiB }
    const scene = new Scene(limits)
    const all = await blocks(32, 256 * KiB)
    const bobs = await block(1000, 256 * KiB)
    scene.store.put(...all, bobs)
    for (let index = 0; index < 100; index++) {
      const slow = peerKey(`slow ${index}`)
      scene.hold(slow)
      scene.tell(slow, message(all.map(({ cid }) => want(cid))))
    }
    scene.settle()
    expect(scene.engine.gauges().responseBytes).toBeLessThanOrEqual(limits.responseBytesMax)
    // They fill it at first, since nothing is known of them; after a slow send they share a quarter.
    for (let round = 0; round < 20; round++) {
      scene.nowMs += 5000
      for (let index = 0; index < 100; index++) scene.releaseOne(peerKey(`slow ${index}`))
      scene.settle()
    }
    expect(scene.engine.gauges().responseBytes).toBeLessThanOrEqual(limits.responseBytesMax / 4)
    expect(scene.sending).toBeGreaterThan(0)
    scene.ask(bob, want(bobs.cid))
    expect(scene.answers(bob)).toEqual([`block ${bobs.cid.toString()}`])
    for (let index = 0; index < 100; index++) scene.release(peerKey(`slow ${index}`))
    scene.settle()
    expect(scene.engine.stat().blocksSent).toBe(100 * 32 + 1)
    expect(scene.engine.gauges().responseBytes).toBe(0)
  })

  it('fast readers do not use it up either: a slow one is served meanwhile', async () => {
    const scene = new Scene({ responseBytesMax: 16 * MiB })
    const large = await blocks(2, 3 * MiB)
    const fast = await blocks(8, 3 * MiB, 100)
    scene.store.put(...large, ...fast)
    scene.hold(alice)
    scene.ask(alice, want((large[0] as TestBlock).cid))
    scene.nowMs = 5000
    scene.release(alice)
    scene.settle()
    for (const [index, { cid }] of fast.entries()) {
      const peer = peerKey(`fast ${index}`)
      scene.hold(peer)
      scene.tell(peer, message([want(cid)]))
    }
    scene.settle()
    expect(scene.engine.gauges().responseBytes).toBe(12 * MiB)
    scene.ask(alice, want((large[1] as TestBlock).cid))
    expect(scene.answers(alice).length).toBe(2)
    for (let index = 0; index < 8; index++) scene.release(peerKey(`fast ${index}`))
    scene.settle()
    expect(scene.engine.stat().blocksSent).toBe(10)
  })

  it('ledgers are bounded: peers that never connected go first, then idle ones', async () => {
    const scene = new Scene({ ledgersMax: 2 })
    const { cid } = await block(1)
    scene.engine.connected(alice)
    scene.ask(alice, want(cid))
    scene.ask(bob, want(cid))
    const carol = peerKey('carol')
    scene.engine.connected(carol)
    expect(scene.ledger(bob)).toBeUndefined()
    scene.ask(bob, want(cid))
    // Carol wants nothing, so Bob takes her place; Alice has a want and stays.
    expect(scene.ledger(carol)).toBeUndefined()
    expect(scene.ledger(alice)?.wants.length).toBe(1)
    expect(scene.engine.gauges().ledgers).toBe(2)
  })
})

describe('order', () => {
  it('100 blocks of 1 KiB go in one message where the link is quick', async () => {
    const scene = new Scene({ envelopeBytesMin: 512 * KiB })
    const all = await blocks(100, KiB)
    scene.store.put(...all)
    scene.ask(alice, ...all.map(({ cid }) => want(cid)))
    expect(scene.sent.length).toBe(1)
    expect(scene.sent[0]?.message.blocks.length).toBe(100)
    expect(scene.engine.stat()).toEqual({ blocksSent: 100, bytesSent: 100 * KiB, messagesSent: 1 })
  })

  it('an envelope ends at its number of blocks', async () => {
    const scene = new Scene({ envelopeBlocksMax: 40, envelopeBytesMin: 512 * KiB })
    const all = await blocks(100, KiB)
    scene.store.put(...all)
    scene.ask(alice, ...all.map(({ cid }) => want(cid)))
    expect(scene.sent.map(({ message }) => message.blocks.length)).toEqual([40, 40, 20])
  })

  it('priority first, then first come', async () => {
    const scene = new Scene()
    const all = await blocks(6, 2000)
    scene.store.put(...all)
    const priorities = [1, 5, 3, 5, 3, 9]
    scene.ask(alice, ...all.map(({ cid }, i) => want(cid, { priority: priorities[i] ?? 0 })))
    const order = [5, 1, 3, 2, 4, 0].map((index) => `block ${(all[index] as TestBlock).cid.toString()}`)
    expect(scene.answers(alice)).toEqual(order)
  })

  it('pendingBytes is what stays queued for the peer', async () => {
    const scene = new Scene({ envelopeBytesTarget: 4000 })
    const all = await blocks(5, 2000)
    scene.store.put(...all)
    scene.ask(alice, ...all.map(({ cid }) => want(cid)))
    expect(scene.sent.map(({ message }) => message.pendingBytes)).toEqual([6000, 2000, 0])
  })

  it('pendingBytes fits its field, however much stays queued', async () => {
    const scene = new Scene({ envelopesAheadMax: 1 })
    const all = await blocks(1024, 64)
    scene.store.put(...all)
    scene.store.size = () => defaultServeLimits.blockBytesServedMax
    scene.ask(alice, ...asks(all))
    expect(scene.sent[0]?.message.pendingBytes).toBe(2 ** 31 - 1)
    expect(scene.sent.at(-1)?.message.pendingBytes).toBe(0)
  })

  it('who reads slowly has its turn beside those who ask without end', async () => {
    const scene = new Scene()
    const all = await blocks(200, 16 * KiB)
    scene.store.put(...all)
    scene.hold(alice)
    scene.ask(alice, ...asks(all.slice(0, 1)))
    scene.nowMs = defaultServeLimits.sendSlowMs + 1
    scene.release(alice)
    scene.settle()
    expect(scene.engine.ledger(alice)?.slow).toBe(true)
    scene.tell(bob, message(asks(all)))
    scene.tell(alice, message(asks(all.slice(1, 2))))
    expect([scene.serveOne(), scene.serveOne()]).toContain(alice)
  })

  it('where memory is scarce, a large block keeps its turn: small ones do not pass it', async () => {
    const scene = new Scene({ responseBytesMax: 12 * MiB, blockBytesServedMax: 3 * MiB })
    const held = await blocks(4, 2 * MiB)
    const [large, small] = [await block(100, 3 * MiB), await block(101, 2 * KiB)]
    scene.store.put(...held, large, small)
    for (const [index, { cid }] of held.entries()) {
      const peer = peerKey(`held ${index}`)
      scene.hold(peer)
      scene.ask(peer, want(cid))
    }
    scene.ask(alice, want(large.cid))
    scene.ask(bob, want(small.cid))
    expect(scene.answers(bob)).toEqual([])
    scene.release(peerKey('held 0'))
    scene.settle()
    expect(scene.sent.slice(4).map(({ peer }) => peer)).toEqual([alice, bob])
    for (let index = 1; index < 4; index++) scene.release(peerKey(`held ${index}`))
    scene.settle()
    expect(scene.engine.gauges().responseBytes).toBe(0)
  })

  it('where memory is scarce, peers take turns by envelopes; a light one waits for one round', async () => {
    const scene = new Scene({ responseBytesMax: 8 * MiB, blockBytesServedMax: 2 * MiB, envelopeBytesTarget: 4 * MiB })
    const heavy = await blocks(60, 2 * MiB)
    const light = await block(999, 2 * MiB)
    scene.store.put(...heavy, light)
    const peers = Array.from({ length: 10 }, (_, index) => peerKey(`heavy ${index}`))
    const entries = heavy.map(({ cid }) => want(cid))
    for (const peer of peers) scene.tell(peer, message(entries))
    scene.tell(bob, message([want(light.cid)]))
    scene.settle()
    const place = scene.sent.findIndex(({ peer }) => peer === bob)
    expect(place).toBeGreaterThanOrEqual(0)
    expect(place).toBeLessThanOrEqual(2 * peers.length)
    expect(scene.engine.stat().blocksSent).toBe(601)
  })
})
