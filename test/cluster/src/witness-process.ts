/** A hand-made peer in a process of its own; see witness-api.ts. */
import { setTimeout as sleep } from 'node:timers/promises'
import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { identify } from '@libp2p/identify'
import type { Stream } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { tcp } from '@libp2p/tcp'
import { multiaddr } from '@multiformats/multiaddr'
import type { Block } from '@shardswap/interface'
import { decodeMessage, encodeMessages, FrameDecoder, type OutgoingMessage, protocolIds } from '@shardswap/protocol'
import { serveCommands } from './child.ts'
import { createLibp2p } from 'libp2p'
import { CID } from 'multiformats/cid'
import { pEvent } from 'p-event'
import { Client } from './clients.ts'
import { addFile, blocksOf } from './content.ts'
import type { WitnessCommands, WitnessScript } from './witness-api.ts'

const libp2p = await createLibp2p({
  addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
  transports: [tcp()],
  connectionEncrypters: [noise()],
  streamMuxers: [yamux()],
  services: { identify: identify() },
  connectionMonitor: { enabled: false }
})
const offers = new Map<string, { readonly block: Block; readonly group: string }>()
const clients = new Map<string, Client>()
const streams = new Map<string, Promise<Stream>>()
const answering = new Set<string>()
let script: WitnessScript = {}

function keyOf(cid: CID): string {
  return Buffer.from(cid.multihash.bytes).toString('hex')
}

function clientOf(peer: string): Client {
  const client = clients.get(peer) ?? new Client(peer, (key) => offers.get(key)?.group)
  clients.set(peer, client)
  return client
}

async function openStream(peer: string): Promise<Stream> {
  const stream = await libp2p.dialProtocol(peerIdFromString(peer), [...protocolIds])
  stream.addEventListener('close', () => streams.delete(peer))
  return stream
}

/** Writes on one long-lived stream to that peer. */
async function send(peer: string, message: OutgoingMessage): Promise<void> {
  const opening = streams.get(peer) ?? openStream(peer)
  streams.set(peer, opening)
  try {
    const stream = await opening
    for (const frame of encodeMessages(message, '1.2.0'))
      if (!stream.send(frame)) await pEvent(stream, 'drain', { rejectionEvents: ['close'] })
  } catch {
    // The client went; whatever it wanted ends with it.
    streams.delete(peer)
  }
}

async function answerHaves(client: Client, haves: ReturnType<Client['take']>): Promise<void> {
  const presences = haves.flatMap(({ key, entry }) => {
    const answer = offers.has(key) ? (script.toHave ?? 'have') : 'dont-have'
    if (answer === 'nothing' || (answer === 'dont-have' && !entry.sendDontHave)) return []
    client.answer(key, answer)
    return [{ cid: entry.cid, presence: answer }]
  })
  if (presences.length > 0) await send(client.peer, { presences })
}

/** Answers the client's want-blocks one after another, for as long as the script lets it. */
async function answerBlocks(client: Client): Promise<void> {
  if (answering.has(client.peer)) return
  answering.add(client.peer)
  for (;;) {
    if ((script.toBlock ?? 'block') === 'nothing' || client.seen().blocksSent >= (script.blocksMax ?? Infinity)) break
    const due = client.due.shift()
    if (due === undefined) break
    if ((script.blockEveryMs ?? 0) > 0) await sleep(script.blockEveryMs)
    if (!client.stands(due.key)) continue
    const offer = offers.get(due.key)
    if (offer === undefined || script.toBlock === 'dont-have') {
      if (!due.entry.sendDontHave) continue
      client.answer(due.key, 'dont-have')
      await send(client.peer, { presences: [{ cid: due.entry.cid, presence: 'dont-have' }] })
    } else {
      client.answer(due.key, 'block')
      await send(client.peer, { blocks: [script.toBlock === 'corrupt' ? corrupted(offer.block) : offer.block] })
    }
  }
  answering.delete(client.peer)
}

/** The same block under the same CID, but for one bit. */
function corrupted({ cid, bytes }: Block): Block {
  const flipped = Uint8Array.from(bytes)
  flipped[0] = (flipped[0] ?? 0) ^ 1
  return { cid, bytes: flipped }
}

async function take(peer: string, frame: Uint8Array): Promise<void> {
  const client = clientOf(peer)
  const haves = client.take(decodeMessage(frame))
  await Promise.all([answerHaves(client, haves), answerBlocks(client)])
}

await libp2p.handle(
  [...protocolIds],
  (stream, connection) => {
    const decoder = new FrameDecoder()
    stream.addEventListener('message', ({ data }) => {
      decoder.push(data)
      for (const frame of decoder.frames()) void take(connection.remotePeer.toString(), frame)
    })
    stream.addEventListener('remoteCloseWrite', () => void stream.close().catch(() => undefined))
  },
  { maxInboundStreams: 256, maxOutboundStreams: 256 }
)

const commands: WitnessCommands = {
  id: async () => libp2p.peerId.toString(),
  addresses: async () => libp2p.getMultiaddrs().map(String),
  connect: async (address) => (await libp2p.dial(multiaddr(address))).remotePeer.toString(),
  offerFile: async (group, spec) =>
    await addFile(spec, {
      put: async (cid, bytes) => {
        offers.set(keyOf(cid), { block: { cid, bytes }, group })
      }
    }),
  offerBlocks: async (group, spec) => {
    for (const block of blocksOf(spec)) offers.set(keyOf(block.cid), { block, group })
  },
  script: async (next) => {
    script = next
    await Promise.all([...clients.values()].map(answerBlocks))
  },
  ask: async (peer, cids, wantType) => {
    const entries = cids.map((cid) => ({ cid: CID.parse(cid), priority: 1, cancel: false, wantType, sendDontHave: true }))
    await send(peer, { entries })
  },
  seen: async (peer, group) => clientOf(peer).seen(group)
}

serveCommands(commands, async () => await libp2p.stop())
