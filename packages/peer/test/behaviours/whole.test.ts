import { StoppedError } from '@shardswap/interface'
import { afterEach, describe, expect, it } from 'vitest'
import type { Provider, Routing } from '../../src/index.ts'
import { cidsOf, Outcome, Scene, turns, wantsAt } from '../field/scene.ts'
import { collect, connect, rawBlock, rawBlocks, until } from '../support.ts'
import { payload, rawCid, wantlist } from '../wire/bytes.ts'
import { address, block, blocks, byCid } from '../wire/cast.ts'
import { answerWants, honest, openStream, write } from '../wire/raw.ts'

const scene = new Scene()
afterEach(async () => await scene.stop())

describe('a block that comes in', () => {
  it('while its want waits for a place at the peer is delivered', async () => {
    const ours = await scene.patient()
    const raw = await scene.raw()
    const stream = await openStream(await raw.dial(address(ours)))
    const all = blocks(200)
    const session = ours.createSession()
    const got = all.map(({ cid }) => new Outcome(session.get(cid, { timeoutMs: 20_000 })))
    await raw.until(() => raw.wanted().length > 0)
    const unsent = all.findIndex(({ hex }) => !raw.wanted().includes(hex))
    expect(unsent).toBeGreaterThan(0)
    await write(stream, payload([all[unsent]!]))
    await got[unsent]!.done
    expect(got[unsent]!.value).toEqual(all[unsent]!.data)
    session.close()
    await Promise.all(got.map(async ({ done }) => await done))
  })
})

describe('counters', () => {
  it('of both sides agree to the block, one way and both ways', async () => {
    const [mine, yours] = [rawBlocks(20, 3000, 'mine'), rawBlocks(30, 2000, 'yours')]
    const one = await scene.patient()
    const two = await scene.patient()
    for (const { cid, bytes } of mine) await one.put(cid, bytes)
    for (const { cid, bytes } of yours) await two.put(cid, bytes)
    await connect(one, two)
    await collect(one.getMany(cidsOf(yours)))
    const given = (): unknown => two.ledger(one.peerId)
    const taken = (): unknown => one.ledger(two.peerId)
    await until('all of it is written', () => two.ledger(one.peerId)?.blocksSent === 30)
    expect(given()).toMatchObject({ blocksSent: 30, bytesSent: 60_000, blocksReceived: 0, bytesReceived: 0 })
    expect(taken()).toMatchObject({ blocksSent: 0, bytesSent: 0, blocksReceived: 30, bytesReceived: 60_000 })
    await collect(two.getMany(cidsOf(mine)))
    await until('all of it is written', () => one.ledger(two.peerId)?.blocksSent === 20)
    expect(given()).toMatchObject({ blocksSent: 30, bytesSent: 60_000, blocksReceived: 20, bytesReceived: 60_000 })
    expect(taken()).toMatchObject({ blocksSent: 20, bytesSent: 60_000, blocksReceived: 30, bytesReceived: 60_000 })
  })

  it('of messages and blocks are those that the other side saw', async () => {
    const ours = await scene.patient()
    const raw = await scene.raw()
    const all = blocks(50)
    for (const { cid, data } of all) await ours.put(cid, data)
    const stream = await openStream(await raw.dial(address(ours)))
    await write(stream, wantlist(all.map(({ data }) => ({ cid: rawCid(data) }))))
    await raw.until(() => raw.answers().length === all.length)
    await until('the last one is counted', () => ours.stat().serve.blocksSent === all.length)
    const answering = raw.inbox.filter(({ payload: sent }) => sent.length > 0)
    expect(ours.stat().serve).toEqual({ blocksSent: 50, bytesSent: 50 * 2000, messagesSent: answering.length })
  })
})

describe('who is left out of a fetch', () => {
  it('is asked whether it has the first block, and for nothing of the rest', async () => {
    const ours = await scene.patient()
    const all = blocks(60)
    const raws = [await scene.raw(), await scene.raw(), await scene.raw()]
    for (const raw of raws) await answerWants(raw, address(ours), honest(new Map()))
    const provider = await scene.raw()
    await answerWants(provider, address(ours), honest(byCid(all)))
    await until('all are known', () => ours.stat().connectedPeers === 4)
    const session = ours.createSession()
    await collect(session.getMany(cidsOf(all)))
    session.close()
    const after = block(1000)
    const last = new Outcome(ours.get(after.cid, { timeoutMs: 20_000 }))
    // What was sent before has come when this want has.
    for (const raw of raws) await raw.until(() => raw.wanted().includes(after.hex))
    for (const raw of raws) {
      const seen = raw.inbox.flatMap(({ entries }) => entries).filter(({ cid }) => !Buffer.from(cid).equals(after.cid.bytes))
      expect(seen.filter(({ cancel, have }) => !cancel && have !== true)).toEqual([])
      expect(new Set(seen.map(({ cid }) => Buffer.from(cid).toString('hex')))).toEqual(new Set([all[0]!.hex]))
      expect(seen.length).toBeLessThanOrEqual(2)
    }
    await ours.stop()
    await last.done
  })

  it('keeps none of our wants once the blocks are here', async () => {
    const wanted = rawBlocks(30)
    const lacks = await scene.ours()
    const has = await scene.ours()
    for (const { cid, bytes } of wanted) await has.put(cid, bytes)
    const ours = await scene.ours()
    await connect(ours, lacks)
    await connect(ours, has)
    expect(await collect(ours.getMany(cidsOf(wanted)))).toHaveLength(30)
    await until('they are taken back', () => wantsAt(lacks, ours) + wantsAt(has, ours) === 0)
    expect(ours.gauges()).toMatchObject({ wants: 0, wantsAtPeers: 0 })
    expect(lacks.stat().serve.blocksSent).toBe(0)
    expect(has.stat().serve.blocksSent).toBe(30)
  })
})

