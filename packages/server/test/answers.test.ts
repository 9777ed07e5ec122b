import { CID } from '@shardswap/interface'
import { describe, expect, it } from 'vitest'
import { alice, asks, block, blocks, bob, cancel, cidV0, identityCid, want, wantHave } from './asks.ts'
import type { TestBlock } from './asks.ts'
import { message, Scene } from './scene.ts'

describe('what a want is answered with', () => {
  const matrix = [
    { wantType: 'block', here: true, sendDontHave: false, answer: 'block' },
    { wantType: 'block', here: true, sendDontHave: true, answer: 'block' },
    { wantType: 'block', here: false, sendDontHave: false, answer: undefined },
    { wantType: 'block', here: false, sendDontHave: true, answer: 'dont-have' },
    { wantType: 'have', here: true, sendDontHave: false, answer: 'have' },
    { wantType: 'have', here: true, sendDontHave: true, answer: 'have' },
    { wantType: 'have', here: false, sendDontHave: false, answer: undefined },
    { wantType: 'have', here: false, sendDontHave: true, answer: 'dont-have' }
  ] as const
  for (const { wantType, here, sendDontHave, answer } of matrix) {
    const title = `want-${wantType}, ${here ? 'here' : 'missing'}, ${sendDontHave ? 'asks' : 'does not ask'} for DONT_HAVE`
    it(`${title}: ${answer ?? 'silence'}`, async () => {
      const scene = new Scene()
      const { cid, bytes } = await block(1, 2000)
      if (here) scene.store.put({ cid, bytes })
      scene.ask(alice, want(cid, { wantType, sendDontHave }))
      expect(scene.answers(alice)).toEqual(answer ? [`${answer} ${cid.toString()}`] : [])
      // An answered want is gone, an unanswered one stands.
      expect(scene.ledger(alice)?.wants.length).toBe(here ? 0 : 1)
    })
  }

  it('a HAVE is replaced by a block of up to 1,024 bytes', async () => {
    const scene = new Scene()
    const small = await block(1, 1024)
    const large = await block(2, 1025)
    scene.store.put(small, large)
    scene.ask(alice, wantHave(small.cid), wantHave(large.cid))
    expect(scene.answers(alice).sort()).toEqual([`block ${small.cid.toString()}`, `have ${large.cid.toString()}`].sort())
    // Only the small one was read.
    expect(scene.store.reads).toBe(1)
  })

  it('[F46] a block above what a message holds is denied, not passed over in silence', async () => {
    const scene = new Scene()
    const over = await block(1, 4 * 1024 * 1024 + 1)
    const under = await block(2, 4 * 1024 * 1024 - 256)
    scene.store.put(over, under)
    scene.ask(alice, want(over.cid, { sendDontHave: true }), want(under.cid, { sendDontHave: true }))
    expect(scene.answers(alice)).toEqual([`block ${under.cid.toString()}`, `dont-have ${over.cid.toString()}`])
    scene.ask(bob, wantHave(over.cid, { sendDontHave: true }))
    expect(scene.answers(bob)).toEqual([`dont-have ${over.cid.toString()}`])
  })

  it('matches by multihash and answers with the CID asked for, both of them', async () => {
    const scene = new Scene()
    const { cid, bytes } = await block(1, 2000)
    scene.store.put({ cid, bytes })
    const v0 = cidV0(cid)
    const other = CID.createV1(0x71, cid.multihash)
    scene.ask(alice, want(v0), want(other))
    expect(scene.answers(alice)).toEqual([`block ${v0.toString()}`, `block ${other.toString()}`])
  })

  it('a cancel of one CID leaves the want for another CID of the same block', async () => {
    const scene = new Scene()
    const { cid, bytes } = await block(1, 2000)
    const v0 = cidV0(cid)
    scene.ask(alice, want(v0), want(cid))
    scene.ask(alice, cancel(v0))
    scene.arrive({ cid, bytes })
    scene.settle()
    expect(scene.answers(alice)).toEqual([`block ${cid.toString()}`])
  })

  it('[F43] an identity CID is ignored, the rest of the message is served', async () => {
    const scene = new Scene()
    const { cid, bytes } = await block(1)
    scene.store.put({ cid, bytes })
    scene.ask(alice, want(identityCid('hello'), { sendDontHave: true }), want(cid))
    expect(scene.answers(alice)).toEqual([`block ${cid.toString()}`])
  })
})

