import type { SessionLimits } from './limits.ts'
import type { PeerView } from './views.ts'
import type { Want } from './want.ts'
import { deliveredFactor, grownLimit, newcomerFactor, timeoutFactor, weightOf } from './weight.ts'

/** Gain of the hit rate: a peer that had a part of the DAG and no more is found out within a few answers. */
const hitGain = 1 / 4
/** From this hit rate on a peer is taken to have the whole DAG: no want-haves are bought beside a want-block. */
const sureHit = 0.9
/** Answers that the long memory of hits goes back over: answers come in runs, refusals before blocks. */
const hitLongAnswers = 32
/** Answers after which a hit rate is believed. */
const answersMin = 4
/** How long a peer rests in a session after a second timeout in a row; doubles with each further one. */
const restStartMs = 500
const restMaxMs = 10_000
/** A block forgives a part of the timeouts before it. */
const timeoutsKept = 3 / 4

/** A peer in one session: what it delivered here, and what it may be asked. */
export class Candidate {
  readonly peer: PeerView
  /** Its leaf in the session's tree of weights. */
  index: number
  /** Blocks received from it in this session. */
  blocks = 0
  /** Timeouts in this session, less what blocks since then forgave. */
  timeouts = 0
  /** How often it had what it was asked for, smoothed. */
  hit: number
  /** Want-blocks that it may have in flight for this session (B11–B13). */
  limit: number
  inFlight = 0
  /** In line for space: the leaf weighs nothing meanwhile. */
  waiting = false
  /** Wants that it has, or may have, and that wait for space at it. */
  readonly blocked = new Set<Want>()
  readonly #limits: SessionLimits
  /** Blocks since the limit was last halved. */
  #blocksAtLimit = 0
  /** B21, until it is tried. */
  #newcomer: number
  #answers: number
  /** The hit rate over many answers. */
  #hitLong: number
  /** Timeouts in a row, of which each was sent after the one before: all that was in flight at once counts once. */
  #silences = 0
  #silentAtMs = Number.NEGATIVE_INFINITY
  /** It gets nothing before, unless a block of this session comes from it. */
  restUntilMs = Number.NEGATIVE_INFINITY

  constructor(peer: PeerView, index: number, hit: number, median: number, limits: SessionLimits) {
    this.peer = peer
    this.index = index
    this.hit = hit
    this.#hitLong = hit
    this.#answers = hit > 0 ? 1 : 0
    // Who failed most of what it was asked before begins where its timeouts had brought it (B15).
    this.limit = peer.isDoubtful ? 1 : limits.wantsInFlightStart
    this.#limits = limits
    this.#newcomer = newcomerFactor(median)
  }

  /** What it delivered, as a factor (B16, B21). */
  get delivered(): number {
    return this.blocks === 0 ? this.#newcomer : deliveredFactor(this.blocks, this.#limits.wantsInFlightStart)
  }

  /** It delivered to this session, or failed to. */
  get isMeasured(): boolean {
    return this.blocks > 0 || this.timeouts > 0
  }

  /** It is taken to have all that it may be asked for. */
  get isSure(): boolean {
    return Math.min(this.hit, this.#hitLong) >= sureHit && this.#answers >= answersMin
  }

  /** Its weight for a want of which its presence is known by so much. */
  weight(presence: number): number {
    return weightOf({ score: this.peer.score, delivered: this.delivered, timeouts: timeoutFactor(this.timeouts), presence })
  }

  /** A block of this session came from it. */
  receive(): void {
    this.blocks += 1
    this.#blocksAtLimit += 1
    this.timeouts *= timeoutsKept
    this.#silences = 0
    this.restUntilMs = Number.NEGATIVE_INFINITY
    this.limit = grownLimit(this.limit, this.#blocksAtLimit, this.#limits.wantsInFlightStart, this.#limits.wantsInFlightMax)
  }

  /** A want-block of this session had its time: the limit halves, floor 1 (B15), and who stays silent rests longer and longer. */
  timeOut(sentAtMs: number, nowMs: number): void {
    if (sentAtMs >= this.#silentAtMs) {
      this.#silences += 1
      this.#silentAtMs = nowMs
      if (this.#silences >= 2) this.restUntilMs = nowMs + Math.min(restStartMs * 2 ** (this.#silences - 2), restMaxMs)
    }
    this.timeouts += 1
    this.#newcomer = 1
    this.limit = Math.max(1, this.limit >> 1)
    this.#blocksAtLimit = 0
  }

  /** It answered whether it has a block that it was asked for. */
  answer(has: boolean): void {
    this.hit += (Number(has) - this.hit) * (this.#answers === 0 ? 1 : hitGain)
    this.#answers += 1
    this.#hitLong += (Number(has) - this.#hitLong) / Math.min(this.#answers, hitLongAnswers)
  }
}
