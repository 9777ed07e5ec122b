import { InvalidParametersError, peerKey } from '@shardswap/interface'
import { defaultServeLimits, sendTimeoutMs, verifyServeLimits } from '@shardswap/server'
import { describe, expect, it } from 'vitest'
import { alice, block, blocks, bob, message, Scene, want } from './scene.ts'
import type { TestBlock } from './scene.ts'

const KiB = 1024
const MiB = 1024 * KiB

describe('a wantlist above its limit', () => {
  it('wants for blocks we lack give way to wants for blocks we have', async () => {
    const scene = new Scene()
    const missing = await blocks(1500, 64, 10_000)
    const here = await blocks(1024, 2000)
    await scene.store.put(...here)
    scene.links.hold(alice)
    const asked = [...missing, ...here].map(({ cid }, index) => want(cid, { priority: 10_000 - index }))
    await scene.ask(alice, ...asked)
    expect(scene.server.ledger(alice)?.wants.length).toBe(1024)
    scene.links.release(alice)
    await scene.settle()
    expect(scene.server.ledger(alice)?.blocksSent).toBe(1024)
  })

  it('the same where they came in an earlier message; the oldest goes first', async () => {
    const scene = new Scene({ wantsPerPeerMax: 10 })
    const missing = await blocks(10, 64, 10_000)
    const here = await blocks(4, 2000)
    await scene.store.put(...here)
    scene.links.hold(alice)
    await scene.ask(alice, ...missing.map(({ cid }) => want(cid)))
    await scene.ask(alice, ...here.map(({ cid }) => want(cid)))
    const kept = scene.server.ledger(alice)?.wants.map((cid) => cid.toString())
    const expected = [...missing.slice(4), ...here].map(({ cid }) => cid.toString())
    expect(kept?.sort()).toEqual(expected.sort())
    scene.links.release(alice)
    await scene.settle()
  })

  it('then the lowest priority goes, and is told DONT_HAVE where it asked', async () => {
    const scene = new Scene({ wantsPerPeerMax: 4, envelopeBytesTarget: 2000 })
    const here = await blocks(7, 2000)
    await scene.store.put(...here)
    scene.links.hold(alice)
    const [a, b, c, d, e, f] = here as [TestBlock, TestBlock, TestBlock, TestBlock, TestBlock, TestBlock]
    // a is being written, b is read ahead, c and d are queued.
    await scene.ask(alice, ...[a, b, c, d].map(({ cid }, i) => want(cid, { priority: 9 - i, sendDontHave: true })))
    await scene.ask(alice, want(e.cid, { priority: 8 }))
    await scene.ask(alice, want(f.cid, { priority: 1, sendDontHave: true }))
    scene.links.release(alice)
    await scene.settle()
    const text = scene.answers(alice)
    expect(text.filter((line) => line.startsWith('block'))).toEqual([a, b, e, c].map(({ cid }) => `block ${cid.toString()}`))
    expect(text.filter((line) => line.startsWith('dont')).sort()).toEqual([d, f].map(({ cid }) => `dont-have ${cid.toString()}`).sort())
  })

  it('one of equal priority does not take the place of an earlier one', async () => {
    const scene = new Scene({ wantsPerPeerMax: 3, envelopeBytesTarget: 2000 })
    const here = await blocks(4, 2000)
    await scene.store.put(...here)
    scene.links.hold(alice)
    await scene.ask(alice, ...here.slice(0, 3).map(({ cid }) => want(cid)))
    await scene.ask(alice, want((here[3] as TestBlock).cid))
    scene.links.release(alice)
    await scene.settle()
    expect(scene.answers(alice)).toEqual(here.slice(0, 3).map(({ cid }) => `block ${cid.toString()}`))
  })

  it('a want that is queued is not denied when its repetition is too much to look up', async () => {
    const scene = new Scene({ lookupsPerPeerMax: 1 })
    const [busy, queued, other] = (await blocks(3, 2000)) as [TestBlock, TestBlock, TestBlock]
    await scene.store.put(busy, queued, other)
    scene.links.hold(alice)
    await scene.ask(alice, want(busy.cid))
    await scene.ask(alice, want(queued.cid))
    await scene.ask(alice, want(other.cid, { priority: 9 }), want(queued.cid, { sendDontHave: true }))
    scene.links.release(alice)
    await scene.settle()
    expect(scene.answers(alice)).toEqual([busy, other, queued].map(({ cid }) => `block ${cid.toString()}`))
  })

  it('a million wants from one peer cost a bounded number of lookups and answers', async () => {
    const scene = new Scene()
    const [here] = await blocks(1, 2000)
    const bobs = await block(7, 2000)
    await scene.store.put(here as TestBlock, bobs)
    const many = await blocks(10_000, 16, 100)
    scene.links.hold(alice)
    for (let round = 0; round < 100; round++) {
      const entries = many.map(({ cid }, index) => want(cid, { priority: -index, sendDontHave: true }))
      scene.tell(alice, message(entries))
      expect(scene.server.gauges().lookups).toBeLessThanOrEqual(defaultServeLimits.lookupsPerPeerMax)
    }
    await scene.ask(bob, want(bobs.cid))
    expect(scene.server.ledger(alice)?.wants.length).toBe(1024)
    expect(scene.store.asked.sizes).toBeLessThanOrEqual(defaultServeLimits.lookupsPerPeerMax * 2)
    expect(scene.answers(bob)).toEqual([`block ${bobs.cid.toString()}`])
    await scene.ask(alice, want((here as TestBlock).cid))
    scene.links.release(alice)
    await scene.settle()
    expect(scene.answers(alice)).toContain(`block ${(here as TestBlock).cid.toString()}`)
    expect(scene.answers(alice).length).toBeLessThanOrEqual(3 * defaultServeLimits.presencesPerPeerMax)
  })

  it('above what is looked up at once, the highest priorities are taken', async () => {
    const scene = new Scene({ lookupsPerPeerMax: 3 })
    const all = await blocks(8, 64)
    await scene.store.put(...all)
    const priorities = [5, 1, 7, 5, 5, 9, 0, 2]
    await scene.ask(alice, ...all.map(({ cid }, i) => want(cid, { priority: priorities[i] ?? 0 })))
    const served = [5, 2, 0].map((index) => `block ${(all[index] as TestBlock).cid.toString()}`)
    expect(scene.answers(alice)).toEqual(served)
  })
})

