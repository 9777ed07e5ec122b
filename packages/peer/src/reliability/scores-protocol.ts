import { asError, isCount, peerKey } from '@shardswap/interface'
import type { Connection, Logger, PeerId, PrivateKey, Stream } from '@libp2p/interface'
import { ScoreUnavailableError } from '../errors.ts'
import type { Host } from '../network/host.ts'
import { Allowance } from './allowance.ts'
import { ended, exchangeFrames, readFrame, sendFrame } from './frame.ts'
import { readStatement, signStatement, statementAbout } from './statement.ts'
import type { LineSource, OwnScore, OwnScoreOptions } from './types.ts'

/** By which a peer learns how it stands with us, and we with it. */
export const scoresProtocol = '/shardswap/scores/1.0.0'

/** The longest question and the longest answer, in bytes. */
const questionBytesMax = 1024
const answerBytesMax = 256 * 1024
/** What key, signature and framing take of an answer at most. */
const envelopeBytesMax = 2048
/** The longest name of a period. */
const periodLengthMax = 32

/** How long one exchange may take, in milliseconds: opening the stream, question and answer. */
const exchangeTimeoutMs = 10_000

/** Streams of one connection at once. */
const streamsMax = 4
const allowanceLimits = { burst: 64, refillMs: 2000, peersMax: 1024 }

/** What a peer asks. It is told of itself whatever it asks: by the identity that its connection has proved. */
interface Question {
  /** The accounting period; the present one where it is left out. */
  readonly period?: string
  /** The first receipt that is wanted, from 0. */
  readonly from?: number
}

export interface ScoresProtocolPorts {
  readonly libp2p: Host
  /** Signs what we state; without it we state nothing. */
  readonly privateKey: PrivateKey | undefined
  readonly log: Logger
  readonly nowMs: () => number
  readonly lines: LineSource
}

/** The side protocol: peers who are scored see all that concerns them, signed, and nothing of anybody else. */
export class ScoresProtocol {
  readonly #ports: ScoresProtocolPorts
  readonly #allowance = new Allowance(allowanceLimits)
  readonly #stopping = new AbortController()
  #handles = false

  constructor(ports: ScoresProtocolPorts) {
    this.#ports = ports
  }

  async start(): Promise<void> {
    if (this.#ports.privateKey === undefined) return
    await this.#ports.libp2p.handle(scoresProtocol, this.#onStream, { maxInboundStreams: streamsMax, maxOutboundStreams: streamsMax })
    this.#handles = true
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the peer was stopped'))
    if (this.#handles) await this.#ports.libp2p.unhandle(scoresProtocol)
    this.#handles = false
  }

  /** Asks a peer that is connected how we stand with it. Errors: ScoreUnavailableError, and the signal's reason. */
  async ask(peer: PeerId, options: OwnScoreOptions = {}): Promise<OwnScore> {
    const { signal, period, receiptsFrom } = options
    const ends = [this.#stopping.signal, AbortSignal.timeout(exchangeTimeoutMs), ...(signal === undefined ? [] : [signal])]
    const end = AbortSignal.any(ends)
    const question: Question = {
      ...(period === undefined ? {} : { period }),
      ...(receiptsFrom === undefined ? {} : { from: receiptsFrom })
    }
    try {
      const signed = await this.#exchange(peer, question, end)
      const statement = await readStatement(signed, { by: peer, about: this.#ports.libp2p.peerId })
      return { ...statement, signed }
    } catch (error) {
      signal?.throwIfAborted()
      throw new ScoreUnavailableError(`${peer.toString()} does not tell how we stand with it: ${reasonOf(error)}`, { cause: error })
    }
  }

  async #exchange(peer: PeerId, question: Question, signal: AbortSignal): Promise<Uint8Array> {
    if (peer.equals(this.#ports.libp2p.peerId)) throw new Error('it is this node itself')
    const connection = this.#ports.libp2p.getConnections(peer).find(({ status, limits }) => status === 'open' && limits === undefined)
    if (connection === undefined) throw new Error('it is not connected')
    const init = { protocol: scoresProtocol, streamsMax, answerBytesMax, read: (frame: Uint8Array) => frame }
    return await exchangeFrames(connection, new TextEncoder().encode(JSON.stringify(question)), init, signal)
  }

  readonly #onStream = (stream: Stream, connection: Connection): void => {
    this.#answer(stream, connection.remotePeer).catch((error: unknown) => {
      this.#ports.log.trace('%p was not told its score - %e', connection.remotePeer, error)
      stream.abort(asError(error))
    })
  }

  async #answer(stream: Stream, remote: PeerId): Promise<void> {
    const { privateKey, nowMs, libp2p, lines } = this.#ports
    if (privateKey === undefined) throw new Error('there is no key to sign with')
    if (!this.#allowance.take(peerKey(remote), nowMs())) throw new Error('it asks too often')
    const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(exchangeTimeoutMs)])
    const question = questionIn(await readFrame(stream, questionBytesMax, signal))
    const bytesMax = answerBytesMax - envelopeBytesMax
    const statement = await statementAbout(lines, { ...question, by: libp2p.peerId, about: remote, atMs: Date.now(), bytesMax })
    await sendFrame(stream, await signStatement(statement, privateKey), signal)
    await ended(stream, signal)
  }
}

/** What is asked; anything that is no question is thrown at. */
function questionIn(frame: Uint8Array): Question {
  const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(frame)) as unknown
  if (typeof value !== 'object' || value === null) throw new Error('the question is no object')
  const { period, from } = value as Partial<Record<keyof Question, unknown>>
  if (period !== undefined && (typeof period !== 'string' || period.length > periodLengthMax)) throw new Error('"period" names no period')
  if (from !== undefined && !isCount(from)) throw new Error('"from" is no count')
  return { ...(period === undefined ? {} : { period }), ...(from === undefined ? {} : { from }) }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'UnsupportedProtocolError') return 'it does not speak the protocol'
  if (error.name === 'TimeoutError') return `it took longer than ${exchangeTimeoutMs} ms`
  return error.message
}
