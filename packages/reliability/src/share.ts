import type { ShareMap } from './limits.ts'

/** A peer's place among the others, each from 0 (the worst) to 1 (the best). */
export interface Ranks {
  readonly success: number
  readonly latency: number
  readonly uptime: number
}

/**
 * What a score is worth in the draw (P2, P3, P21), above 0 and at most 100. `percentile` is how Presearch describes its
 * own: the mean of three ranks; the score itself does not matter then.
 */
export function weightOf(map: ShareMap, score: number, ranks: Ranks, scoreMin: number): number {
  switch (map) {
    case 'proportional':
      return score
    case 'equal':
      return 100
    case 'percentile':
      return Math.max(scoreMin, (100 * (ranks.success + ranks.latency + ranks.uptime)) / 3)
  }
}

/** Weights as shares of their sum, which are 1 in all; none where all weights are 0. */
export function sharesOf(weights: readonly number[]): number[] {
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return weights.map((weight) => (sum > 0 ? weight / sum : 0))
}