describe('memory', () => {
  it('one peer holds at most two envelopes, however much it asks and however slowly it reads', async () => {
    const scene = new Scene()
    const all = await blocks(64, 256 * KiB)
    await scene.store.put(...all)
    scene.links.hold(alice)
    await scene.ask(alice, ...all.map(({ cid }) => want(cid)))
    expect(scene.server.gauges().responseBytes).toBe(2 * defaultServeLimits.envelopeBytesTarget)
    expect(scene.store.asked.gets).toBe(4)
    scene.links.release(alice)
    await scene.settle()
    expect(scene.server.ledger(alice)?.blocksSent).toBe(64)
    expect(scene.server.gauges().responseBytes).toBe(0)
  })

  it('slow readers do not use it up: others are served meanwhile', async () => {
    const limits = { responseBytesMax: 16 * MiB }
    const scene = new Scene(limits)
    const all = await blocks(32, 256 * KiB)
    const bobs = await block(1000, 256 * KiB)
    await scene.store.put(...all, bobs)
    for (let index = 0; index < 100; index++) {
      const slow = peerKey(`slow ${index}`)
      scene.links.hold(slow)
      scene.tell(slow, message(all.map(({ cid }) => want(cid))))
    }
    await scene.settle()
    expect(scene.server.gauges().responseBytes).toBeLessThanOrEqual(limits.responseBytesMax)
    // They fill it at first, since nothing is known of them; after a slow send they share a quarter.
    for (let round = 0; round < 10; round++) {
      scene.nowMs += 5000
      for (let index = 0; index < 100; index++) scene.links.releaseOne(peerKey(`slow ${index}`))
      await scene.settle()
    }
    expect(scene.server.gauges().responseBytes).toBeLessThanOrEqual(limits.responseBytesMax / 4)
    expect(scene.links.waiting).toBeGreaterThan(0)
    await scene.ask(bob, want(bobs.cid))
    expect(scene.answers(bob)).toEqual([`block ${bobs.cid.toString()}`])
    for (let index = 0; index < 100; index++) scene.links.release(peerKey(`slow ${index}`))
    await scene.settle()
    expect(scene.server.stat().blocksSent).toBe(100 * 32 + 1)
    expect(scene.server.gauges().responseBytes).toBe(0)
  })

  it('fast readers do not use it up either: a slow one is served meanwhile', async () => {
    const scene = new Scene({ responseBytesMax: 16 * MiB })
    const large = await blocks(2, 3 * MiB)
    const fast = await blocks(8, 3 * MiB, 100)
    await scene.store.put(...large, ...fast)
    scene.links.hold(alice)
    await scene.ask(alice, want((large[0] as TestBlock).cid))
    scene.nowMs = 5000
    scene.links.release(alice)
    await scene.settle()
    for (const [index, { cid }] of fast.entries()) {
      const peer = peerKey(`fast ${index}`)
      scene.links.hold(peer)
      scene.tell(peer, message([want(cid)]))
    }
    await scene.settle()
    expect(scene.server.gauges().responseBytes).toBe(12 * MiB)
    await scene.ask(alice, want((large[1] as TestBlock).cid))
    expect(scene.answers(alice).length).toBe(2)
    for (let index = 0; index < 8; index++) scene.links.release(peerKey(`fast ${index}`))
    await scene.settle()
    expect(scene.server.stat().blocksSent).toBe(10)
  })

  it('a bounded number of blocks and sizes is read at a time', async () => {
    const scene = new Scene({ readsMax: 5, lookupBatchMax: 4, lookupBatchesMax: 2 })
    const all = await blocks(200, 2000)
    await scene.store.put(...all)
    await scene.ask(alice, ...all.map(({ cid }) => want(cid)))
    expect(scene.server.ledger(alice)?.blocksSent).toBe(200)
    expect(scene.store.asked.getsAtOnceMax).toBe(5)
    expect(scene.store.asked.sizesAtOnceMax).toBe(8)
  })

  it('ledgers are bounded: peers that never connected go first, then idle ones', async () => {
    const scene = new Scene({ ledgersMax: 2 })
    const { cid } = await block(1)
    scene.server.peerConnected(alice)
    await scene.ask(alice, want(cid))
    await scene.ask(bob, want(cid))
    const carol = peerKey('carol')
    scene.server.peerConnected(carol)
    expect(scene.server.ledger(bob)).toBeUndefined()
    await scene.ask(bob, want(cid))
    // Carol wants nothing, so Bob takes her place; Alice has a want and stays.
    expect(scene.server.ledger(carol)).toBeUndefined()
    expect(scene.server.ledger(alice)?.wants.length).toBe(1)
    expect(scene.server.gauges().ledgers).toBe(2)
  })
})

