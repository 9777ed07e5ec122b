import type { Stream } from '@libp2p/interface'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { concat, framed, hex, payload, rawCid, rawPrefix, seeded, sha256, varint, wantlist, wantlistOfNothing } from './bytes.ts'
import { PeerChild } from './peer-child.ts'
import { openStream, RawPeer, write, writeUntilReset } from './raw.ts'

const KiB = 1024
const MiB = 1024 * KiB

/**
 * What one hostile peer may make the process hold, whatever it sends: read
 * buffers, half messages, two envelopes, its wants and what they are owed.
 */
const liveGrowthBytesMax = 96 * MiB
/** The same with garbage that is not collected yet, and memory that the allocator keeps. */
const rssGrowthBytesMax = 512 * MiB

let peer: PeerChild
let enemy: RawPeer
let friend: RawPeer
let friendStream: Stream
let seed = 1_000_000
let before = { rssBytes: 0, liveBytes: 0 }

beforeEach(async () => {
  peer = await PeerChild.start()
  enemy = await RawPeer.start()
  friend = await RawPeer.start()
  friendStream = await openStream(await friend.dial(peer.address))
  await friendIsServed()
  before = await peer.stat()
})

afterEach(async () => {
  await Promise.all([enemy.stop(), friend.stop()])
  await peer.stop()
})

/** A new block goes through the peer to an honest one that wants it. */
async function friendIsServed(): Promise<void> {
  const size = 2000
  await peer.tell({ type: 'put', seed, size, count: 1 }, 'done')
  const bytes = seeded(seed++, size)
  await write(friendStream, wantlist([{ cid: rawCid(bytes) }]))
  await friend.until(() => friend.answers().includes(`block ${hex(rawPrefix)} ${hex(sha256(bytes))}`))
}

/** The honest one wants a thousand blocks, which are there, at once. Returns how long they took. */
async function friendFetches(from: number): Promise<number> {
  const startMs = performance.now()
  const before = friend.answers().length
  await write(friendStream, wantlist(Array.from({ length: 1000 }, (_, index) => ({ cid: rawCid(seeded(from + index, 2000)) }))))
  await friend.until(() => friend.answers().length >= before + 1000)
  return performance.now() - startMs
}

function median(all: readonly number[]): number {
  return all.toSorted((a, b) => a - b)[all.length >> 1] ?? 0
}

/** The limits of memory that are passed now. */
async function exceeded(): Promise<string[]> {
  const { rssBytes, liveBytes } = await peer.stat()
  const passed: string[] = []
  if (liveBytes - before.liveBytes > liveGrowthBytesMax) passed.push(`live bytes grew by ${liveBytes - before.liveBytes}`)
  if (rssBytes - before.rssBytes > rssGrowthBytesMax) passed.push(`resident bytes grew by ${rssBytes - before.rssBytes}`)
  return passed
}

describe('bad bytes cost their own stream and nothing else', () => {
  it('truncated frames', async () => {
    const connection = await enemy.dial(peer.address)
    const good = wantlist([{ cid: rawCid(seeded(1, 10)) }])
    for (let cut = 0; cut < good.length; cut += 3) {
      const stream = await openStream(connection)
      await write(stream, good.subarray(0, cut))
      if (cut % 2 === 0) await stream.close()
      else stream.abort(new Error('the test resets it'))
    }
    await friendIsServed()
    expect(connection.status).toBe('open')
  })

  it('[F46] a frame of 5 MiB', async () => {
    const connection = await enemy.dial(peer.address)
    const other = await openStream(connection)
    await write(other, wantlist([{ cid: rawCid(seeded(2, 10)) }]))
    const stream = await openStream(connection)
    await writeUntilReset(stream, framed(new Uint8Array(5 * MiB)))
    await friendIsServed()
    // Another stream of the same connection still works.
    expect(connection.status).toBe('open')
    await peer.tell({ type: 'put', seed: 77, size: 3000, count: 1 }, 'done')
    const bytes = seeded(77, 3000)
    await write(other, wantlist([{ cid: rawCid(bytes) }]))
    await enemy.until(() => enemy.answers().includes(`block ${hex(rawPrefix)} ${hex(sha256(bytes))}`))
    expect(await exceeded()).toEqual([])
  })

  it('garbage: as a frame, as a length, as an entry, as a CID', async () => {
    const connection = await enemy.dial(peer.address)
    const all = [
      framed(seeded(3, 100 * KiB)),
      new Uint8Array(64).fill(0xff),
      seeded(4, MiB),
      // An entry that claims more than its message has.
      framed(Uint8Array.of(0x0a, 0x7f, 0x0a, 0x01)),
      // An entry whose CID is no CID, one with an empty CID, a payload whose prefix is none.
      framed(Uint8Array.of(0x0a, 0x06, 0x0a, 0x04, 0x0a, 0x02, 0xff, 0xff)),
      framed(Uint8Array.of(0x0a, 0x02, 0x0a, 0x00)),
      framed(Uint8Array.of(0x1a, 0x04, 0x0a, 0x02, 0xff, 0xff)),
      varint(0),
      varint(2 ** 40)
    ]
    for (const bytes of all) {
      await write(await openStream(connection), bytes).catch(() => {})
    }
    await friendIsServed()
    expect(connection.status).toBe('open')
    expect(await exceeded()).toEqual([])
  })

  it('an unknown want type, presence type or field keeps the rest of its message', async () => {
    const stream = await openStream(await enemy.dial(peer.address))
    await peer.tell({ type: 'put', seed: 5, size: 3000, count: 1 }, 'done')
    const bytes = seeded(5, 3000)
    const cid = rawCid(bytes)
    const odd = concat(Uint8Array.of(0x0a, 0x24), rawCid(seeded(6, 10)), Uint8Array.of(0x20, 0x09))
    const good = concat(Uint8Array.of(0x0a, 0x24), cid)
    const list = concat(...[odd, good].map((entry) => concat(Uint8Array.of(0x0a), varint(entry.length), entry)))
    const presence = concat(Uint8Array.of(0x22, 0x28, 0x0a, 0x24), cid, Uint8Array.of(0x10, 0x07))
    const unknown = Uint8Array.of(0x7a, 0x03, 1, 2, 3)
    await write(stream, framed(concat(Uint8Array.of(0x0a), varint(list.length), list, presence, unknown)))
    await enemy.until(() => enemy.answers().length > 0)
    expect(enemy.answers()).toEqual([`block ${hex(rawPrefix)} ${hex(sha256(bytes))}`])
  })
})

