import type { ReliabilityLimits } from './limits.ts'

/**
 * Two estimates of a peer's chance of success, both out of nothing but counters: a slow one, successes and
 * failures of which each observation leaves a part λ (a Beta distribution that forgets, as Jøsang and Ismail 2002
 * have it and Storj uses it), and a fast one, an average that moves. Whoever reads them says what stands in for what
 * was not observed.
 */
export class Evidence {
  slowSuccesses = 0
  slowFailures = 0
  /** The moving average of successes, and of ones: what it lacks of 1 is not known yet. */
  fastSuccesses = 0
  fastWeight = 0

  /** `weight`: what of an observation it is for the slow estimate, up to 1. */
  observe(isSuccess: boolean, { forgetting, fastGain }: ReliabilityLimits, weight = 1): void {
    const kept = weight === 1 ? forgetting : forgetting ** weight
    this.slowSuccesses *= kept
    this.slowFailures *= kept
    this.fastSuccesses *= 1 - fastGain
    this.fastWeight += (1 - this.fastWeight) * fastGain
    if (isSuccess) {
      this.slowSuccesses += weight
      this.fastSuccesses += fastGain
    } else this.slowFailures += weight
  }

  /** Days went by: half of what was seen is forgotten in `evidenceHalfLifeDays`. */
  fade(days: number, { evidenceHalfLifeDays }: ReliabilityLimits): void {
    const kept = 0.5 ** (days / evidenceHalfLifeDays)
    this.slowSuccesses *= kept
    this.slowFailures *= kept
    this.fastSuccesses *= kept
    this.fastWeight *= kept
  }

  /** Of what was seen, the part that succeeded; undefined where nothing was. */
  get rate(): number | undefined {
    const seen = this.slowSuccesses + this.slowFailures
    return seen > 0 ? this.slowSuccesses / seen : undefined
  }

  /** The slow estimate, begun with a rate that counts as so many observations and is forgotten as they are. */
  slow(prior: number, { priorObservations, forgetting }: ReliabilityLimits): number {
    const seen = this.slowSuccesses + this.slowFailures
    const weight = priorObservations * Math.max(0, 1 - seen * (1 - forgetting))
    return (this.slowSuccesses + weight * prior) / (seen + weight)
  }

  /** The fast estimate. */
  fast(prior: number): number {
    return this.fastSuccesses + (1 - this.fastWeight) * prior
  }

  /** What is to be expected next: a mean of both. */
  expected(prior: number, limits: ReliabilityLimits): number {
    const slowPart = limits.forecastSlowPart
    return slowPart * this.slow(prior, limits) + (1 - slowPart) * this.fast(prior)
  }
}
