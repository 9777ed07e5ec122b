import { AbortError, CID, NotFoundError, StoppedError, TimeoutError, UnknownHashError } from '@shardswap/interface'
import { create as digest } from 'multiformats/hashes/digest'
import { afterEach, describe, expect, it } from 'vitest'
import type { FetchProgress } from '../src/index.ts'
import { collect, connect, Peers, rawBlock, rawBlocks, until } from './support.ts'

const peers = new Peers()
afterEach(async () => await peers.stop())

/** All peers share one event loop with the tests beside them: deadlines are no part of what is shown here. */
const unhurried = { limits: { timeoutMinMs: 5000 }, backups: false }

describe('fetching over TCP', () => {
  it('gets a block from the peer that has it, and stores it', async () => {
    const block = rawBlock('one', 100_000)
    const provider = await peers.provider([block])
    const peer = await peers.create(unhurried)
    await connect(peer, provider)
    expect(await peer.get(block.cid)).toEqual(block.bytes)
    expect(await peer.has(block.cid)).toBe(true)
    expect(peer.stat().fetch).toMatchObject({ blocks: 1, bytes: 100_000, duplicateBlocks: 0, timeouts: 0 })
    expect(provider.stat().serve).toMatchObject({ blocksSent: 1, bytesSent: 100_000 })
  })

  it('gives many blocks in the order asked, out of four peers, each block once', async () => {
    const blocks = rawBlocks(400, 64 * 1024)
    const peer = await peers.create(unhurried)
    for (let i = 0; i < 4; i++) await connect(peer, await peers.provider(blocks))
    const session = peer.createSession()
    const got = await collect(session.getMany(blocks.map((block) => block.cid)))
    expect(got.map((block) => block.cid.toString())).toEqual(blocks.map((block) => block.cid.toString()))
    expect(got.every((block, i) => Buffer.from(block.bytes).equals(blocks[i]!.bytes))).toBe(true)
    expect(session.stat()).toMatchObject({ blocks: 400, duplicateBlocks: 0, timeouts: 0 })
    for (const { blocks: share } of peer.stat().peers) expect(share).toBeGreaterThan(20)
    session.close()
  })

  it('takes CIDs as the reader takes blocks, and gives them as they arrive where asked', async () => {
    const blocks = rawBlocks(300, 64 * 1024)
    const provider = await peers.provider(blocks)
    const peer = await peers.create({ limits: { getManyBytesMax: 1024 * 1024 } })
    await connect(peer, provider)
    let asked = 0
    async function* cids(): AsyncGenerator<CID> {
      for (const block of blocks) {
        asked += 1
        yield block.cid
      }
    }
    let read = 0
    const seen = new Set<string>()
    for await (const block of peer.getMany(cids(), { order: 'arrival' })) {
      read += 1
      seen.add(block.cid.toString())
      if (read === 50) await new Promise((resolve) => setTimeout(resolve, 200))
      // 1 MiB of blocks of 64 KiB ahead, and the one that waits for room.
      expect(asked - read).toBeLessThanOrEqual(17)
    }
    expect(seen.size).toBe(300)
  })

  it('asks the next peer when one says DONT_HAVE', async () => {
    const mine = rawBlocks(30, 1000, 'a')
    const yours = rawBlocks(30, 1000, 'b')
    const peer = await peers.create(unhurried)
    await connect(peer, await peers.provider(mine))
    await connect(peer, await peers.provider(yours))
    const session = peer.createSession()
    const both = mine.flatMap((block, i) => [block.cid, yours[i]!.cid])
    expect(await collect(session.getMany(both))).toHaveLength(60)
    expect(session.stat().timeouts).toBe(0)
    session.close()
  })

  it('gets a block that the peer comes to have later', async () => {
    const block = rawBlock('later')
    const provider = await peers.create()
    const peer = await peers.create()
    await connect(peer, provider)
    const waiting = peer.get(block.cid)
    await until('the want stands', () => (provider.ledger(peer.peerId)?.wants.length ?? 0) === 1)
    await provider.put(block.cid, block.bytes)
    expect(await waiting).toEqual(block.bytes)
  })

  it('gets a block from a peer that connects later', async () => {
    const block = rawBlock('connects later')
    const provider = await peers.provider([block])
    const peer = await peers.create()
    const waiting = peer.get(block.cid)
    await connect(provider, peer)
    expect(await waiting).toEqual(block.bytes)
  })

  it('sees peers that were connected before it started', async () => {
    const block = rawBlock('early')
    const provider = await peers.provider([block])
    const carrier = await peers.create()
    await connect(carrier, provider)
    await until('identify is done', () => carrier.stat().connectedPeers === 1)
    const bitswap = ['/ipfs/bitswap/1.2.0', '/ipfs/bitswap/1.1.0', '/ipfs/bitswap/1.0.0', '/ipfs/bitswap']
    await carrier.libp2p.unhandle([...bitswap, '/shardswap/registry/1.0.0'])
    const late = await peers.create({ libp2p: carrier.libp2p })
    expect(await late.get(block.cid)).toEqual(block.bytes)
  })

  it('fetches what fixed peers have, and asks no others', async () => {
    const block = rawBlock('fixed')
    const has = await peers.provider([block])
    const lacks = await peers.create()
    const peer = await peers.create({ limits: { giveUpMs: 500 } })
    await connect(peer, has)
    await connect(peer, lacks)
    const session = peer.createSession({ peers: [lacks.peerId] })
    await expect(session.get(block.cid)).rejects.toThrow(NotFoundError)
    expect(has.ledger(peer.peerId)?.wants ?? []).toEqual([])
    session.close()
    const other = peer.createSession({ peers: [has.peerId] })
    expect(await other.get(block.cid)).toEqual(block.bytes)
    other.close()
  })
})

