import { type PeerKey, peerKey } from '@shardswap/interface'
import { type BitswapVersion, decodeMessage, type DecodedMessage, protocolIds, supportsHave, versionOf } from '@shardswap/protocol'
import type { Connection, IdentifyResult, Logger, PeerId, PeerUpdate, Stream } from '@libp2p/interface'
import type { Standing } from '@shardswap/broker'
import type { PeerLimits } from '../limits.ts'
import { FrameReader } from './frame-reader.ts'
import { ConnectionHealth } from './health.ts'
import type { Host } from './host.ts'
import { PeerLink } from './link.ts'
import { wasHungUp } from './hung-up.ts'
import { Redials } from './redials.ts'

/** What the network tells the exchange. */
export interface NetworkEvents {
  onConnected(peer: PeerKey, supportsHave: boolean): void
  onDisconnected(peer: PeerKey): void
  onBytes(peer: PeerKey, bytes: number): void
  /** A promise where the peer's next message has to wait, undecoded, and who asks again after it. */
  mayTake(peer: PeerKey): Promise<void> | undefined
  /** To decode what is no block in a message of the peer's took so long. */
  onTalk(peer: PeerKey, ms: number): void
  /** A message of so many bytes. A promise holds back the reading of the stream that it came on. */
  onMessage(peer: PeerKey, message: DecodedMessage, bytes: number): Promise<void> | undefined
  standingAt(peer: PeerKey): Standing[]
  /** Whether any block is wanted now. */
  isWanting(): boolean
}

interface RemotePeer {
  readonly key: PeerKey
  readonly id: PeerId
  readonly link: PeerLink
  readonly readers: Set<FrameReader>
  supportsHave: boolean
  /** Bytes of messages that wait to be decoded. */
  waitingBytes: number
  /** The connection that our stream is on. */
  outbound: Connection | undefined
}

/** How often incoming streams are looked over for messages that do not end, and connections for silence, at least. */
const sweepMaxMs = 5000
const sweepMinMs = 50

/** Turns libp2p's connections and streams into peers and messages. One peer, however many connections. */
export class Network {
  readonly #libp2p: Host
  readonly #limits: PeerLimits
  readonly #events: NetworkEvents
  readonly #log: Logger
  readonly #nowMs: () => number
  readonly #peers = new Map<PeerKey, RemotePeer>()
  readonly #health: ConnectionHealth
  readonly #redials: Redials
  /** Connections that we closed as dead. */
  readonly #dead = new WeakSet<Connection>()
  #sweep: NodeJS.Timeout | undefined
  #started = false
  /** The node's handlers are ours: where they are another peer's, they stay. */
  /** Protocols whose handler is ours. */
  readonly #handled: string[] = []

  constructor(libp2p: Host, limits: PeerLimits, events: NetworkEvents, log: Logger, nowMs: () => number) {
    this.#libp2p = libp2p
    this.#limits = limits
    this.#events = events
    this.#log = log
    this.#nowMs = nowMs
    this.#health = new ConnectionHealth(limits, { nowMs, onDead: (connection) => this.#onDead(connection) })
    this.#redials = new Redials(libp2p, limits, log, () => events.isWanting())
  }