describe('how a want lives on', () => {
  it('a block that arrives later is pushed, also after DONT_HAVE; a want-have gets HAVE', async () => {
    const scene = new Scene()
    const { cid, bytes } = await block(1, 2000)
    scene.ask(alice, want(cid, { sendDontHave: true }))
    scene.ask(bob, wantHave(cid))
    scene.arrive({ cid, bytes })
    scene.settle()
    expect(scene.answers(alice)).toEqual([`dont-have ${cid.toString()}`, `block ${cid.toString()}`])
    expect(scene.answers(bob)).toEqual([`have ${cid.toString()}`])
    scene.engine.blockArrived(cid, bytes.length, 0)
    scene.settle()
    expect(scene.sent.length).toBe(3)
  })

  it('a block that arrives between the question for its size and the answer is not missed', async () => {
    const scene = new Scene()
    const { cid, bytes } = await block(1, 2000)
    scene.store.size = () => {
      scene.arrive({ cid, bytes })
      return undefined
    }
    scene.ask(alice, want(cid, { sendDontHave: true }))
    expect(scene.answers(alice)).toEqual([`block ${cid.toString()}`])
  })

  it('[F49] a full list replaces all earlier wants', async () => {
    const scene = new Scene()
    const all = await blocks(100, 2000)
    const five = all[4] as { cid: CID; bytes: Uint8Array }
    scene.tell(
      alice,
      message(
        all.map(({ cid }) => want(cid)),
        { full: true }
      )
    )
    scene.settle()
    expect(scene.ledger(alice)?.wants.length).toBe(100)
    scene.tell(alice, message([want(five.cid)], { full: true }))
    scene.settle()
    scene.arrive(...all)
    scene.settle()
    expect(scene.answers(alice)).toEqual([`block ${five.cid.toString()}`])
  })

  it('an empty full list clears, but not where it rides on blocks', async () => {
    const scene = new Scene()
    const { cid, bytes } = await block(1)
    scene.ask(alice, want(cid))
    const prefix = { version: 1, codec: 0x55, hashCode: 0x12, digestBytes: 32 } as const
    scene.tell(alice, message([], { full: true, blocks: [{ prefix, data: bytes }] }))
    expect(scene.ledger(alice)?.wants.length).toBe(1)
    scene.tell(alice, message([], { full: true }))
    expect(scene.ledger(alice)?.wants.length).toBe(0)
    expect(scene.engine.gauges().indexedBlocks).toBe(0)
  })

  it('a want-block supersedes a want-have that waits, never the other way round', async () => {
    const scene = new Scene()
    const [first, second, busy] = await blocks(3, 2000)
    if (!first || !second || !busy) throw new Error('three blocks')
    scene.store.put(first, second, busy)
    scene.hold(alice)
    scene.ask(alice, want(busy.cid))
    scene.ask(alice, wantHave(first.cid), want(second.cid))
    scene.ask(alice, want(first.cid), wantHave(second.cid))
    scene.release(alice)
    scene.settle()
    expect(scene.answers(alice).sort()).toEqual([busy, first, second].map(({ cid }) => `block ${cid.toString()}`).sort())
  })

  it('a want-block that comes while its HAVE is being written is answered too', async () => {
    const scene = new Scene()
    const { cid, bytes } = await block(1, 2000)
    scene.store.put({ cid, bytes })
    scene.hold(alice)
    scene.ask(alice, wantHave(cid))
    scene.ask(alice, want(cid))
    scene.release(alice)
    scene.settle()
    expect(scene.answers(alice)).toEqual([`have ${cid.toString()}`, `block ${cid.toString()}`])
  })

  it('[F05] a want repeated for a block just sent, or being sent, is answered again', async () => {
    const scene = new Scene()
    const { cid, bytes } = await block(1, 2000)
    scene.store.put({ cid, bytes })
    scene.ask(alice, want(cid))
    scene.ask(alice, want(cid))
    expect(scene.answers(alice).length).toBe(2)
    scene.hold(alice)
    scene.ask(alice, want(cid))
    scene.ask(alice, want(cid))
    scene.release(alice)
    scene.settle()
    expect(scene.answers(alice).length).toBe(4)
    expect(scene.ledger(alice)).toMatchObject({ wants: [], blocksSent: 4, bytesSent: 8000 })
  })

  it('a cancel frees what stands, what is queued and what is read but not sent', async () => {
    const scene = new Scene({ envelopeBytesTarget: 4000, envelopesAheadMax: 1 })
    const all = await blocks(6, 2000)
    const [missing] = await blocks(1, 2000, 100)
    scene.store.put(...all)
    scene.hold(alice)
    // Two are written, two are read ahead, two are queued.
    scene.ask(alice, ...all.map(({ cid }) => want(cid)), want((missing as { cid: CID }).cid))
    expect(scene.store.reads).toBe(4)
    scene.ask(alice, ...all.map(({ cid }) => cancel(cid)), cancel((missing as { cid: CID }).cid))
    expect(scene.ledger(alice)?.wants).toEqual([])
    scene.release(alice)
    scene.settle()
    expect(scene.answers(alice).length).toBe(2)
    expect(scene.ledger(alice)?.blocksSent).toBe(2)
    expect(scene.engine.gauges()).toEqual({
      ledgers: 1,
      wants: 0,
      presences: 0,
      lookups: 0,
      indexedBlocks: 0,
      queuedBytes: 0,
      responseBytes: 0
    })
  })

  it('a want-have that comes before its want-block is looked up changes nothing', async () => {
    const scene = new Scene()
    const { cid, bytes } = await block(1, 2000)
    scene.store.put({ cid, bytes })
    scene.tell(alice, message([want(cid)]))
    scene.tell(alice, message([wantHave(cid)]))
    scene.settle()
    expect(scene.answers(alice)).toEqual([`block ${cid.toString()}`])
  })

  it('a want-have for a block that is being written is answered by it', async () => {
    const scene = new Scene()
    const { cid, bytes } = await block(1, 2000)
    scene.store.put({ cid, bytes })
    scene.hold(alice)
    scene.ask(alice, want(cid))
    scene.ask(alice, wantHave(cid))
    scene.release(alice)
    scene.settle()
    expect(scene.answers(alice)).toEqual([`block ${cid.toString()}`])
  })

  it('a DONT_HAVE that waits is not sent once the want is cancelled, or its block came', async () => {
    const scene = new Scene()
    const [busy, dropped, late] = (await blocks(3, 2000)) as [TestBlock, TestBlock, TestBlock]
    scene.store.put(busy)
    scene.hold(alice)
    scene.ask(alice, want(busy.cid))
    scene.ask(alice, want(dropped.cid, { sendDontHave: true }), want(late.cid, { sendDontHave: true }))
    scene.ask(alice, cancel(dropped.cid))
    scene.arrive(late)
    scene.release(alice)
    scene.settle()
    expect(scene.answers(alice)).toEqual([busy, late].map(({ cid }) => `block ${cid.toString()}`))
  })

  it('a cancel in the same tick as its want answers nothing', async () => {
    const scene = new Scene()
    const { cid, bytes } = await block(1)
    scene.store.put({ cid, bytes })
    scene.tell(alice, message([want(cid)]))
    scene.tell(alice, message([cancel(cid)]))
    scene.settle()
    expect(scene.answers(alice)).toEqual([])
  })
})

