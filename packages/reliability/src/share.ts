import type { ShareMap } from './limits.ts'

/** A peer's place among the others, each from 0 (the worst) to 1 (the best). */
export interface Ranks {
  readonly success: number
  readonly latency: number
  readonly uptime: number
}

/**
 * What a score is worth in the draw (P2, P3, P21), above 0 and at most 100. `percentile` is how Presearch describes its
 * own: the mean of three ranks; the score itself does not matter then. `rankPart`: what of it a newcomer has, and one on
 * its way back. `equal` has no such part: all who get wants are alike.
 */
export function weightOf(map: ShareMap, score: number, ranks: Ranks, rankPart: number, scoreMin: number): number {
  switch (map) {
    case 'proportional':
      return score
    case 'equal':
      return 100
    case 'percentile':
      return Math.max(scoreMin, (rankPart * 100 * (ranks.success + ranks.latency + ranks.uptime)) / 3)
  }
}

/** What a peer brings to the draw; a weight of 0 where it is not in it. */
export interface Weighed {
  readonly weight: number
  readonly isVetted: boolean
}

/** Weights in all. */
export interface WeightSums {
  readonly vetted: number
  readonly newcomers: number
}

export function weightSums(peers: Iterable<Weighed>): WeightSums {
  let [vetted, newcomers] = [0, 0]
  for (const { weight, isVetted } of peers) {
    if (isVetted) vetted += weight
    else newcomers += weight
  }
  return { vetted, newcomers }
}

/** One peer's share, 0 to 1. Sums that are a little old and lack what it weighs now are taken for its weight alone. */
export function shareIn(sums: WeightSums, { weight, isVetted }: Weighed, newcomerShareMax: number): number {
  if (weight === 0) return 0
  const vetted = isVetted ? Math.max(sums.vetted, weight) : sums.vetted
  const newcomers = isVetted ? sums.newcomers : Math.max(sums.newcomers, weight)
  const newShare = vetted === 0 ? 1 : Math.min(newcomerShareMax, newcomers / (vetted + newcomers))
  return isVetted ? ((1 - newShare) * weight) / vetted : (newShare * weight) / newcomers
}

/**
 * Weights as shares, which are 1 in all; none where all weights are 0. Where somebody vetted is among them, newcomers
 * together have `newcomerShareMax` at most, each of them by its weight, and those vetted have the rest.
 */
export function sharesOf(peers: readonly Weighed[], newcomerShareMax: number): number[] {
  const sums = weightSums(peers)
  return peers.map((peer) => shareIn(sums, peer, newcomerShareMax))
}
