import type { Evidence } from './evidence.ts'
import type { ReliabilityLimits } from './limits.ts'
import type { Chances } from './types.ts'

/**
 * P(fail) = 1 − presence × success × quiet: it must have the block, it must be one that delivers, and it must not
 * have fallen silent. Success is a mean of the slow and the fast estimate; where little was observed, the mean of
 * the cohort stands in for it (a hierarchical prior).
 */
export function failChanceOf(
  evidence: Evidence | undefined,
  { presence, quietMs }: Chances,
  meanSuccess: number,
  lateMs: number,
  limits: ReliabilityLimits
): number {
  const success = evidence === undefined ? meanSuccess : evidence.expected(meanSuccess, limits)
  return 1 - Math.min(1, Math.max(0, presence)) * success * quietFactor(quietMs, lateMs)
}

/** Of peers from which nothing came for longer than their blocks ever take, fewer and fewer are only slow. */
function quietFactor(quietMs: number, lateMs: number): number {
  return quietMs > lateMs ? lateMs / quietMs : 1
}
