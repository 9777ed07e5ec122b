/** Field reports about strangers that send what they like, at a peer that is used in each way: it lives, and serves others. */
import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { identify } from '@libp2p/identify'
import type { Connection, Stream } from '@libp2p/interface'
import { tcp } from '@libp2p/tcp'
import { multiaddr } from '@multiformats/multiaddr'
import { createPeer, type Peer } from '@shardswap/peer'
import { encodeMessages, type OutgoingMessage, protocolIds } from '@shardswap/protocol'
import { createLibp2p } from 'libp2p'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { sha256 } from 'multiformats/hashes/sha2'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ways } from '../src/ways.ts'

async function blockOf(text: string): Promise<{ cid: CID; bytes: Uint8Array }> {
  const bytes = Uint8Array.from(Buffer.from(text))
  return { bytes, cid: CID.createV1(0x55, await sha256.digest(bytes)) }
}

async function newPeer(): Promise<Peer> {
  const peer = await createPeer()
  onTestFinished(async () => await peer.stop())
  return peer
}

/** A connection of an identity that nobody knows, which answers nothing, and reads nothing but where it is to count. */
async function stranger(address: string, onBytes?: (bytes: number) => void): Promise<Connection> {
  const node = await createLibp2p({
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    services: { identify: identify() },
    connectionMonitor: { enabled: false }
  })
  onTestFinished(async () => await node.stop())
  const onStream = (stream: Stream): void => {
    if (onBytes === undefined) stream.pause()
    else stream.addEventListener('message', ({ data }) => onBytes(data.byteLength))
  }
  await node.handle([...protocolIds], onStream, { maxInboundStreams: 1024 })
  return await node.dial(multiaddr(address))
}

async function open(connection: Connection): Promise<Stream> {
  return await connection.newStream([...protocolIds], { maxOutboundStreams: 1024, signal: AbortSignal.timeout(10_000) })
}

/** Writes on a stream of its own, which is then closed; that the other side has reset it is its right. */
async function sendAlone(connection: Connection, ...frames: readonly Uint8Array[]): Promise<void> {
  const stream = await open(connection)
  try {
    for (const frame of frames) stream.send(frame)
    await stream.close()
  } catch {
    stream.abort(new Error('it was reset'))
  }
}

function frames(message: OutgoingMessage): Uint8Array[] {
  return Array.from(encodeMessages(message, '1.2.0'), (frame) => Uint8Array.from(frame.subarray()))
}

function wants(from: number, count: number): OutgoingMessage {
  const entries = Array.from({ length: count }, (_, at) => {
    const digest = Buffer.alloc(32)
    digest.writeUInt32BE(from + at)
    const wantType = at % 2 === 0 ? ('block' as const) : ('have' as const)
    return { cid: CID.createV1(0x55, createDigest(0x12, digest)), priority: 1, cancel: false, wantType, sendDontHave: true }
  })
  return { entries }
}

/** A message of which a few bytes are other ones, the same at each run. */
function mutated(whole: Uint8Array, run: number): Uint8Array {
  const bytes = Uint8Array.from(whole)
  let state = run + 1
  for (let change = 0; change < 1 + (run % 4); change++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    bytes[(state >>> 8) % bytes.length] = state & 255
  }
  return bytes
}

async function attack(address: string, pushed: readonly { cid: CID; bytes: Uint8Array }[]): Promise<void> {
  const [rude, greedy, pusher] = await Promise.all([stranger(address), stranger(address), stranger(address)])
  // [F31] Three bytes and half a close; [F34] nothing, an empty message, CIDs of no and of one byte, a wantlist cut short.
  const malformed = ['ffffff', '', '00', '060a040a020a00', '070a050a030a0101', '050a03ffffff']
  for (const hex of malformed) await sendAlone(rude, Buffer.from(hex, 'hex'))
  const [whole = new Uint8Array()] = frames(wants(0, 20))
  for (let run = 0; run < 300; run++) await sendAlone(rude, mutated(whole, run))
  // [F46] A frame of 5 MiB is announced; [F16] fifty streams begin a message and say no more.
  await sendAlone(rude, Buffer.from('8080c002', 'hex'), new Uint8Array(100_000))
  for (let count = 0; count < 50; count++) (await open(rude)).send(Buffer.from('6401', 'hex'))
  // [F20] More wants than anybody keeps, and [F40] blocks that nobody asked for.
  for (let from = 0; from < 20_000; from += 2000) await sendAlone(greedy, ...frames(wants(from, 2000)))
  await sendAlone(pusher, ...frames({ entries: [], blocks: [...pushed] }))
}

describe.each(ways)('in the way of $name', (way) => {
  test('[F08] one that is there first, reads what is wanted and says nothing holds nothing up', async () => {
    const used = await way.start()
    onTestFinished(async () => await used.stop())
    let heardBytes = 0
    await stranger(used.exchange.addresses()[0] ?? '', (bytes) => (heardBytes += bytes))
    const provider = await newPeer()
    const blocks = await Promise.all(Array.from({ length: 50 }, async (_, at) => await blockOf(`of fifty ${at}`)))
    for (const { cid, bytes } of blocks) await provider.put(cid, bytes)
    const signal = AbortSignal.timeout(20_000)
    const first = used.get(blocks[0]?.cid ?? CID.parse('bafkqaaa'), { signal })
    await expect.poll(() => heardBytes, { timeout: 20_000 }).toBeGreaterThan(0)
    await used.exchange.connect(provider.addresses()[0] ?? '')
    const got = await Promise.all([first, ...blocks.slice(1).map(async ({ cid }) => await used.get(cid, { signal }))])
    expect(got.map((bytes) => Buffer.from(bytes).toString())).toEqual(blocks.map(({ bytes }) => Buffer.from(bytes).toString()))
  })

  test(
    '[F16][F20][F31][F34][F40] strangers that send what they like are survived, and others are served',
    { timeout: 60_000 },
    async () => {
      const unhandled: unknown[] = []
      const onUnhandled = (reason: unknown): void => void unhandled.push(reason)
      process.on('unhandledRejection', onUnhandled)
      onTestFinished(() => void process.off('unhandledRejection', onUnhandled))
      const used = await way.start()
      onTestFinished(async () => await used.stop())
      const { exchange } = used
      const address = exchange.addresses()[0] ?? ''
      const pushed = await Promise.all(Array.from({ length: 200 }, async (_, at) => await blockOf(`nobody asked for ${at}`)))
      await attack(address, pushed)
      await expect.poll(() => exchange.stat().fetch.unaskedBlocks, { timeout: 20_000 }).toBeGreaterThanOrEqual(200)
      for (const { cid } of pushed) expect(await exchange.has(cid)).toBe(false)

      const [provider, client] = [await newPeer(), await newPeer()]
      const [theirs, ours] = [await blockOf('of the provider'), await blockOf('for the client')]
      await provider.put(theirs.cid, theirs.bytes)
      await exchange.put(ours.cid, ours.bytes)
      await exchange.connect(provider.addresses()[0] ?? '')
      await client.connect(address)
      expect(Buffer.from(await used.get(theirs.cid, { signal: AbortSignal.timeout(20_000) })).equals(theirs.bytes)).toBe(true)
      expect(Buffer.from(await client.get(ours.cid, { timeoutMs: 20_000 })).equals(ours.bytes)).toBe(true)
      const standing = exchange.ledgers().map(({ wants: kept }) => kept.length)
      expect(Math.max(...standing)).toBeLessThanOrEqual(1024)
      expect(unhandled).toEqual([])
    }
  )
})
