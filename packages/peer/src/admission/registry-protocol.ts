import { asError, type PeerKey, peerKey } from '@shardswap/interface'
import type { Connection, Logger, Stream } from '@libp2p/interface'
import type { Host } from '../network/host.ts'
import { Allowance } from '../reliability/allowance.ts'
import { ended, exchangeFrames, readFrame, sendFrame } from '../reliability/frame.ts'
import type { RegistryShellLimits } from './limits.ts'
import {
  decodeRegistryAnswer,
  decodeRegistryFrame,
  encodeRegistryAnswer,
  encodeRegistryFrame,
  type RegistryAnswer,
  type RegistryFrame
} from './registry-frame.ts'
import { Speakers } from './speakers.ts'
import type { RegistryRefusal } from './types.ts'

/** By which peers show who stands behind them, tell each other bindings, and that they are busy. */
export const registryProtocol = '/shardswap/registry/1.0.0'

/** Streams of one connection at once. */
const registryStreamsMax = 4
/** Peers whose allowance is remembered. */
const registryPeersMax = 4096
/** An answer has at most so many bytes. */
const registryAnswerBytesMax = 512
const registryExchange = {
  protocol: registryProtocol,
  streamsMax: registryStreamsMax,
  answerBytesMax: registryAnswerBytesMax,
  read: decodeRegistryAnswer
}
/** What all peers together may do is counted under this name. */
const everybody = peerKey('everybody')

export interface RegistryProtocolPorts {
  readonly libp2p: Host
  readonly log: Logger
  readonly limits: RegistryShellLimits
  readonly nowMs: () => number
  readonly onMet: (peer: PeerKey) => void
  readonly onParted: (peer: PeerKey) => void
  /** `isFirst`: of its connection. */
  readonly onFrame: (peer: PeerKey, frame: RegistryFrame, isFirst: boolean) => Promise<RegistryAnswer>
  readonly onRefused: (why: RegistryRefusal) => void
}

/** Frames of the registry's protocol: one a stream, and its answer. Bounded in bytes, number, rate and time. */
export class RegistryProtocol {
  readonly speakers: Speakers
  readonly #ports: RegistryProtocolPorts
  readonly #frames: Allowance
  readonly #allFrames: Allowance
  readonly #stopping = new AbortController()
  /** Frames that are being read or taken, of each peer and of all. */
  readonly #reading = new Map<PeerKey, number>()
  readonly #takes = new Set<Promise<void>>()
  /** What ends each of them, the oldest first. */
  readonly #ends = new Set<AbortController>()
  /** Connections on which something was told. */
  readonly #heard = new WeakSet<Connection>()
  #handles = false

  constructor(ports: RegistryProtocolPorts) {
    this.#ports = ports
    const { framesBurst, frameRefillMs, allFramesBurst, allFrameRefillMs } = ports.limits
    this.#frames = new Allowance({ burst: framesBurst, refillMs: frameRefillMs, peersMax: registryPeersMax })
    this.#allFrames = new Allowance({ burst: allFramesBurst, refillMs: allFrameRefillMs, peersMax: 1 })
    const { libp2p, log, onMet, onParted } = ports
    this.speakers = new Speakers({ libp2p, log, protocol: registryProtocol, onMet, onParted })
  }

  /** Frames that are being read or taken. */
  get reading(): number {
    return this.#takes.size
  }

  async start(): Promise<void> {
    const streams = { maxInboundStreams: registryStreamsMax, maxOutboundStreams: registryStreamsMax }
    await this.#ports.libp2p.handle(registryProtocol, this.#onStream, streams)
    this.#handles = true
    await this.speakers.start()
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the peer was stopped'))
    this.speakers.stop()
    if (this.#handles) await this.#ports.libp2p.unhandle(registryProtocol)
    this.#handles = false
    await Promise.all(this.#takes)
  }

  /** Tells a peer something; resolves to its answer, undefined where there is none. Never rejects. */
  async tell(peer: PeerKey, frame: RegistryFrame, signal?: AbortSignal): Promise<RegistryAnswer | undefined> {
    const connection = this.speakers.connectionTo(peer)
    if (connection === undefined || this.#stopping.signal.aborted) return undefined
    const ends = [this.#stopping.signal, AbortSignal.timeout(this.#ports.limits.exchangeTimeoutMs)]
    const end = AbortSignal.any(signal === undefined ? ends : [...ends, signal])
    try {
      return await exchangeFrames(connection, encodeRegistryFrame(frame), registryExchange, end)
    } catch (error) {
      this.#ports.log.trace('%s was not told - %e', peer, error)
      return undefined
    }
  }

  readonly #onStream = (stream: Stream, connection: Connection): void => {
    const peer = peerKey(connection.remotePeer)
    const isFirst = !this.#heard.has(connection)
    if (!this.#begin(peer, isFirst)) {
      this.#ports.onRefused('too-often')
      stream.abort(new Error('it tells too much'))
      return
    }
    this.#heard.add(connection)
    const end = new AbortController()
    this.#ends.add(end)
    const taking = this.#take(stream, connection, isFirst, end.signal)
      .catch((error: unknown) => {
        this.#ports.log.trace('%s told nothing that could be taken - %e', peer, error)
        stream.abort(asError(error))
      })
      .finally(() => {
        this.#end(peer)
        this.#ends.delete(end)
        this.#takes.delete(taking)
      })
    this.#takes.add(taking)
  }

  async #take(stream: Stream, connection: Connection, isFirst: boolean, end: AbortSignal): Promise<void> {
    const { limits, onFrame, onRefused } = this.#ports
    const peer = peerKey(connection.remotePeer)
    const signal = AbortSignal.any([this.#stopping.signal, end, AbortSignal.timeout(limits.exchangeTimeoutMs)])
    let frame: RegistryFrame
    try {
      frame = decodeRegistryFrame(await readFrame(stream, limits.frameBytesMax, signal), limits)
    } catch (error) {
      onRefused('frame')
      throw error
    }
    // It speaks the protocol, whatever identify said so far; and it may be gone.
    this.speakers.meet(connection.remotePeer)
    if (!this.speakers.has(peer)) throw new Error('it is not connected any more')
    await sendFrame(stream, encodeRegistryAnswer(await onFrame(peer, frame, isFirst)), signal)
    await ended(stream, signal)
  }

  /**
   * Whether one more frame of the peer is taken. The first one of a connection is within nobody's limits but the peer's own: a
   * connection costs more than its frame, and whoever comes must not have to wait for what thousands have to tell. Where too
   * many are being read, the oldest makes room: who tells something is done within a round trip.
   */
  #begin(peer: PeerKey, isFirst: boolean): boolean {
    const { limits, nowMs } = this.#ports
    const reading = this.#reading.get(peer) ?? 0
    if (this.#stopping.signal.aborted || reading >= registryStreamsMax || !this.#frames.take(peer, nowMs())) return false
    if (!isFirst && !this.#allFrames.take(everybody, nowMs())) return false
    if (this.#ends.size >= limits.framesReadMax) {
      const [oldest] = this.#ends
      if (oldest !== undefined) this.#ends.delete(oldest)
      oldest?.abort(new Error('others have something to tell'))
    }
    this.#reading.set(peer, reading + 1)
    return true
  }

  #end(peer: PeerKey): void {
    const left = (this.#reading.get(peer) ?? 0) - 1
    if (left > 0) this.#reading.set(peer, left)
    else this.#reading.delete(peer)
  }
}