describe('what goes together', () => {
  it('what one message asks for is answered in one, also after others were answered', async () => {
    const scene = new Scene({ lookupBatchMax: 1 })
    const absent = await blocks(4, 64)
    scene.ask(alice, ...asks(absent.slice(0, 1)))
    scene.ask(alice, ...asks(absent.slice(1)))
    expect(scene.sent.map(({ message }) => message.presences.length)).toEqual([1, 3])
  })

  it('a block above what a message holds that arrives is not denied once more', async () => {
    const scene = new Scene()
    const { cid } = await block(1)
    scene.ask(alice, want(cid, { sendDontHave: true }))
    expect(scene.engine.blockArrived(cid, 4 * 1024 * 1024, 0)).toBe(false)
    scene.settle()
    expect(scene.answers(alice)).toEqual([`dont-have ${cid.toString()}`])
  })

  it('what was denied unseen is said though all that was to be looked up is cancelled', async () => {
    const scene = new Scene({ lookupsPerPeerMax: 1 })
    const [first, second] = (await blocks(2, 2000)) as [TestBlock, TestBlock]
    scene.tell(alice, message(asks([first, second])))
    scene.tell(alice, message([cancel(first.cid)]))
    scene.settle()
    expect(scene.answers(alice)).toEqual([`dont-have ${second.cid.toString()}`])
  })

  it('a full list leaves nothing of the earlier one in what is queued', async () => {
    const scene = new Scene({ envelopeBytesTarget: 2000, envelopesAheadMax: 1 })
    const all = await blocks(6, 2000)
    scene.store.put(...all)
    scene.hold(alice)
    scene.ask(alice, ...asks(all))
    scene.tell(alice, message([], { full: true }))
    expect(scene.engine.gauges()).toMatchObject({ wants: 0, queuedBytes: 0 })
    scene.disconnect(alice)
    scene.settle()
  })

  it('who asks for DONT_HAVE at the second time is told, whatever became of the first', async () => {
    const scene = new Scene()
    const [early, vanished] = (await blocks(2, 2000)) as [TestBlock, TestBlock]
    scene.tell(alice, message([want(early.cid, { sendDontHave: true })]))
    scene.tell(alice, message([want(early.cid)]))
    scene.settle()
    expect(scene.answers(alice)).toEqual([`dont-have ${early.cid.toString()}`])
    // It is read when it is asked for again, and turns out to be gone.
    scene.store.size = () => 2000
    scene.tell(bob, message([want(vanished.cid)]))
    scene.engine.lookedUp(scene.engine.takeLookups(), [2000], 0)
    scene.begin()
    expect(scene.reading).toBe(1)
    scene.ask(bob, want(vanished.cid, { sendDontHave: true }))
    expect(scene.answers(bob)).toEqual([`dont-have ${vanished.cid.toString()}`])
  })
})
