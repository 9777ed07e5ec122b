import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { alice, block, blocks, bob, message, Scene, want, wantHave } from './scene.ts'
import type { TestBlock } from './scene.ts'

const KiB = 1024

describe('what a failed send costs', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(() => {
    const left = vi.getTimerCount()
    vi.useRealTimers()
    if (left > 0) throw new Error(`${left} timers left`)
  })

  it('nothing is credited; everything is sent again, a bounded number of times', async () => {
    const scene = new Scene()
    const { cid, bytes } = await block(1, 2000)
    const large = await block(2, 2000)
    const missing = await block(3)
    await scene.store.put({ cid, bytes }, large)
    scene.links.outcome = () => false
    scene.server.peerConnected(alice)
    await scene.ask(alice, want(cid), wantHave(large.cid), want(missing.cid, { sendDontHave: true }))
    expect(scene.links.sent.length).toBe(1)
    vi.advanceTimersByTime(100)
    await scene.settle()
    vi.advanceTimersByTime(200)
    await scene.settle()
    expect(scene.links.sent.length).toBe(3)
    vi.advanceTimersByTime(100_000)
    await scene.settle()
    expect(scene.links.sent.length).toBe(3)
    expect(scene.server.ledger(alice)).toMatchObject({ blocksSent: 0, bytesSent: 0 })
    expect(scene.server.ledger(alice)?.wants.length).toBe(3)
    expect(scene.server.gauges().responseBytes).toBe(0)
    scene.links.outcome = () => true
    scene.server.peerConnected(alice)
    await scene.settle()
    expect(scene.answers(alice).slice(-3)).toEqual([
      `block ${cid.toString()}`,
      `have ${large.cid.toString()}`,
      `dont-have ${missing.cid.toString()}`
    ])
    expect(scene.server.ledger(alice)).toMatchObject({ blocksSent: 1, bytesSent: 2000 })
    expect(scene.server.ledger(alice)?.wants.length).toBe(1)
  })

  it('a disconnect ends the wait for the next try', async () => {
    const scene = new Scene()
    const { cid, bytes } = await block(1, 2000)
    await scene.store.put({ cid, bytes })
    scene.links.outcome = () => false
    await scene.ask(alice, want(cid))
    expect(vi.getTimerCount()).toBe(1)
    scene.server.peerDisconnected(alice)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('a send is given up after its time, and the timer goes with it', async () => {
    const scene = new Scene({ sendTriesMax: 1 })
    const { cid, bytes } = await block(1, 2000)
    await scene.store.put({ cid, bytes })
    scene.links.hold(alice)
    await scene.ask(alice, want(cid))
    vi.advanceTimersByTime(9999)
    expect(scene.links.sent[0]?.signal.aborted).toBe(false)
    vi.advanceTimersByTime(1)
    expect(scene.links.sent[0]?.signal.aborted).toBe(true)
    await scene.settle()
    expect(scene.server.ledger(alice)).toMatchObject({ blocksSent: 0 })
    expect(scene.server.gauges().responseBytes).toBe(0)
  })

  it('a send belongs to the slow ones after a second, and where those have too much the longest is given up', async () => {
    const scene = new Scene({ responseBytesMax: 2000 * KiB, blockBytesServedMax: 500 * KiB })
    const [first, second] = (await blocks(2, 400 * KiB)) as [TestBlock, TestBlock]
    await scene.store.put(first, second)
    scene.links.hold(alice)
    scene.links.hold(bob)
    await scene.ask(alice, want(first.cid))
    vi.advanceTimersByTime(500)
    await scene.ask(bob, want(second.cid))
    vi.advanceTimersByTime(500)
    expect(scene.server.ledger(alice)?.isSlow).toBe(true)
    expect(scene.server.ledger(bob)?.isSlow).toBe(false)
    expect(scene.links.sent.map(({ signal }) => signal.aborted)).toEqual([false, false])
    vi.advanceTimersByTime(500)
    // Together they have more than a quarter.
    expect(scene.links.sent.map(({ signal }) => signal.aborted)).toEqual([true, false])
    await scene.server.stop()
  })

  it('no timer is left of peers that have said too much, once the server has stopped', async () => {
    const scene = new Scene()
    scene.server.took(alice, 1e6)
    const waits = scene.server.mayTake(alice)
    expect(vi.getTimerCount()).toBe(1)
    await scene.server.stop()
    await waits
    expect(vi.getTimerCount()).toBe(0)
  })

  it('a disconnect aborts the send; a new connection waits until it has ended', async () => {
    const scene = new Scene()
    const [first, second] = (await blocks(2, 2000)) as [TestBlock, TestBlock]
    await scene.store.put(first, second)
    scene.links.hold(alice)
    scene.links.stubborn = true
    await scene.ask(alice, want(first.cid))
    scene.server.peerDisconnected(alice)
    expect(scene.links.sent[0]?.signal.aborted).toBe(true)
    expect(scene.server.ledger(alice)).toBeUndefined()
    scene.server.peerConnected(alice)
    await scene.ask(alice, want(second.cid))
    expect(scene.links.sent.length).toBe(1)
    scene.links.release(alice)
    await scene.settle()
    expect(scene.links.sent.length).toBe(2)
    expect(scene.server.ledger(alice)).toMatchObject({ wants: [], blocksSent: 1, bytesSent: 2000 })
    expect(scene.server.stat().blocksSent).toBe(1)
  })

  it('stop aborts what runs, waits for it and leaves nothing', async () => {
    const scene = new Scene()
    const all = await blocks(10, 256 * KiB)
    await scene.store.put(...all)
    scene.links.hold(alice)
    scene.links.outcome = ({ peer }) => peer === alice
    scene.tell(bob, message(all.map(({ cid }) => want(cid))))
    await scene.ask(alice, ...all.map(({ cid }) => want(cid)))
    await scene.server.stop()
    expect(scene.server.gauges()).toEqual({
      ledgers: 0,
      wants: 0,
      presences: 0,
      lookups: 0,
      indexedBlocks: 0,
      queuedBytes: 0,
      responseBytes: 0
    })
    const sends = scene.links.sent.length
    await scene.ask(alice, want((all[0] as TestBlock).cid))
    scene.server.peerConnected(alice)
    expect(scene.links.sent.length).toBe(sends)
    expect(scene.server.ledger(alice)).toBeUndefined()
  })
})
