import { defaultServeLimits } from '@shardswap/server'
import { describe, expect, it } from 'vitest'
import { alice, block, blocks, bob, cancel, message, Scene, want } from './scene.ts'
import type { TestBlock } from './scene.ts'

const KiB = 1024

describe('a store that takes its time', () => {
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

  it('a bounded number of blocks and sizes is read at a time', async () => {
    const scene = new Scene({ readsMax: 5, lookupBatchMax: 4, lookupBatchesMax: 2 })
    const all = await blocks(200, 2000)
    await scene.store.put(...all)
    await scene.ask(alice, ...all.map(({ cid }) => want(cid)))
    expect(scene.server.ledger(alice)?.blocksSent).toBe(200)
    expect(scene.store.asked.getsAtOnceMax).toBe(5)
    expect(scene.store.asked.sizesAtOnceMax).toBe(8)
  })

  it('blocks of one peer are read at a time, and leave in order however the reads end', async () => {
    const scene = new Scene()
    const all = await blocks(8, 256 * KiB)
    await scene.store.put(...all)
    const get = scene.store.get.bind(scene.store)
    const ends: (() => void)[] = []
    scene.store.get = async (cid) => {
      await new Promise<void>((resolve) => ends.unshift(resolve))
      return get(cid)
    }
    await scene.ask(alice, ...all.map(({ cid }) => want(cid)))
    expect(ends.length).toBe(8)
    for (const end of ends) {
      end()
      await scene.settle()
    }
    expect(scene.answers(alice)).toEqual(all.map(({ cid }) => `block ${cid.toString()}`))
    // What was read behind the first left with it as far as it fits one message.
    expect(scene.server.gauges().responseBytes).toBe(0)
  })

  it('what a peer is told is not held up by reads of others, however slow', async () => {
    const scene = new Scene({ readsMax: 2 })
    const all = await blocks(4, 2000)
    const [absent] = await blocks(1, 2000, 100)
    await scene.store.put(...all)
    scene.store.get = async () => new Promise<undefined>(() => {})
    await scene.ask(alice, ...all.map(({ cid }) => want(cid)))
    await scene.ask(bob, want((absent as TestBlock).cid, { sendDontHave: true }))
    expect(scene.answers(bob)).toEqual([`dont-have ${(absent as TestBlock).cid.toString()}`])
  })

  it('100 blocks that arrive in one tick go in one message where the link is quick', async () => {
    const scene = new Scene({ envelopeBytesMin: 512 * KiB })
    const all = await blocks(100, KiB)
    await scene.ask(alice, ...all.map(({ cid }) => want(cid)))
    await scene.store.put(...all)
    for (const { cid, bytes } of all) scene.server.blockArrived(cid, bytes.length)
    await scene.settle()
    expect(scene.links.sent.length).toBe(1)
  })

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

  it('a store that fails counts as lacking the block', async () => {
    const scene = new Scene()
    const [broken, lost] = (await blocks(2, 2000)) as [TestBlock, TestBlock]
    scene.store.size = async (cid) => {
      if (cid.equals(broken.cid)) throw new Error('disk')
      return 2000
    }
    scene.store.get = async () => {
      throw new Error('disk')
    }
    await scene.ask(alice, want(broken.cid, { sendDontHave: true }), want(lost.cid, { sendDontHave: true }))
    expect(scene.answers(alice).sort()).toEqual([`dont-have ${broken.cid.toString()}`, `dont-have ${lost.cid.toString()}`].sort())
    expect(scene.server.gauges().responseBytes).toBe(0)
  })

  it('a block that arrives between the question for its size and the answer is not missed', async () => {
    const scene = new Scene()
    const { cid, bytes } = await block(1, 2000)
    scene.store.size = async () => {
      await scene.store.put({ cid, bytes })
      scene.server.blockArrived(cid, bytes.length)
      return undefined
    }
    await scene.ask(alice, want(cid, { sendDontHave: true }))
    expect(scene.answers(alice)).toEqual([`block ${cid.toString()}`])
  })

  it('a block that turns out to be missing while all readers are busy holds nobody up', async () => {
    const scene = new Scene({ readsMax: 1 })
    const [gone, here] = (await blocks(2, 2000)) as [TestBlock, TestBlock]
    await scene.store.put(gone, here)
    const get = scene.store.get.bind(scene.store)
    scene.store.get = async (cid) => {
      if (!cid.equals(gone.cid)) return get(cid)
      await new Promise((resolve) => setImmediate(resolve))
      return undefined
    }
    scene.tell(alice, message([want(gone.cid)]))
    scene.tell(bob, message([want(here.cid)]))
    await scene.settle()
    expect(scene.answers(bob)).toEqual([`block ${here.cid.toString()}`])
  })
})

describe('a peer that leaves', () => {
  it('waits for nothing any more, however much it said; nor does anybody once the server stops', async () => {
    const scene = new Scene()
    scene.server.took(alice, 1e6)
    const waits = scene.server.mayTake(alice)
    expect(waits).toBeDefined()
    scene.server.peerDisconnected(alice)
    await waits
    scene.server.took(bob, 1e6)
    const stopped = scene.server.mayTake(bob)
    await scene.server.stop()
    await stopped
  })
})

describe('a server that has no room', () => {
  it('[I14] says so before DONT_HAVE leaves', async () => {
    const scene = new Scene({}, 'registered', { openRequestsMax: 1, freeScoreRequests: 1 })
    const all = await blocks(3, 2000)
    await scene.store.put(...all)
    const told = Promise.withResolvers<void>()
    scene.telling = told.promise
    scene.admission.admit(bob, 1, 0)
    await scene.ask(alice, want((all[0] as TestBlock).cid, { sendDontHave: true }))
    await scene.ask(alice, want((all[1] as TestBlock).cid, { sendDontHave: true }))
    expect(scene.toldBusy).toEqual([alice])
    expect(scene.answers(alice)).toEqual([])
    told.resolve()
    await scene.settle()
    expect(scene.answers(alice)).toEqual(all.slice(0, 2).map(({ cid }) => `dont-have ${cid.toString()}`))
    await scene.server.stop()
  })

  it('[I12] says nothing of it to who is refused for what its servers do, or where nothing is served', async () => {
    const scene = new Scene({}, 'off')
    const { cid } = await block(1)
    await scene.ask(alice, want(cid, { sendDontHave: true }))
    expect(scene.answers(alice)).toEqual([`dont-have ${cid.toString()}`])
    expect(scene.toldBusy).toEqual([])
  })
})

it('what is cancelled before its turn to be read is not read', async () => {
  const scene = new Scene({ readsMax: 1 })
  const all = await blocks(4, 2000)
  await scene.store.put(...all)
  const [first, ...others] = all as [TestBlock, ...TestBlock[]]
  const get = scene.store.get.bind(scene.store)
  scene.store.get = async (cid) => {
    if (cid.equals(first.cid)) scene.tell(alice, message(others.map(({ cid }) => cancel(cid))))
    return get(cid)
  }
  await scene.ask(alice, ...all.map(({ cid }) => want(cid)))
  expect(scene.answers(alice)).toEqual([`block ${first.cid.toString()}`])
  expect(scene.store.asked.gets).toBe(1)
})
