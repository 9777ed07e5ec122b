import { assert } from '@shardswap/interface'

/** How a score becomes a weight in the draw of primaries (P21). */
export type ShareMap = 'proportional' | 'equal' | 'percentile'

/** Limits and parameters of the judgement of peers: names with their units; each has a line in docs/limits.md. */
export interface ReliabilityLimits {
  /** Peers that are remembered. Those that are connected always are. */
  readonly recordsMax: number

  /** What one more observation leaves of the weight of those before it, in the slow estimate (λ). */
  readonly forgetting: number
  /** What each further failure of want-blocks that were out together counts for in the slow estimate. */
  readonly incidentPart: number
  /** The weight of the newest observation in the fast estimate. */
  readonly fastGain: number
  /** The chance of success of a peer in a cohort of which nothing is known. */
  readonly successPrior: number
  /** What the cohort's rate counts for in a peer's, in observations. */
  readonly priorObservations: number
  /** After so long half of what was observed is forgotten, in days. */
  readonly evidenceHalfLifeDays: number
  /** The part of the slow estimate in a forecast; the rest is the fast one's. */
  readonly forecastSlowPart: number

  /** The power of success in the score (k). */
  readonly successPower: number
  readonly latencyPower: number
  readonly uptimePower: number
  /** Latencies below it are alike, in milliseconds. */
  readonly latencyAlikeMs: number
  /** What the cohort's uptime counts for in a peer's, in milliseconds. */
  readonly uptimePriorMs: number
  /** The score of a peer that is not shut out is never below it. */
  readonly scoreMin: number
  /** What a newcomer's score is at most, as a part of what the median of those vetted has for success. */
  readonly newcomerScorePart: number

  /** Observations that vetting takes. */
  readonly vettingObservations: number
  /** The rate of success that vetting takes. */
  readonly vettingSuccessMin: number
  /** A vetted peer of which less success than this is to be expected is a newcomer again. */
  readonly vettedSuccessMin: number
  /** The newcomers' part of the picks for which somebody vetted had space. */
  readonly newcomerShareMax: number
  /** Picks of newcomers that may be saved up. */
  readonly newcomerPicksMax: number

  /** How long a hard failure shuts a peer out, in milliseconds. */
  readonly shutOutMs: number
  /** Connected time over which its score comes back afterwards, in milliseconds. */
  readonly returnMs: number

  /** No want-block is late before it, in milliseconds. */
  readonly lateMinMs: number
  /** No silence speaks against a peer before it, in milliseconds. */
  readonly quietMinMs: number
  /** When a want-block is late at a peer of which no latency is known, in milliseconds. */
  readonly lateStartMs: number
  /** What such a peer is taken to deliver, in bytes a second. */
  readonly unknownBytesPerS: number
  /** How long the cohort's medians stand before they are taken anew, in milliseconds. */
  readonly cohortRefreshMs: number
  /** A backup's score is at least this part of what the median of those vetted has for success. */
  readonly backupScorePart: number
}

/** What one peer's record takes at most, as JSON, in bytes: the bounds of its parts make it so. */
export const recordBytesMax = 8 * 1024

const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs

/** The defaults; the reasons stand in docs/limits.md, the runs that chose them in docs/reliability-runs.md. */
export const defaultReliabilityLimits: ReliabilityLimits = {
  recordsMax: 10_000,
  forgetting: 0.98,
  incidentPart: 0.05,
  fastGain: 0.15,
  successPrior: 0.9,
  priorObservations: 3,
  evidenceHalfLifeDays: 7,
  forecastSlowPart: 0.3,
  successPower: 4,
  latencyPower: 0.5,
  uptimePower: 0.5,
  latencyAlikeMs: 10,
  uptimePriorMs: hourMs,
  scoreMin: 1,
  newcomerScorePart: 0.5,
  vettingObservations: 20,
  vettingSuccessMin: 0.9,
  vettedSuccessMin: 0.5,
  newcomerShareMax: 0.05,
  newcomerPicksMax: 4,
  shutOutMs: dayMs,
  returnMs: 7 * dayMs,
  lateMinMs: 10,
  quietMinMs: 200,
  lateStartMs: 1000,
  unknownBytesPerS: 512 * 1024,
  cohortRefreshMs: 100,
  backupScorePart: 0.5
}

/** Throws AssertionError where no score or share could come out of these limits. */
export function verifyReliabilityLimits(limits: ReliabilityLimits): void {
  for (const [name, value] of Object.entries(limits)) assert(Number.isFinite(value) && value >= 0, `${name} is a number and not below 0`)
  const parts = ['forgetting', 'successPrior', 'forecastSlowPart', 'incidentPart', 'newcomerScorePart', 'backupScorePart'] as const
  for (const name of [...parts, 'vettingSuccessMin', 'vettedSuccessMin', 'newcomerShareMax'] as const) {
    assert(limits[name] <= 1, `${name} is at most 1`)
  }
  assert(limits.forgetting < 1, 'forgetting is below 1')
  assert(limits.fastGain > 0 && limits.fastGain <= 1, 'fastGain is above 0 and at most 1')
  assert(limits.priorObservations > 0, 'priorObservations is above 0')
  assert(limits.evidenceHalfLifeDays > 0, 'evidenceHalfLifeDays is above 0')
  assert(limits.scoreMin > 0 && limits.scoreMin <= 100, 'scoreMin is above 0 and at most 100')
  assert(limits.uptimePriorMs > 0 && limits.returnMs > 0, 'uptimePriorMs and returnMs are above 0')
  assert(limits.unknownBytesPerS > 0 && limits.latencyAlikeMs > 0, 'unknownBytesPerS and latencyAlikeMs are above 0')
  assert(Number.isSafeInteger(limits.recordsMax) && limits.recordsMax > 0, 'recordsMax is a count above 0')
}
