import type { Calendar } from './calendar.ts'
import type { ReliabilityLimits } from './limits.ts'
import type { PeerRecord } from './record.ts'
import type { CohortFigures } from './score.ts'
import type { Ranks } from './share.ts'
import { Spread } from './spread.ts'

/** Rates are told apart to a thousandth. */
const rateSteps = 1000
/** Latencies to 2 %: 32 buckets a doubling, from 0.25 ms to 262 s; like uptime, rounded so that who is as the median loses nothing. */
const latencyFirstMs = 0.25
const latencySteps = 32
const latencyBuckets = latencySteps * 20 + 1
const million = 1_000_000
/** So many records may wait for their new places, whoever asks for a score or not. */
const movedMax = 4096

/**
 * The peers that are connected and were observed, as one: what a score compares with. A peer that changes is placed
 * anew when the figures are taken next, so an observation costs the same in a cohort of ten and of ten thousand.
 */
export class Cohort {
  readonly #limits: ReliabilityLimits
  readonly #calendar: Calendar
  readonly #uptimeOf: (record: PeerRecord, nowMs: number) => number
  readonly #success = new Spread(rateSteps + 1)
  readonly #vetted = new Spread(rateSteps + 1)
  readonly #latency = new Spread(latencyBuckets)
  readonly #uptime = new Spread(rateSteps + 1)
  #meanSum = 0
  #moved: PeerRecord[] = []
  #refreshedMs = Number.NEGATIVE_INFINITY
  figures: CohortFigures
  /** Counts the figures that differ. */
  epoch = 0

  constructor(limits: ReliabilityLimits, calendar: Calendar, uptimeOf: (record: PeerRecord, nowMs: number) => number) {
    this.#limits = limits
    this.#calendar = calendar
    this.#uptimeOf = uptimeOf
    this.figures = this.#figures()
  }

  /** Something of the peer has changed. */
  move(record: PeerRecord, nowMs: number): void {
    record.standing = undefined
    if (record.isMoved) return
    record.isMoved = true
    this.#moved.push(record)
    if (this.#moved.length >= movedMax) this.#refresh(nowMs)
  }

  /** Takes the figures anew where they are old enough. */
  refresh(nowMs: number): void {
    if (this.#moved.length > 0 && nowMs - this.#refreshedMs >= this.#limits.cohortRefreshMs) this.#refresh(nowMs)
  }

  /** A peer's places among those observed, from its last refresh. */
  ranks(record: PeerRecord): Ranks {
    const { success, latency, uptime } = record.places
    return {
      success: this.#success.rank(success),
      latency: latency < 0 ? 0.5 : 1 - this.#latency.rank(latency),
      uptime: this.#uptime.rank(uptime)
    }
  }

  #refresh(nowMs: number): void {
    for (const record of this.#moved) {
      record.isMoved = false
      record.roll(this.#calendar, nowMs, this.#limits)
      this.#place(record, nowMs)
    }
    this.#moved = []
    this.#refreshedMs = nowMs
    const next = this.#figures()
    const before = this.figures
    if ((Object.keys(next) as (keyof CohortFigures)[]).some((name) => next[name] !== before[name])) {
      this.figures = next
      this.epoch += 1
    }
  }

  #place(record: PeerRecord, nowMs: number): void {
    const { places } = record
    const isIn = record.isConnected && record.isObserved
    const rate = isIn ? seenRate(record) : 0
    const latencyMs = isIn ? record.latency?.medianMs : undefined
    const success = isIn ? Math.round(rate * rateSteps) : -1
    const vetted = isIn && record.isVetted ? success : -1
    const latency = latencyMs === undefined ? -1 : latencyBucket(latencyMs)
    const uptime = isIn ? Math.floor(this.#uptimeOf(record, nowMs) * rateSteps) : -1
    const mean = isIn ? Math.round(record.evidence.slow(this.#limits.successPrior, this.#limits) * million) : -1
    this.#success.move(places.success, success)
    this.#vetted.move(places.vetted, vetted)
    this.#latency.move(places.latency, latency)
    this.#uptime.move(places.uptime, uptime)
    this.#meanSum += Math.max(mean, 0) - Math.max(places.mean, 0)
    record.places = { success, vetted, latency, uptime, mean }
  }

  // Of two in the middle the better one is the measure, or of two peers the worse would be as good as the median.
  #figures(): CohortFigures {
    const { successPrior } = this.#limits
    const size = this.#success.size
    return {
      success: size === 0 ? successPrior : this.#success.median('upper') / rateSteps,
      meanSuccess: size === 0 ? successPrior : this.#meanSum / million / size,
      latencyMs: this.#latency.size === 0 ? undefined : latencyFirstMs * 2 ** (this.#latency.median('lower') / latencySteps),
      uptime: this.#uptime.size === 0 ? 1 : this.#uptime.median('upper') / rateSteps,
      vettedSuccess: this.#vetted.size === 0 ? undefined : this.#vetted.median('upper') / rateSteps
    }
  }
}

/** The least of a peer's rates as they were seen, with nothing in place of what was not. */
function seenRate({ evidence, windows: { day, month } }: PeerRecord): number {
  const short = day.observations === 0 ? undefined : day.successes / day.observations
  const long = month.observations === 0 ? undefined : month.successes / month.observations
  const availability = short === undefined || long === undefined ? (long ?? 1) : (short + long) / 2
  return Math.min(availability, evidence.rate ?? 1, evidence.fast(evidence.rate ?? 1))
}

function latencyBucket(ms: number): number {
  if (!(ms > latencyFirstMs)) return 0
  return Math.min(latencyBuckets - 1, Math.ceil(Math.log2(ms / latencyFirstMs) * latencySteps))
}
