import type { PeerKey, Random } from '@shardswap/interface'
import { exp } from '../engine/exact-math.ts'
import { Choosing } from './choosing.ts'
import type { Deadlines } from './deadlines.ts'
import { isInFlight, type Ask, type Peer, type Session, type Want } from './state.ts'

/** What stays of the old value when a new sample is smoothed in: per provider, and over all. */
const providerRetained = 0.5
const overallRetained = 0.8
/** Below it the term is nothing. */
const exponentMin = -100
/** Providers remembered; those of which nothing was heard for longest are forgotten. */
const providersMax = 4096

/** Smoothed; undefined before the first sample. */
interface Metrics {
  firstByteMs: number | undefined
  bytesPerMs: number | undefined
  success: number | undefined
}

/** One retrieval: the provider that has it, since when, and what came. */
interface Retrieval {
  peer: Peer
  sinceMs: number
  lastByteAtMs: number
  bytes: number
}

/**
 * As Lassie chooses: a session is a retrieval, from one provider at a time. The provider is drawn with weights: a
 * sum of terms for connecting, first byte, bandwidth and success, each smoothed and remembered across
 * sessions. After a failure the next is drawn. Its bandwidth term falls with bandwidth, as in the original.
 */
export class Lassie extends Choosing {
  readonly #random: Random
  readonly #metrics = new Map<PeerKey, Metrics>()
  readonly #retrievals = new Map<Session, Retrieval>()
  readonly #overall: Metrics = { firstByteMs: undefined, bytesPerMs: undefined, success: undefined }

  constructor(deadlines: Deadlines, random: Random) {
    // It asks for as much as it wants of the one provider; servers keep no more.
    super(deadlines, { wantsInFlightMax: 1024 })
    this.#random = random
  }

  protected override choose(_want: Want, candidates: readonly Peer[], session: Session, nowMs: number): Peer | undefined {
    const current = this.#retrievals.get(session)?.peer
    // The one provider's queue may be full: then the want waits for it.
    if (current !== undefined && this.providers(session).has(current) && !this.hasSpace(current)) return undefined
    if (current !== undefined && candidates.includes(current)) return current
    const peer = this.#draw(candidates)
    if (peer !== undefined) this.#begin(session, peer, nowMs)
    return peer
  }

  #begin(session: Session, peer: Peer, nowMs: number): void {
    this.#retrievals.set(session, { peer, sinceMs: nowMs, lastByteAtMs: nowMs, bytes: 0 })
  }

  #draw(candidates: readonly Peer[]): Peer | undefined {
    const scores = candidates.map((peer) => this.#score(peer))
    let rest = this.#random.next() * scores.reduce((sum, score) => sum + score, 0)
    for (const [index, peer] of candidates.entries()) {
      rest -= scores[index] ?? 0
      if (rest < 0) return peer
    }
    return candidates.at(-1)
  }

  #score({ key }: Peer): number {
    const metrics = this.#metrics.get(key)
    // Connections are there before the core hears of a peer, so every connect time is the mean.
    const connecting = exp(-1)
    const firstByte = term(metrics?.firstByteMs, this.#overall.firstByteMs)
    const bandwidth = term(metrics?.bytesPerMs, this.#overall.bytesPerMs)
    return connecting + firstByte + 0.5 * bandwidth + (metrics?.success ?? 1)
  }

  protected override blockReceived(want: Want, peer: Peer, bytes: number, nowMs: number): void {
    super.blockReceived(want, peer, bytes, nowMs)
    for (const session of want.sessions) {
      const retrieval = this.#retrievals.get(session)
      if (retrieval?.peer !== peer) continue
      if (retrieval.bytes === 0) this.#sample(peer, 'firstByteMs', nowMs - retrieval.sinceMs)
      retrieval.bytes += bytes
      retrieval.lastByteAtMs = nowMs
    }
  }

  protected override dontHaveReceived(ask: Ask, nowMs: number): void {
    super.dontHaveReceived(ask, nowMs)
    if (ask.type === 'want-block') this.#fail(ask.peer, ask.session, nowMs)
  }

  protected override askTimedOut(ask: Ask, nowMs: number): void {
    super.askTimedOut(ask, nowMs)
    if (ask.type === 'want-block') this.#fail(ask.peer, ask.session, nowMs)
  }

  protected override peerLeft(peer: Peer, lost: readonly Ask[], nowMs: number): void {
    super.peerLeft(peer, lost, nowMs)
    for (const session of this.sessions.values()) this.#fail(peer, session, nowMs)
  }

  protected override sessionClosed(session: Session, nowMs: number): void {
    super.sessionClosed(session, nowMs)
    const retrieval = this.#retrievals.get(session)
    this.#retrievals.delete(session)
    if (retrieval === undefined || retrieval.bytes === 0) return
    this.#sample(retrieval.peer, 'success', 1)
    const spanMs = retrieval.lastByteAtMs - retrieval.sinceMs
    if (spanMs > 0) this.#sample(retrieval.peer, 'bytesPerMs', retrieval.bytes / spanMs)
  }

  protected override recordsKept(): number {
    return super.recordsKept() + this.#retrievals.size
  }

  /** The retrieval from this provider is over: all that it was asked for is given to the next. */
  #fail(peer: Peer, session: Session, nowMs: number): void {
    if (this.#retrievals.get(session)?.peer !== peer) return
    this.#retrievals.delete(session)
    this.#sample(peer, 'success', 0)
    for (const ask of peer.asks.values()) if (ask.session === session && isInFlight(ask)) this.takeBack(ask, nowMs)
  }

  #sample({ key }: Peer, metric: keyof Metrics, value: number): void {
    const provider = this.#metrics.get(key) ?? { firstByteMs: undefined, bytesPerMs: undefined, success: undefined }
    this.#metrics.delete(key)
    this.#metrics.set(key, provider)
    provider[metric] = smooth(provider[metric], value, providerRetained)
    this.#overall[metric] = smooth(this.#overall[metric], value, overallRetained)
    if (this.#metrics.size <= providersMax) return
    for (const oldest of this.#metrics.keys()) {
      this.#metrics.delete(oldest)
      return
    }
  }
}

function smooth(before: number | undefined, sample: number, retained: number): number {
  return before === undefined ? sample : retained * before + (1 - retained) * sample
}

/** The part of a provider's score for one metric: what is not known is taken for the mean of all. */
function term(value: number | undefined, overall: number | undefined): number {
  if (value === undefined || overall === undefined || overall === 0) return exp(-1)
  return exp(Math.max(exponentMin, -value / overall))
}
