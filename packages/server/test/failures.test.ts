import { expect, it } from 'vitest'
import { defaultServeLimits } from '../src/index.ts'
import { alice, block, blocks, cancel, want, wantHave } from './asks.ts'
import type { TestBlock } from './asks.ts'
import { Scene } from './scene.ts'

it('nothing is credited; everything is sent again, a bounded number of times', async () => {
  const scene = new Scene()
  const { cid, bytes } = await block(1, 2000)
  const large = await block(2, 2000)
  const missing = await block(3)
  scene.store.put({ cid, bytes }, large)
  scene.outcome = () => false
  scene.engine.connected(alice)
  scene.ask(alice, want(cid), wantHave(large.cid), want(missing.cid, { sendDontHave: true }))
  expect(scene.sent.length).toBe(1)
  scene.advance(100)
  scene.advance(200)
  expect(scene.sent.length).toBe(3)
  scene.advance(100_000)
  expect(scene.sent.length).toBe(3)
  expect(scene.ledger(alice)).toMatchObject({ blocksSent: 0, bytesSent: 0 })
  expect(scene.ledger(alice)?.wants.length).toBe(3)
  expect(scene.engine.gauges().responseBytes).toBe(0)
  scene.outcome = () => true
  scene.engine.connected(alice)
  scene.settle()
  expect(scene.answers(alice).slice(-3)).toEqual([
    `block ${cid.toString()}`,
    `have ${large.cid.toString()}`,
    `dont-have ${missing.cid.toString()}`
  ])
  expect(scene.ledger(alice)).toMatchObject({ blocksSent: 1, bytesSent: 2000 })
  expect(scene.ledger(alice)?.wants.length).toBe(1)
})

it('what was read ahead is let go, and read again', async () => {
  const scene = new Scene({ sendTriesMax: 1, envelopeBytesTarget: 4000, envelopesAheadMax: 2 })
  const all = await blocks(8, 2000)
  scene.store.put(...all)
  scene.hold(alice)
  scene.outcome = () => false
  scene.ask(alice, ...all.map(({ cid }) => want(cid)))
  expect(scene.engine.gauges().responseBytes).toBe(12_000)
  scene.release(alice)
  scene.settle()
  expect(scene.sent.length).toBe(1)
  expect(scene.engine.gauges()).toMatchObject({ responseBytes: 0, queuedBytes: 16_000 })
  scene.outcome = () => true
  scene.engine.connected(alice)
  scene.settle()
  expect(scene.ledger(alice)).toMatchObject({ wants: [], blocksSent: 8 })
})

it('a new connection brings all its tries back', async () => {
  const scene = new Scene()
  const { cid, bytes } = await block(1, 2000)
  scene.store.put({ cid, bytes })
  scene.outcome = () => false
  scene.ask(alice, want(cid))
  scene.engine.connected(alice)
  scene.settle()
  for (let time = 0; time < 5; time++) {
    scene.advance(1000)
  }
  expect(scene.sent.length).toBe(4)
})

it('a DONT_HAVE that failed is not sent again once the block is here', async () => {
  const scene = new Scene()
  const { cid, bytes } = await block(1, 2000)
  scene.hold(alice)
  scene.outcome = () => false
  scene.ask(alice, want(cid, { sendDontHave: true }))
  scene.arrive({ cid, bytes })
  scene.release(alice)
  scene.settle()
  scene.outcome = () => true
  scene.advance(100)
  expect(scene.answers(alice)).toEqual([`dont-have ${cid.toString()}`, `block ${cid.toString()}`])
})

it('a message re-arms a peer that was given up', async () => {
  const scene = new Scene({ sendTriesMax: 1 })
  const [first, second] = (await blocks(2, 2000)) as [TestBlock, TestBlock]
  scene.store.put(first, second)
  scene.outcome = () => false
  scene.ask(alice, want(first.cid))
  scene.outcome = () => true
  scene.ask(alice, want(second.cid))
  expect(scene.ledger(alice)).toMatchObject({ wants: [], blocksSent: 2 })
})