describe('order', () => {
  it('100 blocks of 1 KiB go in one message', async () => {
    const scene = new Scene()
    const all = await blocks(100, KiB)
    await scene.store.put(...all)
    await scene.ask(alice, ...all.map(({ cid }) => want(cid)))
    expect(scene.links.sent.length).toBe(1)
    expect(scene.links.sent[0]?.message.blocks?.length).toBe(100)
    expect(scene.server.stat()).toEqual({ blocksSent: 100, bytesSent: 100 * KiB, messagesSent: 1 })
  })

  it('an envelope ends at its number of blocks', async () => {
    const scene = new Scene({ envelopeBlocksMax: 40 })
    const all = await blocks(100, KiB)
    await scene.store.put(...all)
    await scene.ask(alice, ...all.map(({ cid }) => want(cid)))
    expect(scene.links.sent.map(({ message }) => message.blocks?.length)).toEqual([40, 40, 20])
  })

  it('100 blocks that arrive in one tick go in one message', async () => {
    const scene = new Scene()
    const all = await blocks(100, KiB)
    await scene.ask(alice, ...all.map(({ cid }) => want(cid)))
    await scene.store.put(...all)
    for (const { cid, bytes } of all) scene.server.blockArrived(cid, bytes.length)
    await scene.settle()
    expect(scene.links.sent.length).toBe(1)
  })

  it('priority first, then first come', async () => {
    const scene = new Scene()
    const all = await blocks(6, 2000)
    await scene.store.put(...all)
    const priorities = [1, 5, 3, 5, 3, 9]
    await scene.ask(alice, ...all.map(({ cid }, i) => want(cid, { priority: priorities[i] ?? 0 })))
    const order = [5, 1, 3, 2, 4, 0].map((index) => `block ${(all[index] as TestBlock).cid.toString()}`)
    expect(scene.answers(alice)).toEqual(order)
  })

  it('pendingBytes is what stays queued for the peer', async () => {
    const scene = new Scene({ envelopeBytesTarget: 4000 })
    const all = await blocks(5, 2000)
    await scene.store.put(...all)
    await scene.ask(alice, ...all.map(({ cid }) => want(cid)))
    expect(scene.links.sent.map(({ message }) => message.pendingBytes)).toEqual([6000, 2000, 0])
  })

  it('where memory is scarce, a large block keeps its turn: small ones do not pass it', async () => {
    const scene = new Scene({ responseBytesMax: 12 * MiB, blockBytesServedMax: 3 * MiB })
    const held = await blocks(4, 2 * MiB)
    const [large, small] = [await block(100, 3 * MiB), await block(101, 2 * KiB)]
    await scene.store.put(...held, large, small)
    for (const [index, { cid }] of held.entries()) {
      const peer = peerKey(`held ${index}`)
      scene.links.hold(peer)
      await scene.ask(peer, want(cid))
    }
    await scene.ask(alice, want(large.cid))
    await scene.ask(bob, want(small.cid))
    expect(scene.answers(bob)).toEqual([])
    scene.links.release(peerKey('held 0'))
    await scene.settle()
    expect(scene.links.sent.slice(4).map(({ peer }) => peer)).toEqual([alice, bob])
    for (let index = 1; index < 4; index++) scene.links.release(peerKey(`held ${index}`))
    await scene.settle()
    expect(scene.server.gauges().responseBytes).toBe(0)
  })

  it('where memory is scarce, peers take turns by envelopes; a light one waits for one round', async () => {
    const scene = new Scene({ responseBytesMax: 8 * MiB, blockBytesServedMax: 2 * MiB, envelopeBytesTarget: 4 * MiB })
    const heavy = await blocks(60, 2 * MiB)
    const light = await block(999, 2 * MiB)
    await scene.store.put(...heavy, light)
    const peers = Array.from({ length: 10 }, (_, index) => peerKey(`heavy ${index}`))
    const entries = heavy.map(({ cid }) => want(cid))
    for (const peer of peers) scene.tell(peer, message(entries))
    scene.tell(bob, message([want(light.cid)]))
    await scene.settle()
    const place = scene.links.sent.findIndex(({ peer }) => peer === bob)
    expect(place).toBeGreaterThanOrEqual(0)
    expect(place).toBeLessThanOrEqual(2 * peers.length)
    expect(scene.server.stat().blocksSent).toBe(601)
  })
})