describe('callers', () => {
  it('share one want; one that aborts does not end the other (helia keeps one entry for all)', async () => {
    const block = rawBlock('shared')
    const provider = await peers.create()
    const peer = await peers.create()
    await connect(peer, provider)
    const abort = new AbortController()
    const first = peer.get(block.cid, { signal: abort.signal })
    const second = peer.get(block.cid)
    await until('the want stands', () => provider.ledger(peer.peerId)?.wants.length === 1)
    abort.abort()
    await expect(first).rejects.toThrow(AbortError)
    expect(provider.ledger(peer.peerId)?.wants).toHaveLength(1)
    expect(provider.ledgers()).toEqual([provider.ledger(peer.peerId)])
    await provider.put(block.cid, block.bytes)
    expect(await second).toEqual(block.bytes)
    expect(peer.stat().fetch).toMatchObject({ blocks: 1, duplicateBlocks: 0 })
  })

  it('leave nothing behind: the last one to abort cancels the want at the peer', async () => {
    const block = rawBlock('cancelled')
    const provider = await peers.create()
    const peer = await peers.create()
    await connect(peer, provider)
    const abort = new AbortController()
    const waiting = [peer.get(block.cid, { signal: abort.signal }), peer.get(block.cid, { signal: abort.signal })]
    await until('the want stands', () => provider.ledger(peer.peerId)?.wants.length === 1)
    abort.abort()
    for (const each of waiting) await expect(each).rejects.toThrow(AbortError)
    await until('the cancel arrived', () => provider.ledger(peer.peerId)?.wants.length === 0)
    expect(peer.wantlist()).toEqual([])
    await provider.put(block.cid, block.bytes)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(provider.stat().serve.blocksSent).toBe(0)
  })

  it('get AbortError at once for a signal that has fired, TimeoutError after their time, UnknownHashError for a hash nobody knows', async () => {
    const peer = await peers.create()
    const { cid } = rawBlock('nowhere')
    await expect(peer.get(cid, { signal: AbortSignal.abort() })).rejects.toThrow(AbortError)
    await expect(peer.get(cid, { timeoutMs: 50 })).rejects.toThrow(TimeoutError)
    await expect(peer.get(cid, { signal: AbortSignal.timeout(50) })).rejects.toThrow(TimeoutError)
    await expect(peer.get(CID.createV1(0x55, digest(0x9999, new Uint8Array(32))))).rejects.toThrow(UnknownHashError)
    expect(peer.wantlist()).toEqual([])
  })

  it('get NotFoundError that says who was asked, where nothing goes on', async () => {
    const peer = await peers.create({ limits: { giveUpMs: 300 } })
    await connect(peer, await peers.create())
    await expect(peer.get(rawBlock('nowhere').cid)).rejects.toThrow(/1 connected, 1 said DONT_HAVE/)
  })

  it('get identity CIDs answered on the spot, and refused where they are over-long', async () => {
    const peer = await peers.create()
    expect(new TextDecoder().decode(await peer.get(CID.parse('bafyqacnbmrqxgzdgdeaui').toV1()))).toContain('asdf')
    const long = CID.createV1(0x55, digest(0, new Uint8Array(1024 * 1024)))
    await expect(peer.get(long)).rejects.toThrow('identity')
  })

  it('get NotFoundError in spite of a signal, where they say that it is not for waiting', async () => {
    const peer = await peers.create({ limits: { giveUpMs: 300 } })
    await connect(peer, await peers.create())
    const { signal } = new AbortController()
    await expect(peer.get(rawBlock('nowhere').cid, { signal, patient: false })).rejects.toThrow(NotFoundError)
  })

  it('get the block of no bytes without asking anybody, and it is stored', async () => {
    const peer = await peers.create()
    const { cid } = rawBlock('none', 0)
    expect(await peer.get(cid)).toHaveLength(0)
    expect(await peer.has(cid)).toBe(true)
    expect(peer.stat().fetch.wantsSent).toBe(0)
  })

  it('get StoppedError when the session is closed or the peer stops', async () => {
    const peer = await peers.create()
    const session = peer.createSession()
    const waiting = session.get(rawBlock('nowhere').cid)
    session.close()
    await expect(waiting).rejects.toThrow(StoppedError)
    await expect(session.get(rawBlock('nowhere').cid)).rejects.toThrow(StoppedError)
    const other = peer.get(rawBlock('nowhere').cid)
    await Promise.all([expect(other).rejects.toThrow(StoppedError), peer.stop()])
  })

  it('see what happens to their want', async () => {
    const block = rawBlock('progress')
    const provider = await peers.provider([block])
    const peer = await peers.create()
    await connect(peer, provider)
    const events: FetchProgress[] = []
    await peer.get(block.cid, { onProgress: (event) => events.push(event) })
    expect(events.map((event) => event.type)).toEqual(['shardswap:want', 'shardswap:block'])
    expect(events[1]?.detail).toMatchObject({ cid: block.cid, peer: provider.peerId.toString(), bytes: 1024 })
  })
})
