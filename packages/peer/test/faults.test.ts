import { MemoryBlockstore } from 'blockstore-core'
import { createLibp2p, type Libp2p } from 'libp2p'
import { identify } from '@libp2p/identify'
import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { tcp } from '@libp2p/tcp'
import type { CID } from '@shardswap/interface'
import { afterEach, expect, test } from 'vitest'
import { createPeer } from '../src/index.ts'
import { connect, Peers, rawBlock, rawBlocks, until } from './support.ts'

const peers = new Peers()
afterEach(async () => await peers.stop())

/** A store whose writes and looks wait until they are let go, one after the other. */
class GatedStore extends MemoryBlockstore {
  readonly waiting: { readonly what: string; readonly go: () => void }[] = []
  gated = true

  async #wait(what: string): Promise<void> {
    if (this.gated) await new Promise<void>((go) => this.waiting.push({ what, go }))
  }

  override put(...args: Parameters<MemoryBlockstore['put']>): CID {
    return this.#wait('put').then(() => super.put(...args)) as unknown as CID
  }

  override has(cid: CID): boolean {
    return this.#wait('has').then(() => super.has(cid)) as unknown as boolean
  }

  async letGo(what: string): Promise<void> {
    await until(`${what} waits`, () => this.waiting.some((each) => each.what === what))
    this.waiting
      .splice(
        this.waiting.findIndex((each) => each.what === what),
        1
      )[0]
      ?.go()
  }
}

test('a block that is put while it is being stored, and asked for again, is not lost', async () => {
  const block = rawBlock('twice')
  const store = new GatedStore()
  const provider = await peers.provider([block])
  const ours = await peers.create({ blockstore: store })
  await connect(ours, provider)
  const first = ours.get(block.cid)
  await store.letGo('has')
  await until('the block came', () => store.waiting.some(({ what }) => what === 'put'))
  const fromProvider = store.waiting.shift()
  const put = ours.put(block.cid, block.bytes)
  await store.letGo('put')
  await put
  expect(await first).toEqual(block.bytes)
  const second = ours.get(block.cid, { timeoutMs: 10_000 })
  await until('it is looked for', () => store.waiting.some(({ what }) => what === 'has'))
  fromProvider?.go()
  await new Promise((resolve) => setTimeout(resolve, 50))
  await store.letGo('has')
  expect(await second).toEqual(block.bytes)
  store.gated = false
})

function mistaken(): void {
  throw new Error('a mistake of the caller')
}

test('a caller whose onProgress throws harms nobody, not even itself', async () => {
  const blocks = rawBlocks(20)
  const provider = await peers.provider(blocks)
  const ours = await peers.create()
  await connect(ours, provider)
  const session = ours.createSession()
  const all = await Promise.all(blocks.map(async ({ cid }) => await session.get(cid, { onProgress: mistaken, timeoutMs: 10_000 })))
  expect(all).toEqual(blocks.map(({ bytes }) => bytes))
})

test('a store that cannot write fails the get, and the next get works', async () => {
  const block = rawBlock('full disk')
  let isFull = true
  class FullStore extends MemoryBlockstore {
    override put(...args: Parameters<MemoryBlockstore['put']>): CID {
      if (isFull) return Promise.reject(new Error('no space left on device')) as unknown as CID
      return super.put(...args) as CID
    }
  }
  const provider = await peers.provider([block])
  const ours = await peers.create({ blockstore: new FullStore() })
  await connect(ours, provider)
  await expect(ours.get(block.cid, { timeoutMs: 10_000 })).rejects.toThrow('no space left')
  isFull = false
  expect(await ours.get(block.cid, { timeoutMs: 10_000 })).toEqual(block.bytes)
})

async function newNode(): Promise<Libp2p> {
  return await createLibp2p({
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    services: { identify: identify() }
  })
}

test('a second peer on one libp2p node is refused, and the first goes on', async () => {
  const libp2p = await newNode()
  const block = rawBlock('first')
  const first = await createPeer({ libp2p })
  await first.put(block.cid, block.bytes)
  const listeners = ['peer:identify', 'peer:update', 'connection:close'] as const
  const counts = listeners.map((name) => libp2p.listenerCount(name))
  await expect(createPeer({ libp2p })).rejects.toThrow('already registered')
  expect(listeners.map((name) => libp2p.listenerCount(name))).toEqual(counts)
  const reader = await peers.create()
  await connect(reader, first)
  expect(await reader.get(block.cid, { timeoutMs: 10_000 })).toEqual(block.bytes)
  await first.stop()
  const again = await createPeer({ libp2p })
  await again.stop()
  await libp2p.stop()
})

test('a libp2p node that is stopped before its peer leaves the peer able to stop', async () => {
  const libp2p = await newNode()
  const ours = await createPeer({ libp2p })
  const provider = await peers.create()
  await connect(ours, provider)
  const get = ours.get(rawBlock('nowhere').cid)
  const ended = get.catch((error: unknown) => error)
  await libp2p.stop()
  await ours.stop()
  expect(await ended).toMatchObject({ name: 'StoppedError' })
})

test('stop() called twice resolves when all is down, both times', async () => {
  const ours = await createPeer()
  const first = ours.stop()
  await ours.stop()
  expect(ours.libp2p.status).toBe('stopped')
  await first
})

test('a peer that is stopped while it starts is stopped: nothing of it listens, speaks or waits', async () => {
  const peer = await createPeer({ start: false })
  const starting = peer.start()
  await peer.stop()
  await starting
  expect(peer.libp2p.status).toBe('stopped')
  expect(peer.libp2p.getMultiaddrs()).toEqual([])
  expect(peer.libp2p.getProtocols().filter((protocol) => protocol.includes('shardswap') || protocol.includes('bitswap'))).toEqual([])
  await expect(peer.start()).rejects.toMatchObject({ name: 'StoppedError' })
})
