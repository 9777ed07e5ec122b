import type { PeerKey } from '@shardswap/interface'
import { hoursPerDay, type Calendar } from './calendar.ts'
import { Evidence } from './evidence.ts'
import { Latency } from './latency.ts'
import type { ReliabilityLimits } from './limits.ts'
import type { Delivery, Outcome, PeerStanding, Role } from './types.ts'
import type { PeerCounts } from './views.ts'
import { Windows } from './windows.ts'

/** Connected time is counted in steps of at least a second. */
const stepMs = 1000

export type MutableCounts = { -readonly [name in keyof PeerCounts]: PeerCounts[name] }

function noCounts(): MutableCounts {
  return {
    attempted: 0,
    successful: 0,
    rewardable: 0,
    primaryTurns: 0,
    backupTurns: 0,
    timeouts: 0,
    silences: 0,
    resets: 0,
    brokenHaves: 0,
    late: 0,
    denied: 0,
    withdrawn: 0,
    refused: 0,
    duplicateBlocks: 0,
    duplicateBytes: 0,
    badBlocks: 0,
    hardFailures: 0
  }
}

/** What is counted of a peer. */
export const countNames = Object.keys(noCounts()) as readonly (keyof PeerCounts)[]

const counterOf = {
  success: 'successful',
  timeout: 'timeouts',
  silence: 'silences',
  reset: 'resets',
  'broken-have': 'brokenHaves',
  late: 'late',
  denied: 'denied',
  withdrawn: 'withdrawn',
  refused: 'refused'
} as const satisfies Record<Outcome, keyof PeerCounts>

/** Whether an outcome says something of the peer, and what; undefined where it does not. */
export function observationOf(outcome: Outcome): boolean | undefined {
  switch (outcome) {
    case 'success':
      return true
    case 'timeout':
    case 'silence':
    case 'reset':
    case 'broken-have':
      return false
    case 'late':
    case 'denied':
    case 'withdrawn':
    case 'refused':
      return undefined
  }
}

/** A peer's places in the cohort's spreads; -1 where it has none. */
export interface Places {
  readonly success: number
  readonly vetted: number
  readonly latency: number
  readonly uptime: number
  /** Its part in the mean, in millionths. */
  readonly mean: number
}

/** All that is known of one peer. */
export class PeerRecord {
  readonly peer: PeerKey
  readonly counts: MutableCounts = noCounts()
  places: Places = { success: -1, vetted: -1, latency: -1, uptime: -1, mean: -1 }
  readonly windows: Windows
  readonly evidence = new Evidence()
  latency: Latency | undefined
  firstSeenWallMs: number
  isConnected = false
  /** Want-blocks there that are not settled. */
  inFlight = 0
  /** Want-blocks that were out when one failed, and may fail of the same cause. */
  #incidentLeft = 0
  /** Observations since it was heard of, or lost its vetting. */
  observedSinceNew = 0
  isVetted = false
  shutOutUntilMs = Number.NEGATIVE_INFINITY
  /** Connected time that its score still takes to come back; it is a newcomer meanwhile. */
  returnLeftMs = 0
  /** In the cohort's list of those to be placed anew. */
  isMoved = false
  /** In what class it waits to be forgotten; -1 while it is connected. */
  tier = -1
  standing: PeerStanding | undefined
  standingEpoch = -1
  standingUntilMs = Number.NEGATIVE_INFINITY
  #countedUntilMs: number
  #fadedDay: number

  constructor(peer: PeerKey, calendar: Calendar, nowMs: number, windows = new Windows(calendar.hour(nowMs))) {
    this.peer = peer
    this.windows = windows
    this.#fadedDay = Math.floor(windows.hour / hoursPerDay)
    this.firstSeenWallMs = calendar.wallMs(nowMs)
    this.#countedUntilMs = nowMs
  }

  /** Whether it ever showed how good it is. */
  get isObserved(): boolean {
    return this.evidence.fastWeight > 0
  }

  connect(nowMs: number): void {
    this.isConnected = true
    this.#countedUntilMs = nowMs
  }