it('a cancel while the send fails frees the want', async () => {
  const scene = new Scene()
  const { cid, bytes } = await block(1, 2000)
  scene.store.put({ cid, bytes })
  scene.hold(alice)
  scene.outcome = () => false
  scene.ask(alice, want(cid))
  scene.ask(alice, cancel(cid))
  scene.release(alice)
  scene.settle()
  scene.advance(100)
  expect(scene.sent.length).toBe(1)
  expect(scene.ledger(alice)?.wants).toEqual([])
})

it('[I13] what was not written is no request served', async () => {
  const scene = new Scene()
  const { cid, bytes } = await block(1, 2000)
  scene.store.put({ cid, bytes })
  scene.outcome = () => false
  scene.ask(alice, want(cid))
  expect(scene.admission.view(0)).toMatchObject({ open: 0, served: 0 })
  scene.outcome = () => true
  scene.advance(100)
  expect(scene.admission.view(0)).toMatchObject({ open: 0, served: 1 })
})

it('what is queued for a peer is counted right after what was read ahead was let go', async () => {
  const scene = new Scene({ envelopeBytesTarget: 4000, envelopesAheadMax: 2 })
  const all = await blocks(8, 2000)
  scene.store.put(...all)
  scene.hold(alice)
  scene.outcome = () => false
  scene.ask(alice, ...all.map(({ cid }) => want(cid)))
  scene.release(alice)
  scene.settle()
  expect(scene.engine.ledger(alice)?.pendingBytes).toBe(16_000)
})

it('one failed send makes a peer slow, and the next quick one fast again', async () => {
  const scene = new Scene()
  const { cid, bytes } = await block(1, 2000)
  scene.store.put({ cid, bytes })
  scene.outcome = () => false
  scene.ask(alice, want(cid))
  expect(scene.engine.ledger(alice)?.slow).toBe(true)
  scene.outcome = () => true
  scene.advance(100)
  expect(scene.engine.ledger(alice)?.slow).toBe(false)
})

it('a send is slow by how long it took, not by when it was', async () => {
  const scene = new Scene()
  const { cid, bytes } = await block(1, 2000)
  scene.store.put({ cid, bytes })
  scene.nowMs = 1_000_000
  scene.ask(alice, want(cid))
  expect(scene.engine.ledger(alice)?.slow).toBe(false)
})

it('failures that are no row, and those before a peer asked again, cost no try', async () => {
  const scene = new Scene()
  const { cid, bytes } = await block(1, 2000)
  scene.store.put({ cid, bytes })
  const outcomes = [false, false, true]
  scene.outcome = () => outcomes.shift() ?? false
  scene.ask(alice, want(cid))
  for (let time = 0; time < 5; time++) scene.advance(1000)
  expect(scene.sent.length).toBe(3)
  scene.ask(alice, want(cid))
  for (let time = 0; time < 5; time++) scene.advance(1000)
  expect(scene.sent.length).toBe(6)
  // Given up; but it asks.
  scene.ask(alice, wantHave(cid))
  for (let time = 0; time < 5; time++) scene.advance(1000)
  expect(scene.sent.length).toBe(9)
})

it('who asks while it rests since it did not read is served after that, without asking once more', async () => {
  const scene = new Scene({ sendTriesMax: 1 }, { openRequestsMax: 1 })
  const { cid, bytes } = await block(1, 2000)
  scene.store.put({ cid, bytes })
  scene.hold(alice)
  scene.ask(alice, want(cid))
  // More than a quarter of what may be open is late: it is given up.
  scene.late(defaultServeLimits.sendSlowMs + 1)
  scene.release(alice)
  scene.advance(1000)
  expect(scene.sent.length).toBe(1)
  scene.ask(alice, want(cid))
  scene.advance(defaultServeLimits.lateRestMs - 2000)
  expect(scene.sent.length).toBe(1)
  scene.advance(1000)
  expect(scene.ledger(alice)).toMatchObject({ wants: [], blocksSent: 1 })
})
