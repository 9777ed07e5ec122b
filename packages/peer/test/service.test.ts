import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { identify } from '@libp2p/identify'
import type { ContentRouting, Libp2p } from '@libp2p/interface'
import { tcp } from '@libp2p/tcp'
import { protocolIds } from '@shardswap/protocol'
import { createLibp2p } from 'libp2p'
import { afterEach, expect, test } from 'vitest'
import { type ExchangeInit, shardswap, type ShardswapService } from '../src/index.ts'
import { Peers, rawBlock, rawBlocks, until } from './support.ts'

interface Services extends Record<string, unknown> {
  exchange: ShardswapService
}

const cannot = async (): Promise<never> => await Promise.reject(new Error('this router only finds providers'))

const peers = new Peers()
const nodes: Libp2p[] = []
afterEach(async () => {
  await peers.stop()
  await Promise.all(nodes.splice(0).map(async (node) => await node.stop()))
})

/** A node as somebody else's program makes it, with stock settings, and the exchange as one of its services. */
async function node(init?: ExchangeInit): Promise<Libp2p<Services>> {
  const made = await createLibp2p<Services>({
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    services: { identify: identify(), exchange: shardswap(init) },
    connectionMonitor: { abortConnectionOnPingFailure: false }
  })
  nodes.push(made)
  return made
}

test('a libp2p service fetches from a peer and serves another service', async () => {
  const blocks = rawBlocks(40, 64 * 1024)
  const provider = await peers.provider(blocks)
  const first = (await node()).services.exchange
  await first.connect(provider.addresses()[0]!)
  expect(first.isStarted()).toBe(true)
  for await (const { cid, bytes } of first.getMany(blocks.map(({ cid }) => cid))) {
    expect(bytes).toEqual(blocks.find((block) => block.cid.equals(cid))?.bytes)
  }
  expect(first.stat().fetch.blocks).toBe(40)

  const second = await node()
  await second.services.exchange.connect(first.addresses()[0]!)
  expect(await second.services.exchange.get(blocks[7]!.cid)).toEqual(blocks[7]!.bytes)
  expect(first.stat().serve.blocksSent).toBe(1)
  expect(first.ledger(second.peerId)?.blocksSent).toBe(1)
})

test('a service stops with its node, answers its callers, and starts again with what it knew', async () => {
  const [block, missing] = [rawBlock('restart'), rawBlock('nobody has it')]
  const provider = await peers.provider([block])
  const libp2p = await node()
  const { exchange } = libp2p.services
  await exchange.connect(provider.addresses()[0]!)
  await exchange.get(block.cid)
  const open = exchange.get(missing.cid, { timeoutMs: 60_000 }).catch((error: unknown) => error)
  await until('the provider has heard of the want', () => provider.ledger(exchange.peerId)?.wants.length === 1)
  await libp2p.stop()
  expect(await open).toMatchObject({ name: 'StoppedError', code: 'ERR_STOPPED' })
  expect(exchange.isStarted()).toBe(false)
  expect(exchange.gauges()).toMatchObject({ blocksAwaited: 0, wants: 0, wantsAtPeers: 0, searches: 0 })
  await expect(exchange.get(missing.cid)).rejects.toMatchObject({ code: 'ERR_STOPPED' })

  await libp2p.start()
  expect(await exchange.get(block.cid)).toEqual(block.bytes)
  expect(exchange.scores().map(({ peer }) => peer)).toEqual([provider.peerId.toString()])
  const fresh = rawBlock('after the restart')
  await provider.put(fresh.cid, fresh.bytes)
  await exchange.connect(provider.addresses()[0]!)
  expect(await exchange.get(fresh.cid)).toEqual(fresh.bytes)
})

test('a service looks for providers in the content routing of its node', async () => {
  const block = rawBlock('routed')
  const provider = await peers.provider([block])
  const asked: string[] = []
  const routing: ContentRouting = {
    async *findProviders(cid) {
      asked.push(cid.toString())
      yield { id: provider.peerId, multiaddrs: provider.libp2p.getMultiaddrs(), routing: 'test' }
    },
    provide: cannot,
    cancelReprovide: cannot,
    put: cannot,
    get: cannot
  }
  const made = await createLibp2p<Services>({
    addresses: { listen: [] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    contentRouters: [() => routing],
    services: { identify: identify(), exchange: shardswap() }
  })
  nodes.push(made)
  expect(await made.services.exchange.get(block.cid)).toEqual(block.bytes)
  expect(asked).toContain(block.cid.toString())
})

test('mistakes show at once: impossible limits, no identify, a use before the start, a second exchange on a node', async () => {
  expect(() => shardswap({ limits: { giveUpMs: -1 } })).toThrow(expect.objectContaining({ code: 'ERR_INVALID_PARAMETERS' }))
  await expect(createLibp2p({ services: { exchange: shardswap() } })).rejects.toThrow('@libp2p/identify')
  const made = await createLibp2p<Services>({ start: false, services: { identify: identify(), exchange: shardswap() } })
  expect(() => made.services.exchange.stat()).toThrow(expect.objectContaining({ code: 'ERR_STOPPED' }))
  await expect(made.services.exchange.get(rawBlock('x').cid)).rejects.toMatchObject({ code: 'ERR_STOPPED' })
  await expect(createLibp2p({ services: { identify: identify(), exchange: shardswap(), another: shardswap() } })).rejects.toMatchObject({
    name: 'DuplicateProtocolHandlerError'
  })
})

test('a start that is refused, for somebody else has one of the protocols, leaves no handler behind', async () => {
  for (const protocol of protocolIds) {
    const made = await createLibp2p<Services>({ start: false, services: { identify: identify(), exchange: shardswap() } })
    nodes.push(made)
    const before = made.getProtocols()
    await made.handle(protocol, () => {})
    await expect(made.start()).rejects.toMatchObject({ name: 'DuplicateProtocolHandlerError' })
    await made.unhandle(protocol)
    expect(made.getProtocols()).toEqual(before)
    await made.start()
    expect(made.getProtocols()).toEqual(expect.arrayContaining([...protocolIds]))
  }
})
