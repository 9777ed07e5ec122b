import type { Evidence } from './evidence.ts'
import type { ReliabilityLimits } from './limits.ts'
import type { WindowSums } from './windows.ts'

/** What the cohort, those who are connected, gives for comparison. */
export interface CohortFigures {
  /** The median rate of success. */
  readonly success: number
  /** The mean rate of success. */
  readonly meanSuccess: number
  /** The median of latencies, in milliseconds; undefined where none is known. */
  readonly latencyMs: number | undefined
  /** The median part of the time. */
  readonly uptime: number
  /** The median rate of success of those who are vetted; undefined where nobody is. */
  readonly vettedSuccess: number | undefined
}

/** Success of the last 24 hours and of the last 30 days, half of each, with the cohort's rate as so many observations. */
function availabilityOf(day: WindowSums, month: WindowSums, prior: number, priorObservations: number): number {
  return (smoothed(day, prior, priorObservations) + smoothed(month, prior, priorObservations)) / 2
}

function smoothed(sums: WindowSums, prior: number, priorObservations: number): number {
  return (sums.successes + priorObservations * prior) / (sums.observations + priorObservations)
}

/** The least of what was seen long, lately and just now: what fails falls at once, and comes back slowly. */
export function successOf(
  day: WindowSums,
  month: WindowSums,
  evidence: Evidence,
  cohort: CohortFigures,
  limits: ReliabilityLimits
): number {
  const availability = availabilityOf(day, month, cohort.success, limits.priorObservations)
  return Math.min(availability, evidence.slow(cohort.success, limits), evidence.fast(cohort.success))
}

/**
 * P15: 100 · success^k · latency · uptime, each of the latter two a part of the cohort's median, by a root, and never more
 * than 1. A product, so that whoever always fails has nothing to make up for it with; and a high power, since the
 * share is linear in the score and half of a good peer's share is too much for one that fails half the time.
 */
export function scoreOf(
  success: number,
  latencyMs: number | undefined,
  uptime: number,
  cohort: CohortFigures,
  limits: ReliabilityLimits
): number {
  const { successPower, latencyPower, uptimePower, latencyAlikeMs, scoreMin } = limits
  let score = 100 * success ** successPower
  if (latencyMs !== undefined && cohort.latencyMs !== undefined) {
    const ratio = Math.max(cohort.latencyMs, latencyAlikeMs) / Math.max(latencyMs, latencyAlikeMs)
    if (ratio < 1) score *= ratio ** latencyPower
  }
  if (uptime < cohort.uptime) score *= (uptime / cohort.uptime) ** uptimePower
  return Math.max(scoreMin, score)
}

/** The most that a newcomer's score may be where somebody is vetted: a part of what the median of those has for success. */
export function newcomerScoreMax(vettedSuccess: number, { successPower, newcomerScorePart, scoreMin }: ReliabilityLimits): number {
  return Math.max(scoreMin, newcomerScorePart * 100 * vettedSuccess ** successPower)
}
