import { exp, ln } from './engine/exact-math.ts'

/** The median of some numbers; NaN of none. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** Between the two nearest, by distance. `share` from 0 to 1; NaN of no numbers. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * share
  const low = sorted[Math.floor(at)] ?? NaN
  const high = sorted[Math.ceil(at)] ?? NaN
  return low + (high - low) * (at - Math.floor(at))
}

/**
 * An interval that holds the median of what the numbers were drawn from in at
 * least 95 of 100 cases, whatever their distribution: two of the numbers
 * themselves, by the binomial of how many fall below the median. Of fewer than
 * six numbers there is none that sure: the smallest and the largest.
 */
export function medianInterval(values: readonly number[]): readonly [low: number, high: number] {
  const sorted = values.toSorted((a, b) => a - b)
  const { length } = sorted
  let outside = 0
  let term = 0.5 ** length
  let index = 0
  while (outside + 2 * term <= 0.05 && index < length / 2) {
    outside += 2 * term
    term *= (length - index) / (index + 1)
    index += 1
  }
  const from = Math.max(0, index - 1)
  return [sorted[from] ?? NaN, sorted[length - 1 - from] ?? NaN]
}

/**
 * How likely counts would be at least as far from what was expected of them, by chance alone: the tail of the
 * chi-square distribution with one degree of freedom fewer than there are counts. Expected counts are above 0.
 */
export function chiSquareP(observed: readonly number[], expected: readonly number[]): number {
  let distance = 0
  for (const [index, count] of observed.entries()) {
    const mean = expected[index] ?? NaN
    distance += (count - mean) ** 2 / mean
  }
  return 1 - lowerGamma((observed.length - 1) / 2, distance / 2)
}

/** The regularized lower incomplete gamma function, for a half of a whole number above 0, by its series. */
function lowerGamma(shape: number, upTo: number): number {
  if (upTo <= 0) return 0
  // Γ(shape + 1), by steps of one from Γ(1) or Γ(1/2).
  let logGamma = Number.isInteger(shape) ? 0 : ln(Math.PI) / 2
  for (let factor = Number.isInteger(shape) ? 1 : 0.5; factor <= shape; factor++) logGamma += ln(factor)
  const logFirst = shape * ln(upTo) - upTo - logGamma
  // So far out nothing of the tail is left.
  if (logFirst < -700) return upTo > shape ? 1 : 0
  let term = exp(logFirst)
  let sum = term
  for (let n = 1; term > sum * Number.EPSILON; n++) {
    term *= upTo / (shape + n)
    sum += term
  }
  return Math.min(1, sum)
}

/** Jain's index of fairness: 1 where all are alike, 1 / n where one has everything. */
export function jain(values: readonly number[]): number {
  let sum = 0
  let squares = 0
  for (const value of values) {
    sum += value
    squares += value * value
  }
  return squares === 0 ? 1 : (sum * sum) / (values.length * squares)
}
