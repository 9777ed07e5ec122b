/** [F34] Messages that lack what most have, or are broken in any way: the first are taken, the others cost their stream. */
import type { Connection } from '@libp2p/interface'
import { afterEach, describe, expect, it } from 'vitest'
import { concat, framed, hex, payload, presences, rawCid, rawPrefix, seeded, sha256, varint, wantlist } from './bytes.ts'
import { PeerChild } from './peer-child.ts'
import { openStream, RawPeer, write } from './raw.ts'

const MiB = 1024 * 1024
const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(stops.splice(0).map(async (stop) => await stop()))
})

interface Pair {
  readonly peer: PeerChild
  readonly raw: RawPeer
  readonly connection: Connection
}

async function pair(): Promise<Pair> {
  const [peer, raw] = await Promise.all([PeerChild.start(), RawPeer.start()])
  stops.push(
    async () => await peer.stop(),
    async () => await raw.stop()
  )
  return { peer, raw, connection: await raw.dial(peer.address) }
}

/** A block goes through the peer to the hostile one's own connection: it is alive, and has not shut it out. */
async function isServed({ peer, raw, connection }: Pair, seed: number): Promise<void> {
  await peer.tell({ type: 'put', seed, size: 2000, count: 1 }, 'done')
  const bytes = seeded(seed, 2000)
  await write(await openStream(connection), wantlist([{ cid: rawCid(bytes) }]))
  await raw.until(() => raw.answers().includes(`block ${hex(rawPrefix)} ${hex(sha256(bytes))}`))
}

function field(number: number, bytes: Uint8Array): Uint8Array {
  return concat(varint((number << 3) | 2), varint(bytes.length), bytes)
}

/** A framed message without a wantlist, which those that we write otherwise have, though it be empty. */
function bare(...fields: readonly Uint8Array[]): Uint8Array {
  return framed(concat(...fields))
}

const blockOf = (data: Uint8Array): Uint8Array => field(3, concat(field(1, rawPrefix), field(2, data)))

describe('[F34] what is sparse is taken', () => {
  it('a message of a block alone delivers it', async () => {
    const { peer, raw, connection } = await pair()
    const data = seeded(11, 3000)
    const getting = peer.tell({ type: 'get', cid: rawCid(data), timeoutMs: 20_000 }, 'block')
    await raw.until(() => raw.wanted().length > 0)
    await write(await openStream(connection), bare(blockOf(data)))
    expect(hex((await getting).bytes)).toBe(hex(data))
  })

  it('presences alone, an empty message, unknown fields and a block without data harm nobody', async () => {
    const all = await pair()
    const stream = await openStream(all.connection)
    const presence = field(4, concat(field(1, rawCid(seeded(1, 10))), Uint8Array.of(0x10, 1)))
    const unknown = concat(field(900, seeded(2, 100)), varint(77 << 3), varint(5))
    const noData = field(3, field(1, rawPrefix))
    for (const message of [bare(presence), bare(), bare(unknown), bare(noData), bare(presence, unknown, noData)])
      await write(stream, message)
    await isServed(all, 500)
    expect(stream.status).toBe('open')
  })
})

describe('[F34] what is malformed costs its stream at most', () => {
  it('CIDs of no and one byte, a multihash cut short, a prefix of ten bytes of varint', async () => {
    const all = await pair()
    const entry = (cid: Uint8Array): Uint8Array => bare(field(1, field(1, field(1, cid))))
    const cids = [new Uint8Array(0), Uint8Array.of(1), rawCid(seeded(1, 10)).subarray(0, 20), new Uint8Array(10).fill(0xff)]
    const prefix = bare(field(3, concat(field(1, new Uint8Array(10).fill(0xff)), field(2, seeded(1, 10)))))
    for (const message of [...cids.map(entry), prefix]) await write(await openStream(all.connection), message).catch(() => undefined)
    await isServed(all, 501)
    expect(all.connection.status).toBe('open')
  })

  it('10,000 messages with bytes changed at random: no crash, no jump of memory', { timeout: 240_000 }, async () => {
    const all = await pair()
    const { peer, connection } = all
    await isServed(all, 502)
    const before = await peer.stat()
    const blocks = Array.from({ length: 3 }, (_, seed) => ({ prefix: rawPrefix, data: seeded(seed, 200) }))
    const whole = concat(
      ...[
        wantlist(Array.from({ length: 5 }, (_, seed) => ({ cid: rawCid(seeded(seed, 20)), sendDontHave: true }))),
        payload(blocks),
        presences([{ cid: rawCid(seeded(9, 20)), type: 1 }])
      ].map((message) => message.subarray(message[0] !== undefined && message[0] >= 0x80 ? 2 : 1))
    )
    const random = seeded(4711, 8 * 10_000)
    const sender = async (from: number): Promise<void> => {
      for (let count = from; count < 10_000; count += 50) {
        const changed = Uint8Array.from(whole)
        for (let change = 0; change < 1 + (count % 4); change++) {
          const [high = 0, low = 0] = random.subarray(8 * count + 2 * change)
          changed[((high << 8) | low) % changed.length] = high ^ low
        }
        const stream = await openStream(connection)
        await write(stream, framed(changed)).catch(() => undefined)
        await stream.close().catch(() => undefined)
      }
    }
    await Promise.all(Array.from({ length: 50 }, async (_, from) => await sender(from)))
    expect(peer.alive).toBe(true)
    const after = await peer.stat()
    // Most changes leave a message that can be read: it arrived, and its blocks were asked for by nobody.
    expect(after.fetch.unaskedBlocks).toBeGreaterThan(1000)
    expect(after.liveBytes - before.liveBytes).toBeLessThan(16 * MiB)
    const other = await RawPeer.start()
    stops.push(async () => await other.stop())
    await isServed({ peer, raw: other, connection: await other.dial(peer.address) }, 503)
  })
})