describe('providers', () => {
  it('of a tenth of the blocks each are each asked for theirs, and each block comes once', async () => {
    const wanted = rawBlocks(100, 2000)
    const ours = await scene.patient()
    const providers = await Promise.all(Array.from({ length: 10 }, async () => await scene.ours()))
    for (const [index, { cid, bytes }] of wanted.entries()) await providers[index % 10]!.put(cid, bytes)
    for (const provider of providers) await connect(ours, provider)
    const session = ours.createSession()
    expect(await collect(session.getMany(cidsOf(wanted)))).toHaveLength(100)
    expect(session.stat()).toMatchObject({ blocks: 100, duplicateBlocks: 0 })
    session.close()
    for (const provider of providers) {
      await until('all of it is written', () => provider.ledger(ours.peerId)?.blocksSent === 10)
    }
  })

  it('that routing names are connected to and used, and found again for the rest once they have gone', async () => {
    const wanted = rawBlocks(40)
    const provider = await scene.ours()
    for (const { cid, bytes } of wanted) await provider.put(cid, bytes)
    let searches = 0
    const routing: Routing = {
      async *findProviders(): AsyncGenerator<Provider> {
        searches += 1
        yield { id: provider.peerId, multiaddrs: provider.libp2p.getMultiaddrs() }
      }
    }
    const ours = await scene.ours({ routing })
    const session = ours.createSession()
    const first = await collect(session.getMany(cidsOf(wanted.slice(0, 20)), { timeoutMs: 30_000 }))
    expect(first).toHaveLength(20)
    const before = searches
    expect(before).toBeGreaterThan(0)
    await ours.libp2p.hangUp(provider.peerId)
    await until('it has gone', () => ours.stat().connectedPeers === 0)
    const rest = await collect(session.getMany(cidsOf(wanted.slice(20)), { timeoutMs: 30_000 }))
    expect(rest).toHaveLength(20)
    expect(searches).toBeGreaterThan(before)
    session.close()
  })
})

describe('a peer that does not serve', () => {
  it('fetches, answers nobody, has its figures, and may be told of blocks', async () => {
    const wanted = rawBlock('wanted')
    const provider = await scene.ours()
    await provider.put(wanted.cid, wanted.bytes)
    const ours = await scene.ours({ serve: false })
    await connect(ours, provider)
    expect(await ours.get(wanted.cid, { timeoutMs: 20_000 })).toEqual(wanted.bytes)
    ours.notify(wanted.cid)
    await turns()
    await expect(provider.get(rawBlock('nowhere').cid, { timeoutMs: 300 })).rejects.toMatchObject({ name: 'TimeoutError' })
    const other = rawBlock('of ours')
    await ours.put(other.cid, other.bytes)
    await expect(provider.get(other.cid, { timeoutMs: 300 })).rejects.toMatchObject({ name: 'TimeoutError' })
    expect(ours.stat()).toMatchObject({ fetch: { blocks: 1 }, serve: { blocksSent: 0, bytesSent: 0, messagesSent: 0 } })
    expect(ours.ledger(provider.peerId)).toBeUndefined()
  })
})

describe('a peer that was stopped', () => {
  it('resets its streams, and takes nothing in of what comes later', async () => {
    const ours = await scene.ours()
    const raw = await scene.raw()
    const stream = await openStream(await raw.dial(address(ours)))
    const wanted = block(1)
    const got = new Outcome(ours.get(wanted.cid, { timeoutMs: 20_000 }))
    await raw.until(() => raw.wanted().includes(wanted.hex))
    await ours.stop()
    await got.done
    expect(got.error).toBeInstanceOf(StoppedError)
    await write(stream, payload([wanted])).catch(() => undefined)
    await until('its streams are at an end', () => raw.inbound.every(({ status }) => status !== 'open'))
    await turns()
    expect(await ours.has(wanted.cid)).toBe(false)
    expect(ours.gauges()).toMatchObject({ wants: 0, blocksAwaited: 0, clientWants: 0 })
  })
})

describe('a wantlist on the wire', () => {
  it('names first wants first, with a priority that falls by one from want to want, and no want twice', async () => {
    const ours = await scene.patient()
    const raw = await scene.raw()
    await raw.dial(address(ours))
    const all = blocks(8)
    const session = ours.createSession()
    const got = [...all, ...all].map(({ cid }) => new Outcome(session.get(cid, { timeoutMs: 20_000 })))
    await raw.until(() => raw.wanted().length >= all.length)
    const entries = raw.inbox.flatMap((message) => message.entries).filter(({ cancel }) => !cancel)
    expect(entries.map(({ cid }) => Buffer.from(cid).toString('hex'))).toEqual(all.map(({ hex }) => hex))
    const [first = 0] = entries.map(({ priority }) => priority ?? 0)
    expect(first).toBeGreaterThan(2 ** 31 - 1 - 2 * all.length)
    expect(entries.map(({ priority }) => priority)).toEqual(all.map((_, index) => first - index))
    session.close()
    await Promise.all(got.map(async ({ done }) => await done))
  })
})