  disconnect(calendar: Calendar, nowMs: number): void {
    this.pass(calendar, nowMs)
    this.isConnected = false
  }

  /** Goes on to a moment: the time connected, the windows, and what fades. */
  roll(calendar: Calendar, nowMs: number, limits: ReliabilityLimits): void {
    if (nowMs - this.#countedUntilMs >= stepMs) this.pass(calendar, nowMs)
    this.rollTo(calendar.hour(nowMs), limits)
  }

  /** As `roll`, without the time connected. */
  rollTo(hour: number, limits: ReliabilityLimits): void {
    this.windows.roll(hour)
    const day = Math.floor(this.windows.hour / hoursPerDay)
    if (day > this.#fadedDay) this.evidence.fade(day - this.#fadedDay, limits)
    this.#fadedDay = day
  }

  /** Counts the time connected up to a moment. */
  pass(calendar: Calendar, nowMs: number): void {
    if (!this.isConnected) return
    const fromMs = this.#countedUntilMs
    this.#countedUntilMs = nowMs
    const returningMs = nowMs - Math.max(fromMs, this.shutOutUntilMs)
    if (this.returnLeftMs > 0 && returningMs > 0) this.returnLeftMs = Math.max(0, this.returnLeftMs - returningMs)
    this.windows.pass(fromMs, nowMs, calendar)
  }

  /** What is left of its return, without a change: in milliseconds of connected time. */
  returnLeftAt(nowMs: number): number {
    const passedMs = this.isConnected ? Math.max(0, nowMs - Math.max(this.#countedUntilMs, this.shutOutUntilMs)) : 0
    return Math.max(0, this.returnLeftMs - passedMs)
  }

  /** The time connected that no window has yet, in milliseconds. */
  uncountedMs(nowMs: number): number {
    return this.isConnected ? Math.max(0, nowMs - this.#countedUntilMs) : 0
  }

  begin(role: Role): void {
    this.counts.attempted += 1
    if (role === 'primary') this.counts.primaryTurns += 1
    else this.counts.backupTurns += 1
    this.inFlight += 1
  }

  /** What became of a want-block; `late` comes after one that was settled already. */
  settle(outcome: Outcome): void {
    this.counts[counterOf[outcome]] += 1
    if (outcome === 'late') return
    if (this.inFlight > 0) this.inFlight -= 1
  }

  /** `weight`: what of an observation it is; by default less for each failure of what was out together. */
  observe(isSuccess: boolean, hour: number, limits: ReliabilityLimits, weight = this.#weigh(isSuccess, limits)): void {
    this.rollTo(hour, limits)
    this.windows.observe(isSuccess)
    this.evidence.observe(isSuccess, limits, weight)
    this.observedSinceNew += 1
    if (this.isVetted) {
      if (this.evidence.expected(limits.successPrior, limits) < limits.vettedSuccessMin) this.loseVetting()
    } else if (this.returnLeftMs === 0 && this.observedSinceNew >= limits.vettingObservations) {
      this.isVetted = (this.evidence.rate ?? 0) >= limits.vettingSuccessMin
    }
  }

  /** What was out together and fails in a row is one incident, whatever it was: a cut line, a machine that stood still. */
  #weigh(isSuccess: boolean, { incidentPart }: ReliabilityLimits): number {
    if (isSuccess) {
      this.#incidentLeft = 0
      return 1
    }
    if (this.#incidentLeft > 0) {
      this.#incidentLeft -= 1
      return incidentPart
    }
    this.#incidentLeft = this.inFlight
    return 1
  }

  /** Returns the latency net of what was queued, in milliseconds. */
  deliver(delivery: Delivery, nowMs: number): number {
    this.latency ??= new Latency()
    return this.latency.sample(delivery, nowMs)
  }

  loseVetting(): void {
    this.isVetted = false
    this.observedSinceNew = 0
  }

  shutOut(untilMs: number, returnMs: number): void {
    this.counts.hardFailures += 1
    this.loseVetting()
    this.shutOutUntilMs = untilMs
    this.returnLeftMs = returnMs
  }
}