  /** Listens first, then looks at the connections that exist: a peer seen twice is one peer. */
  async start(): Promise<void> {
    if (this.#started) return
    this.#started = true
    this.#libp2p.addEventListener('peer:identify', this.#onIdentify)
    this.#libp2p.addEventListener('peer:update', this.#onUpdate)
    this.#libp2p.addEventListener('connection:close', this.#onConnectionClose)
    const { messageTimeoutMs, silentMs } = this.#limits
    const everyMs = Math.max(sweepMinMs, Math.min(sweepMaxMs, messageTimeoutMs / 2, silentMs / 2))
    this.#sweep = setInterval(() => this.#look(), everyMs)
    this.#sweep.unref()
    const streams = this.#limits.inboundStreamsMax
    // One by one: where somebody else has one of them, those that were taken before must be given back.
    for (const protocol of protocolIds) {
      await this.#libp2p.handle(protocol, this.#onStream, { maxInboundStreams: streams, maxOutboundStreams: streams })
      this.#handled.push(protocol)
    }
    for (const connection of this.#libp2p.getConnections()) await this.#meetAgain(connection)
  }

  async stop(): Promise<void> {
    if (!this.#started) return
    this.#started = false
    clearInterval(this.#sweep)
    this.#health.stop()
    this.#redials.stop()
    this.#libp2p.removeEventListener('peer:identify', this.#onIdentify)
    this.#libp2p.removeEventListener('peer:update', this.#onUpdate)
    this.#libp2p.removeEventListener('connection:close', this.#onConnectionClose)
    for (const peer of this.#peers.values()) this.#part(peer)
    await this.#libp2p.unhandle(this.#handled.splice(0))
  }

  /** Resolves once the peer at the other end is known, has gone, or does not tell within its time. */
  async identified(connection: Connection, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    const key = peerKey(connection.remotePeer)
    if (this.#peers.has(key) || connection.status !== 'open') return
    const giveUp = AbortSignal.timeout(this.#limits.openStreamTimeoutMs)
    await new Promise<void>((resolve) => {
      const ends = [giveUp, ...(signal === undefined ? [] : [signal])]
      const done = (): void => {
        this.#libp2p.removeEventListener('peer:identify', onIdentify)
        connection.removeEventListener('close', done)
        for (const end of ends) end.removeEventListener('abort', done)
        resolve()
      }
      const onIdentify = (event: CustomEvent<IdentifyResult>): void => {
        if (event.detail.connection === connection) done()
      }
      this.#libp2p.addEventListener('peer:identify', onIdentify)
      connection.addEventListener('close', done)
      for (const end of ends) end.addEventListener('abort', done)
    })
    signal?.throwIfAborted()
  }

  link(peer: PeerKey): PeerLink | undefined {
    return this.#peers.get(peer)?.link
  }

  get connectedPeers(): number {
    return this.#peers.size
  }

  readonly #onIdentify = (event: CustomEvent<IdentifyResult>): void => {
    const { peerId, protocols, connection } = event.detail
    if (isUsable(connection)) this.#meet(peerId, protocols)
  }

  /** A peer may begin or cease to speak Bitswap while it is connected. */
  readonly #onUpdate = (event: CustomEvent<PeerUpdate>): void => {
    const { id, protocols } = event.detail.peer
    const known = this.#peers.get(peerKey(id))
    if (known !== undefined && !protocols.some((protocol) => versionOf(protocol) !== undefined)) {
      if (known.readers.size === 0) this.#part(known)
      return
    }
    if (this.#libp2p.getConnections(id).some(isUsable)) this.#meet(id, protocols)
  }

  readonly #onConnectionClose = (event: CustomEvent<Connection>): void => {
    const id = event.detail.remotePeer
    const peer = this.#peers.get(peerKey(id))
    if (peer === undefined) return
    if (this.#libp2p.getConnections(id).some((connection) => connection.status === 'open' && isUsable(connection))) {
      peer.link.retell()
      return
    }
    const isOwing = this.#events.standingAt(peer.key).length > 0
    this.#part(peer)
    if (isOwing && !wasHungUp(event.detail) && !this.#dead.has(event.detail)) this.#redials.lost(id, dialledAddr([event.detail]))
  }

  async #meetAgain(connection: Connection): Promise<void> {
    if (!isUsable(connection)) return
    try {
      const { protocols } = await this.#libp2p.peerStore.get(connection.remotePeer)
      if (this.#started && connection.status === 'open') this.#meet(connection.remotePeer, protocols)
    } catch (error) {
      // Not identified yet: `peer:identify` will tell.
      this.#log.trace('no record of %p yet - %e', connection.remotePeer, error)
    }
  }

  #meet(id: PeerId, protocols: readonly string[]): void {
    const versions = protocols.map(versionOf).filter((version) => version !== undefined)
    if (versions.length === 0) return
    this.#admit(id, versions.some(supportsHave))
  }

  #admit(id: PeerId, have: boolean): RemotePeer {
    const key = peerKey(id)
    const known = this.#peers.get(key)
    if (known !== undefined) {
      if (known.supportsHave !== have) this.#setSupport(known, have)
      return known
    }
    const link = new PeerLink(
      {
        open: async (signal) => await this.#openStream(id, signal),
        onVersion: (version) => this.#onVersion(key, version),
        standing: () => this.#events.standingAt(key),
        onUnreachable: (error) => this.#onUnreachable(key, error),
        onSaid: () => {
          if (peer.outbound !== undefined) this.#health.said(peer.outbound)
        },
        nowMs: this.#nowMs
      },
      this.#limits
    )
    const peer: RemotePeer = { key, id, link, readers: new Set(), supportsHave: have, waitingBytes: 0, outbound: undefined }
    this.#peers.set(key, peer)
    this.#redials.found(key)
    this.#log('peer %p speaks Bitswap, %s HAVE', id, have ? 'with' : 'without')
    this.#events.onConnected(key, have)
    return peer
  }

  #setSupport(peer: RemotePeer, have: boolean): void {
    peer.supportsHave = have
    this.#events.onConnected(peer.key, have)
  }

  #onVersion(key: PeerKey, version: BitswapVersion): void {
    const peer = this.#peers.get(key)
    if (peer !== undefined && peer.supportsHave !== supportsHave(version)) this.#setSupport(peer, supportsHave(version))
  }

  #part(peer: RemotePeer): void {
    if (!this.#peers.delete(peer.key)) return
    this.#log('peer %s is gone', peer.key)
    this.#events.onDisconnected(peer.key)
    peer.link.close()
    for (const reader of peer.readers) reader.reset(new Error('the connection went'))
  }

  #onUnreachable(key: PeerKey, error: Error): void {
    const peer = this.#peers.get(key)
    if (peer === undefined) return
    this.#log('no stream to %p can be had: closing its connections - %e', peer.id, error)
    const connections = this.#libp2p.getConnections(peer.id)
    this.#part(peer)
    if (error.name === 'UnsupportedProtocolError') return
    // A connection that carries no stream is worth nothing; a new one may be.
    for (const connection of connections) connection.abort(error)
    this.#redials.lost(peer.id, dialledAddr(connections))
  }

  /** Closing it in good order would need the other side. */
  #onDead(connection: Connection): void {
    this.#log('connection %s to %p opens no stream any more: it is closed', connection.id, connection.remotePeer)
    this.#dead.add(connection)
    connection.abort(new Error('the connection opens no stream any more'))
    const { remotePeer } = connection
    if (this.#peers.has(peerKey(remotePeer))) return
    this.#redials.lost(remotePeer, dialledAddr([connection]))
  }

  async #openStream(id: PeerId, signal: AbortSignal): Promise<Stream> {
    let failure: unknown = new Error('no open connection')
    const connections = this.#libp2p.getConnections(id).filter((connection) => connection.status === 'open' && isUsable(connection))
    for (const connection of this.#health.sort(connections)) {
      try {
        const stream = await connection.newStream([...protocolIds], { signal, maxOutboundStreams: this.#limits.inboundStreamsMax })
        this.#health.heard(connection)
        const peer = this.#peers.get(peerKey(id))
        if (peer !== undefined) peer.outbound = connection
        return stream
      } catch (error) {
        failure = error
        if (!signal.aborted) continue
        this.#health.timedOut(connection)
        break
      }
    }
    throw failure
  }

  readonly #onStream = (stream: Stream, connection: Connection): void => {
    if (!this.#started || !isUsable(connection)) {
      stream.abort(new Error('Bitswap does not run on limited connections'))
      return
    }
    this.#health.heard(connection)
    const version = versionOf(stream.protocol)
    const key = peerKey(connection.remotePeer)
    const peer = this.#peers.get(key) ?? this.#admit(connection.remotePeer, version === undefined || supportsHave(version))
    if (peer.outbound !== undefined && peer.outbound.timeline.open < connection.timeline.open) peer.link.leave()
    const reader: FrameReader = new FrameReader(stream, {
      onBytes: (bytes) => {
        this.#health.heard(connection)
        peer.link.heard()
        this.#events.onBytes(key, bytes)
        this.#boundPartials(peer, reader)
      },
      onFrame: (frame) => this.#onFrame(peer, frame),
      onEnd: (error) => {
        peer.readers.delete(reader)
        if (error !== undefined) this.#log.trace('a stream of %s ended - %e', key, error)
      }
    })
    peer.readers.add(reader)
    // It is about to ask or to answer; our own words will follow.
    peer.link.warm()
  }

  #onFrame(peer: RemotePeer, frame: Uint8Array): Promise<void> | undefined {
    const { key } = peer
    if (this.#peers.get(key) !== peer) return undefined
    const turn = this.#events.mayTake(key)
    if (turn === undefined) return this.#take(key, frame)
    peer.waitingBytes += frame.byteLength
    return turn.then(async () => {
      peer.waitingBytes -= frame.byteLength
      await this.#onFrame(peer, frame)
    })
  }

  #take(key: PeerKey, frame: Uint8Array): Promise<void> | undefined {
    const startMs = this.#nowMs()
    const message = decodeMessage(frame)
    let talkBytes = frame.byteLength
    for (const { data } of message.blocks) talkBytes -= data.byteLength
    this.#events.onTalk(key, ((this.#nowMs() - startMs) * talkBytes) / Math.max(1, frame.byteLength))
    return this.#events.onMessage(key, message, frame.byteLength)
  }

