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