describe('limits', () => {
  it('[F47] a target above what a message holds is rejected', () => {
    expect(() => verifyServeLimits({ envelopeBytesTarget: 32 * MiB })).toThrow(InvalidParametersError)
    expect(() => verifyServeLimits({ blockBytesServedMax: 5 * MiB })).toThrow(InvalidParametersError)
  })

  it('contradictions are rejected, overrides kept', () => {
    expect(() => verifyServeLimits({ wantsPerPeerMax: 0 })).toThrow(InvalidParametersError)
    expect(() => verifyServeLimits({ readsMax: 1.5 })).toThrow(InvalidParametersError)
    expect(() => verifyServeLimits({ responseBytesMax: MiB })).toThrow(InvalidParametersError)
    expect(() => verifyServeLimits({ sendTimeoutMinMs: 3, sendTimeoutMaxMs: 2 })).toThrow(InvalidParametersError)
    expect(verifyServeLimits({ haveReplaceBytesMax: 0 }).haveReplaceBytesMax).toBe(0)
  })

  it('a send has 2 s and its time at 100 kbit/s, from 10 s to 2 min', () => {
    expect(sendTimeoutMs(0, defaultServeLimits)).toBe(10_000)
    expect(sendTimeoutMs(250_000, defaultServeLimits)).toBe(22_000)
    expect(sendTimeoutMs(4 * MiB, defaultServeLimits)).toBe(120_000)
  })
})

describe('reading held back', () => {
  it('a peer that asks faster than the store answers waits; then all its wants are answered', async () => {
    const scene = new Scene({ lookupsPerPeerMax: 16, lookupBatchMax: 1, lookupBatchesMax: 1 })
    const all = await blocks(40, 64)
    await scene.store.put(...all)
    let held = 0
    for (let from = 0; from < 40; from += 8) {
      const hold = scene.server.handleMessage(alice, message(all.slice(from, from + 8).map(({ cid }) => want(cid))))
      if (hold) held++
      await hold
    }
    expect(held).toBeGreaterThan(1)
    await scene.settle()
    expect(scene.server.ledger(alice)).toMatchObject({ wants: [], blocksSent: 40 })
    expect(scene.server.handleMessage(alice, message([want((all[0] as TestBlock).cid)]))).toBeUndefined()
  })

  it('is let go by a disconnect and by stop', async () => {
    const scene = new Scene({ lookupsPerPeerMax: 4, lookupBatchMax: 1, lookupBatchesMax: 2 })
    const entries = (await blocks(4, 64)).map(({ cid }) => want(cid))
    scene.store.size = async () => new Promise<undefined>(() => {})
    scene.tell(alice, message(entries))
    const held = scene.server.handleMessage(alice, message(entries))
    expect(held).toBeInstanceOf(Promise)
    scene.server.peerDisconnected(alice)
    await held
    const other = scene.server.handleMessage(bob, message(entries))
    expect(other).toBeInstanceOf(Promise)
    await scene.server.stop()
    await other
  })
})
