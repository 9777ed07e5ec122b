import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Stream } from '@libp2p/interface'
import { afterEach, describe, expect, it } from 'vitest'
import type { Peer } from '../src/index.ts'
import { connect, Peers, rawBlock, rawBlocks, until } from './support.ts'

const peers = new Peers()
afterEach(async () => await peers.stop())

const bitswap = (stream: Stream): boolean => stream.protocol.startsWith('/ipfs/bitswap')
const streamsOf = (peer: Peer): Stream[] => peer.libp2p.getConnections().flatMap((connection) => connection.streams.filter(bitswap))

/** A fetch of `count` blocks that runs `disturb` after a quarter of them. */
async function fetchWith(peer: Peer, count: number, name: string, disturb: () => Promise<void> | void): Promise<number> {
  let read = 0
  for await (const block of peer.getMany(rawBlocks(count, 64 * 1024, name).map((each) => each.cid))) {
    expect(block.bytes).toHaveLength(64 * 1024)
    read += 1
    if (read === count / 4) await disturb()
  }
  return read
}

describe('the network', () => {
  it('loses no want when the connection breaks in mid-transfer and comes back', async () => {
    const provider = await peers.provider(rawBlocks(200, 64 * 1024, 'reconnect'))
    const peer = await peers.create({ limits: { getManyBytesMax: 2 * 1024 * 1024 } })
    await connect(peer, provider)
    const read = await fetchWith(peer, 200, 'reconnect', async () => {
      for (const connection of peer.libp2p.getConnections()) connection.abort(new Error('cut by the test'))
      await until('the cut is seen', () => peer.stat().connectedPeers === 0)
      await connect(peer, provider)
    })
    expect(read).toBe(200)
    expect(peer.stat().fetch.unaskedBlocks).toBe(0)
  })

  it('opens its stream again, with the full list, when the other side resets it', async () => {
    const provider = await peers.provider(rawBlocks(200, 64 * 1024, 'reset'))
    const peer = await peers.create({ limits: { getManyBytesMax: 2 * 1024 * 1024 } })
    await connect(peer, provider)
    const read = await fetchWith(peer, 200, 'reset', () => {
      for (const stream of streamsOf(provider)) stream.abort(new Error('reset by the test'))
    })
    expect(read).toBe(200)
  })

  it('keeps one stream out for all messages', async () => {
    const provider = await peers.provider(rawBlocks(100, 1024, 'one stream'))
    const peer = await peers.create()
    await connect(peer, provider)
    for (const { cid } of rawBlocks(100, 1024, 'one stream')) await peer.get(cid)
    expect(streamsOf(peer).filter((stream) => stream.direction === 'outbound')).toHaveLength(1)
    expect(streamsOf(peer).filter((stream) => stream.direction === 'inbound')).toHaveLength(1)
  })

  it('has its streams open in both directions before the first word, where it was told to connect', async () => {
    const provider = await peers.provider([])
    const peer = await peers.create()
    await connect(peer, provider)
    await until('each has opened one', () => streamsOf(peer).length === 2 && streamsOf(provider).length === 2)
    expect(streamsOf(peer).map((stream) => stream.direction)).toEqual(expect.arrayContaining(['outbound', 'inbound']))
    expect([peer.stat().fetch.wantsSent, provider.stat().serve.messagesSent]).toEqual([0, 0])
  })

  it('takes several connections for one peer, and survives the loss of any', async () => {
    const provider = await peers.provider(rawBlocks(200, 64 * 1024, 'two'))
    const peer = await peers.create({ limits: { getManyBytesMax: 2 * 1024 * 1024 } })
    await Promise.all([connect(peer, provider), connect(provider, peer)])
    await peer.libp2p.dial(provider.libp2p.getMultiaddrs()[0]!, { force: true })
    await until('there are two connections', () => peer.libp2p.getConnections().length >= 2)
    expect(peer.stat().connectedPeers).toBe(1)
    const read = await fetchWith(peer, 200, 'two', () => {
      const busy = peer.libp2p.getConnections().find((connection) => connection.streams.some(bitswap))
      expect(busy).toBeDefined()
      busy?.abort(new Error('cut by the test'))
    })
    expect(read).toBe(200)
    expect(peer.stat().peers).toHaveLength(1)
  })

  it('keeps a reader that does not read from costing more than an answer', async () => {
    const blocks = rawBlocks(200, 256 * 1024, 'slow')
    const provider = await peers.provider(blocks)
    const slow = await peers.create({ limits: { windowStartBytes: 64 * 1024 * 1024, queueWantsStart: 200, wantsInFlightStart: 200 } })
    const quick = await peers.create()
    await connect(slow, provider)
    await connect(quick, provider)
    const abort = new AbortController()
    const held = blocks.map(async ({ cid }) => await slow.get(cid, { signal: abort.signal }).catch(() => undefined))
    // Its answers come on a stream that the test pauses as soon as it is there.
    await until('an answer comes', () => streamsOf(slow).some((stream) => stream.direction === 'inbound'))
    for (const stream of streamsOf(slow)) if (stream.direction === 'inbound') stream.pause()
    expect((await quick.get(blocks[199]!.cid)).byteLength).toBe(256 * 1024)
    const unsent = streamsOf(provider).reduce((sum, stream) => sum + stream.writeBufferLength, 0)
    expect(unsent).toBeLessThanOrEqual(4 * 1024 * 1024)
    abort.abort()
    await Promise.all(held)
  })

  it('sees a peer that begins to speak Bitswap after it connected', async () => {
    const block = rawBlock('late starter')
    const provider = await peers.create({ start: false })
    await provider.libp2p.start()
    const peer = await peers.create()
    await connect(peer, provider)
    expect(peer.stat().connectedPeers).toBe(0)
    await provider.start()
    await provider.put(block.cid, block.bytes)
    // Without an identify push it learns of it from the first stream.
    const got = provider.get(rawBlock('asked of the other').cid, { timeoutMs: 3000 }).catch(() => undefined)
    expect(await peer.get(block.cid, { timeoutMs: 10_000 })).toEqual(block.bytes)
    await got
  })

  it('leaves the process free to exit once it is stopped', async () => {
    const child = spawn(process.execPath, [new URL('./exit-process.ts', import.meta.url).pathname], {
      stdio: ['ignore', 'pipe', 'inherit']
    })
    let printed = ''
    child.stdout.on('data', (data: Buffer) => (printed += data.toString()))
    const [code] = (await once(child, 'exit')) as [number]
    expect(code).toBe(0)
    expect(printed).toBe('fetched\n')
  })
})
