import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { identify } from '@libp2p/identify'
import type { Connection, Libp2p, Stream } from '@libp2p/interface'
import { tcp } from '@libp2p/tcp'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { pEvent } from 'p-event'
import { concat, hex, parse, readVarint, sha256 } from './bytes.ts'
import type { Parsed } from './bytes.ts'

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
  onMessage: (message: Parsed) => void = () => {}
  /** Reads nothing of what it is sent: the other side's writes get stuck. */
  deaf = false
  /** Streams that were opened towards us, by protocol. */
  readonly inbound: Stream[] = []
  #changed: () => void = () => {}

  private constructor(libp2p: Libp2p) {
    this.#libp2p = libp2p
  }

  /** `versions` are what it accepts, so what the other side can open to it. */
  static async start(versions: readonly Version[] = ['1.2.0']): Promise<RawPeer> {
    const libp2p = await createLibp2p({
      addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
      transports: [tcp()],
      connectionEncrypters: [noise()],
      streamMuxers: [yamux()],
      services: { identify: identify() },
      connectionMonitor: { enabled: false },
      start: false
    })
    const peer = new RawPeer(libp2p)
    const handler = (stream: Stream): void => peer.#read(stream)
    await libp2p.handle(
      versions.map((version) => ids[version]),
      handler,
      { maxInboundStreams: 1024 }
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

  async dial(address: string): Promise<Connection> {
    return this.#libp2p.dial(multiaddr(address))
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

  /** Everything that was answered so far: `block …`, `old-block …`, `have …`, `dont-have …`, digests or CIDs in hex. */
  answers(): string[] {
    return this.inbox.flatMap((message) => [
      ...message.oldBlocks.map((data) => `old-block ${hex(sha256(data))}`),
      ...message.payload.map(({ prefix, data }) => `block ${prefix} ${hex(sha256(data))}`),
      ...message.presences.map(({ cid, type }) => `${type === 0 ? 'have' : 'dont-have'} ${cid}`)
    ])
  }

  #read(stream: Stream): void {
    this.inbound.push(stream)
    if (this.deaf) {
      stream.pause()
      return
    }
    let buffered: Uint8Array = new Uint8Array(0)
    stream.addEventListener('message', (event) => {
      buffered = concat(buffered, event.data.subarray())
      for (;;) {
        const length = readVarint(buffered, 0)
        if (!length || buffered.length < length.next + length.value) return
        const message = parse(buffered.slice(length.next, length.next + length.value))
        buffered = buffered.subarray(length.next + length.value)
        this.inbox.push(message)
        this.onMessage(message)
        this.#changed()
      }
    })
    stream.addEventListener('remoteCloseWrite', () => void stream.close().catch(() => {}))
  }
}

/** Opens a stream of one version and no other. */
export async function openStream(connection: Connection, version: Version = '1.2.0'): Promise<Stream> {
  return connection.newStream([ids[version]], { maxOutboundStreams: 1024 })
}

/** Writes with back-pressure. */
export async function write(stream: Stream, bytes: Uint8Array): Promise<void> {
  const step = 256 * 1024
  for (let at = 0; at < bytes.length; at += step) {
    if (!stream.send(bytes.subarray(at, at + step))) await pEvent(stream, 'drain', { rejectionEvents: ['close'] })
  }
}
