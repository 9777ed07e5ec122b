import { getEventListeners } from 'node:events'
import { CID } from '@shardswap/interface'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { createNode } from '../../src/libp2p-node.ts'
import { connect, rawBlock, rawBlocks, until } from '../support.ts'
import { Outcome, Scene, turns, wantsAt } from './scene.ts'

const scene = new Scene()
afterEach(async () => await scene.stop())

const never = new Promise<never>(() => {})

/** CIDs, and then for ever the next one that does not come. */
async function* stuckAfter(cids: readonly CID[]): AsyncGenerator<CID> {
  yield* cids
  await never
}

const orders = ['request', 'arrival'] as const

describe('a stream whose source of CIDs is stuck', () => {
  it.each(orders)('gives what is here, by %s, and ends when its session is closed', async (order) => {
    const ours = await scene.ours()
    const here = rawBlocks(3)
    for (const { cid, bytes } of here) await ours.put(cid, bytes)
    const session = ours.createSession()
    const stream = session.getMany(stuckAfter(here.map(({ cid }) => cid)), { order })
    for (const _ of here) await stream.next()
    const next = new Outcome(stream.next())
    await turns()
    expect(next.state).toBe('open')
    session.close()
    await turns()
    expect(next).toMatchObject({ state: 'rejected', error: { name: 'StoppedError', message: 'the session was closed' } })
    const late = new Outcome(session.getMany(stuckAfter([]), { order }).next())
    await turns()
    expect(late).toMatchObject({ state: 'rejected', error: { name: 'StoppedError' } })
  })

  it.each(orders)('ends, by %s, when the peer is stopped', async (order) => {
    const ours = await scene.ours()
    const all = [ours.getMany(stuckAfter([]), { order }), ours.createSession().getMany(stuckAfter([]), { order })]
    const nexts = all.map((stream) => new Outcome(stream.next()))
    await turns()
    await ours.stop()
    for (const next of nexts)
      expect(next).toMatchObject({ state: 'rejected', error: { name: 'StoppedError', message: 'the peer was stopped' } })
  })
})

describe('a peer that stops', () => {
  it('lets go of the signals of its sessions, keeps their figures, and gauges nothing', async () => {
    const [ours, provider] = [await scene.ours(), await scene.ours()]
    const block = rawBlock(1)
    await provider.put(block.cid, block.bytes)
    await connect(ours, provider)
    const abort = new AbortController()
    const session = ours.createSession({ signal: abort.signal })
    await session.get(block.cid, { timeoutMs: 20_000 })
    const open = new Outcome(ours.get(rawBlock(2).cid, { timeoutMs: 20_000 }))
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(1)
    await ours.stop()
    await open.done
    expect(open.error).toMatchObject({ name: 'StoppedError' })
    expect(session.stat()).toMatchObject({ blocks: 1, bytes: 1024 })
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0)
    expect(Object.entries(ours.gauges()).filter(([, gauge]) => gauge !== 0)).toEqual([])
  })

  it("cancels what it wants: on a node of the caller's the connection stays", async () => {
    const libp2p = await createNode({})
    await libp2p.start()
    onTestFinished(async () => await libp2p.stop())
    const [ours, provider] = [await scene.ours({ libp2p }), await scene.ours()]
    await connect(ours, provider)
    const all = rawBlocks(300)
    const gets = all.map(({ cid }) => new Outcome(ours.get(cid, { timeoutMs: 20_000 })))
    await until('the wants stand', () => wantsAt(provider, ours) > 100)
    await ours.stop()
    for (const got of gets) expect(got.error).toMatchObject({ name: 'StoppedError' })
    expect(libp2p.getConnections()).toHaveLength(1)
    await until('they are cancelled', () => wantsAt(provider, ours) === 0)
    expect(provider.gauges().clientWants).toBe(0)
  })

  it('ends a search whose router hears of no abort', async () => {
    const routing = {
      async *findProviders() {
        yield await never
      }
    }
    const ours = await scene.ours({ routing })
    const got = new Outcome(ours.get(rawBlock(1).cid, { timeoutMs: 20_000 }))
    await until('the search runs', () => ours.gauges().searches === 1)
    await ours.stop()
    await Promise.all([got.done, turns()])
    expect(ours.gauges().searches).toBe(0)
  })
})

describe('plain gets, without a session of the caller', () => {
  it('leave nothing that is gauged', async () => {
    const [ours, provider] = [await scene.ours(), await scene.ours()]
    const block = rawBlock(1)
    await provider.put(block.cid, block.bytes)
    await connect(ours, provider)
    await ours.get(block.cid, { timeoutMs: 20_000 })
    const left = (): [string, number][] =>
      [ours, provider].flatMap((peer) => Object.entries(peer.gauges())).filter(([, gauge]) => gauge !== 0)
    await until('nothing is left', () => left().length === 0)
    expect(ours.stat().fetch).toMatchObject({ blocks: 1, duplicateBlocks: 0 })
  })

  it('refuse a timeout that is no number, and wait for nothing', async () => {
    const ours = await scene.ours()
    await expect(ours.get(rawBlock(1).cid, { timeoutMs: Number.NaN })).rejects.toThrow('timeoutMs is a number of milliseconds')
    expect(ours.wantlist()).toEqual([])
  })
})