describe('floods', () => {
  it('100,000 unsolicited blocks are dropped and counted', async () => {
    const stream = await openStream(await enemy.dial(peer.address))
    for (let message = 0; message < 100; message++) {
      const blocks = Array.from({ length: 1000 }, (_, index) => ({
        prefix: rawPrefix,
        data: seeded(message * 1000 + index, 512)
      }))
      await write(stream, payload(blocks))
      if (message % 20 === 0) await friendIsServed()
    }
    await friendIsServed()
    let unasked = 0
    // The stream is read as fast as it is handled; ask until it has caught up.
    while (unasked < 100_000) unasked = (await peer.stat()).fetch.unaskedBlocks
    expect(unasked).toBe(100_000)
    expect((await peer.tell({ type: 'has', cid: rawCid(seeded(7, 512)) }, 'has')).has).toBe(false)
    expect(await exceeded()).toEqual([])
  }, 240_000)

  it('[F20] 1,000,000 wants of every kind from one peer, which reads no answer', async () => {
    enemy.deaf = true
    await peer.tell({ type: 'put', seed: 50_000, size: 2000, count: 1000 }, 'done')
    const aloneMs: number[] = []
    for (let time = 0; time < 5; time++) aloneMs.push(await friendFetches(50_000))
    before = await peer.stat()
    const connection = await enemy.dial(peer.address)
    let stream = await openStream(connection)
    const floodedMs: number[] = []
    for (let message = 0; message < 100; message++) {
      const kind = { have: message % 2 === 0, sendDontHave: message % 4 < 2 }
      // What waits to be read is bounded: a stream with more of it than that is reset, and the flood goes on by the next.
      if (stream.status !== 'open') stream = await openStream(connection)
      const written = write(stream, wantlistOfNothing(message * 10_000, 10_000, kind)).catch(() => undefined)
      if (message % 20 === 10) floodedMs.push(await friendFetches(50_000))
      await written
    }
    await friendIsServed()
    // A thousand blocks of 2,000 bytes take some thirty times as long behind what the enemy has written by then, 5 MB
    // at most; waiting for a timer, or for all that it wants, they would take hundreds of times as long.
    const slower = median(floodedMs) / median(aloneMs)
    expect(slower).toBeLessThan(100)
    const { wants } = await peer.stat(enemy.id)
    expect(wants).toBeGreaterThan(0)
    expect(wants).toBeLessThanOrEqual(1024)
    expect(await exceeded()).toEqual([])
  }, 240_000)

  it('1,000,000 wants for blocks that are here, from a peer that reads no answer', async () => {
    enemy.deaf = true
    const size = 64 * KiB
    await peer.tell({ type: 'put', seed: 40_000, size, count: 500 }, 'done')
    before = await peer.stat()
    const cids = Array.from({ length: 500 }, (_, index) => rawCid(seeded(40_000 + index, size)))
    const stream = await openStream(await enemy.dial(peer.address))
    const all = wantlist(Array.from({ length: 10_000 }, (_, index) => ({ cid: cids[index % 500] as Uint8Array })))
    for (let message = 0; message < 100; message++) {
      await write(stream, all)
      if (message % 20 === 0) await friendIsServed()
    }
    await friendIsServed()
    expect(await exceeded()).toEqual([])
  }, 240_000)

  it('streams that drip a byte at a time', async () => {
    const connection = await enemy.dial(peer.address)
    const streams: Stream[] = []
    for (let count = 0; count < 30; count++) {
      const stream = await openStream(connection)
      // Each claims a message of almost 4 MiB.
      await write(stream, varint(4 * MiB - 1))
      streams.push(stream)
    }
    for (let byte = 0; byte < 200; byte++) {
      for (const stream of streams) if (stream.status === 'open') await write(stream, Uint8Array.of(0x0a))
      if (byte % 50 === 0) await friendIsServed()
    }
    await friendIsServed()
    expect(await exceeded()).toEqual([])
  })

  it('streams that hold almost a whole message each', async () => {
    const connection = await enemy.dial(peer.address)
    for (let count = 0; count < 30; count++) {
      const stream = await openStream(connection)
      await write(stream, concat(varint(4 * MiB - 1), new Uint8Array(3 * MiB))).catch(() => {})
    }
    await friendIsServed()
    expect(await exceeded()).toEqual([])
  }, 60_000)
})
