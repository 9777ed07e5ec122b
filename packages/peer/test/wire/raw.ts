import { setTimeout as sleep } from 'node:timers/promises'
import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { identify } from '@libp2p/identify'
import type { Connection, Libp2p, PrivateKey, Stream } from '@libp2p/interface'
import { tcp } from '@libp2p/tcp'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { concat, hex, parse, payload, presences, readVarint, sha256 } from './bytes.ts'
import type { Entry, Parsed } from './bytes.ts'

export const ids = {
  '1.2.0': '/ipfs/bitswap/1.2.0',
  '1.1.0': '/ipfs/bitswap/1.1.0',
  '1.0.0': '/ipfs/bitswap/1.0.0',
  unversioned: '/ipfs/bitswap'
} as const

export type Version = keyof typeof ids

/**
 * A peer that speaks Bitswap's bytes by hand over real libp2p. It answers
 * nothing by itself; it keeps the messages that it gets, in order.
 */
export class RawPeer {
  readonly #libp2p: Libp2p
  readonly inbox: Parsed[] = []
  /** Called with each message and the connection that it came on. */
  onMessage: (message: Parsed, connection: Connection) => void = () => {}
  /** Reads nothing of what it is sent: the other side's writes get stuck. */
  deaf = false
  /** Streams that were opened towards us, by protocol. */
  readonly inbound: Stream[] = []
  readonly #answers: string[] = []
  #changed: () => void = () => {}

  private constructor(libp2p: Libp2p) {
    this.#libp2p = libp2p
  }

  /** `versions` are what it accepts, so what the other side can open to it. */
  static async start(versions: readonly Version[] = ['1.2.0'], privateKey?: PrivateKey): Promise<RawPeer> {
    const libp2p = await createLibp2p({
      ...(privateKey === undefined ? {} : { privateKey }),
      addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
      transports: [tcp()],
      connectionEncrypters: [noise()],
      streamMuxers: [yamux()],
      services: { identify: identify() },
      connectionMonitor: { enabled: false },
      start: false
    })
    const peer = new RawPeer(libp2p)
    const handler = (stream: Stream, connection: Connection): void => peer.#read(stream, connection)
    await libp2p.handle(
      versions.map((version) => ids[version]),
      handler,
      { maxInboundStreams: 1024, maxOutboundStreams: 1024 }
    )
    await libp2p.start()
    return peer
  }

  get id(): string {
    return this.#libp2p.peerId.toString()
  }

  get address(): string {
    return this.#libp2p.getMultiaddrs()[0]?.toString() ?? ''
  }

  /** `isNew`: even where a connection exists. */
  async dial(address: string, isNew = false): Promise<Connection> {
    return this.#libp2p.dial(multiaddr(address), { force: isNew })
  }

  get connections(): Connection[] {
    return this.#libp2p.getConnections()
  }

  async stop(): Promise<void> {
    await this.#libp2p.stop()
  }

  /** Resolves with the messages once `done` holds for them. */
  async until(done: (inbox: readonly Parsed[]) => boolean): Promise<readonly Parsed[]> {
    while (!done(this.inbox)) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve
      })
    }
    return this.inbox
  }

  /** The CIDs wanted from it so far, in hex, one for each time; cancels left out. */
  wanted(): string[] {
    return this.inbox.flatMap(({ entries }) => entries.filter((entry) => !entry.cancel).map(({ cid }) => hex(cid)))
  }

  /** Everything that was answered so far: `block …`, `old-block …`, `have …`, `dont-have …`, digests or CIDs in hex. */
  answers(): readonly string[] {
    return this.#answers
  }

  #take(message: Parsed, connection: Connection): void {
    this.inbox.push(message)
    this.#answers.push(...answersIn(message))
    this.onMessage(message, connection)
    this.#changed()
  }

  #read(stream: Stream, connection: Connection): void {
    this.inbound.push(stream)
    if (this.deaf) {
      stream.pause()
      return
    }
    let arrived: Uint8Array[] = []
    let arrivedBytes = 0
    let neededBytes = 1
    stream.addEventListener('message', (event) => {
      arrived.push(event.data.subarray())
      arrivedBytes += event.data.byteLength
      while (arrivedBytes >= neededBytes) {
        const bytes = concat(...arrived)
        const length = readVarint(bytes, 0)
        const end = length ? length.next + length.value : bytes.length + 1
        const whole = length !== undefined && bytes.length >= end
        if (whole) this.#take(parse(bytes.subarray(length.next, end)), connection)
        const rest = whole ? bytes.subarray(end) : bytes
        arrived = [rest]
        arrivedBytes = rest.length
        neededBytes = whole ? 1 : end
      }
    })
    stream.addEventListener('remoteCloseWrite', () => void stream.close().catch(() => {}))
  }
}