  /** Incomplete messages of one peer, and of all, stay under their limits: the stream that adds to the greatest goes. */
  #boundPartials(peer: RemotePeer, reader: FrameReader): void {
    if (reader.partialBytes === 0 && peer.waitingBytes === 0) return
    if (partialBytes(peer) > this.#limits.partialBytesPerPeerMax) {
      reader.reset(new Error(`incomplete messages exceed ${this.#limits.partialBytesPerPeerMax} bytes for this peer`))
    }
    let sum = 0
    let greatest = peer
    for (const each of this.#peers.values()) {
      const bytes = partialBytes(each)
      sum += bytes
      if (bytes > partialBytes(greatest)) greatest = each
    }
    if (sum <= this.#limits.partialBytesMax) return
    for (const each of greatest.readers) each.reset(new Error(`incomplete messages exceed ${this.#limits.partialBytesMax} bytes`))
  }

  #look(): void {
    this.#sweepReaders()
    this.#health.sweep(this.#libp2p.getConnections())
  }

  #sweepReaders(): void {
    const { messageTimeoutMs, slowBytesPerS } = this.#limits
    const nowMs = this.#nowMs()
    for (const peer of this.#peers.values()) {
      for (const reader of peer.readers) {
        if (reader.isOverdue(nowMs, messageTimeoutMs, slowBytesPerS)) reader.reset(new Error('a message took too long to arrive'))
      }
    }
  }
}

function isUsable(connection: Connection): boolean {
  return connection.limits === undefined
}

function partialBytes(peer: RemotePeer): number {
  let sum = peer.waitingBytes
  for (const reader of peer.readers) sum += reader.partialBytes
  return sum
}

/** Where a peer was reached by us, if it was. */
function dialledAddr(connections: readonly Connection[]): Connection['remoteAddr'] | undefined {
  return connections.find((connection) => connection.direction === 'outbound')?.remoteAddr
}