function answersIn(message: Parsed): string[] {
  return [
    ...message.oldBlocks.map((data) => `old-block ${hex(sha256(data))}`),
    ...message.payload.map(({ prefix, data }) => `block ${prefix} ${hex(sha256(data))}`),
    ...message.presences.map(({ cid, type }) => `${type === 0 ? 'have' : 'dont-have'} ${cid}`)
  ]
}

/** What a scripted peer does with one want: the framed messages that answer it. */
export type Answer = (entry: Entry, cid: string) => readonly Uint8Array[]

/** Lets `raw` answer wants by script, on one stream to `address`, in the order in which they come, each message's after a delay. */
export async function answerWants(raw: RawPeer, address: string, answer: Answer, delayMs = 0): Promise<Connection> {
  const connection = await raw.dial(address)
  const stream = await openStream(connection)
  let last: Promise<void> = Promise.resolve()
  raw.onMessage = ({ entries }) => {
    const frames = entries.filter((entry) => !entry.cancel).flatMap((entry) => answer(entry, hex(entry.cid)))
    if (frames.length === 0) return
    // One write after another; a stream that was reset ends the script.
    last = last
      .then(async () => (delayMs > 0 ? sleep(delayMs) : undefined))
      .then(async () => write(stream, concat(...frames)))
      .catch(() => {})
  }
  return connection
}

/** Answers as an honest peer would: HAVE, the block, or DONT_HAVE where it is asked for. */
export function honest(blocks: ReadonlyMap<string, { prefix: Uint8Array; data: Uint8Array }>): Answer {
  return (entry, cid) => {
    const block = blocks.get(cid)
    if (block === undefined) return entry.sendDontHave ? [presences([{ cid: entry.cid, type: 1 }])] : []
    return [entry.have ? presences([{ cid: entry.cid, type: 0 }]) : payload([block])]
  }
}

/** Opens a stream of one version and no other. */
export async function openStream(connection: Connection, version: Version = '1.2.0'): Promise<Stream> {
  return connection.newStream([ids[version]], { maxOutboundStreams: 1024 })
}

/** Writes with back-pressure. Throws where the stream was reset. */
export async function write(stream: Stream, bytes: Uint8Array): Promise<void> {
  const step = 256 * 1024
  for (let at = 0; at < bytes.length; at += step) {
    if (!stream.send(bytes.subarray(at, at + step)) && !(await drained(stream))) throw new Error('the stream was reset')
  }
}

/** True once there is room, false once the stream is closed. */
async function drained(stream: Stream): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (event: Event): void => {
      stream.removeEventListener('drain', end)
      stream.removeEventListener('close', end)
      resolve(event.type === 'drain')
    }
    stream.addEventListener('drain', end)
    stream.addEventListener('close', end)
  })
}

/** Writes until the other side resets the stream, or all is written; then waits for the reset. */
export async function writeUntilReset(stream: Stream, bytes: Uint8Array): Promise<void> {
  // What was buffered before the reset came back is no error.
  await write(stream, bytes).catch(() => {})
  while (stream.status === 'open') await sleep(1)
}
