import { expect, it } from 'vitest'
import { chiSquareP, jain, median, medianInterval, quantile } from '../src/statistics.ts'

it('takes quantiles between the two nearest numbers', () => {
  expect(median([3, 1, 2])).toBe(2)
  expect(median([4, 1, 2, 3])).toBe(2.5)
  expect(quantile([10, 20], 0.25)).toBe(12.5)
  expect(median([])).toBeNaN()
})

it('bounds a median by the numbers that hold it in 95 of 100 cases', () => {
  // Of ten, the second and the ninth hold it in 97.9 of 100; the third and the eighth in 89.
  expect(medianInterval([10, 9, 8, 7, 6, 5, 4, 3, 2, 1])).toEqual([2, 9])
  // Of twenty, the sixth and the fifteenth: 95.9 of 100.
  expect(medianInterval(Array.from({ length: 20 }, (_, index) => index + 1))).toEqual([6, 15])
  expect(medianInterval([5, 1, 3])).toEqual([1, 5])
  expect(medianInterval([7])).toEqual([7, 7])
})

it('measures fairness as Jain does', () => {
  expect(jain([5, 5, 5, 5])).toBe(1)
  expect(jain([1, 0, 0, 0])).toBe(0.25)
})

/** One of two counts of which 100 are expected, so far off that their distance is this one. */
function offBy(distance: number): number {
  return 100 + Math.sqrt((distance * 100) / 2)
}

it('says how likely counts are by chance, as tables of chi-square do', () => {
  // One degree of freedom: 3.841 is exceeded in 5 of 100 cases; then two and four.
  expect(chiSquareP([offBy(3.8415), 200 - offBy(3.8415)], [100, 100])).toBeCloseTo(0.05, 5)
  expect(chiSquareP([offBy(6.6349), 200 - offBy(6.6349)], [100, 100])).toBeCloseTo(0.01, 5)
  expect(chiSquareP([offBy(5.9915), 200 - offBy(5.9915), 7], [100, 100, 7])).toBeCloseTo(0.05, 5)
  expect(chiSquareP([offBy(9.4877), 200 - offBy(9.4877), 7, 7, 7], [100, 100, 7, 7, 7])).toBeCloseTo(0.05, 5)
  expect(chiSquareP([66_000, 33_500, 500], [66_225.17, 33_112.58, 662.25])).toBeLessThan(1e-9)
  expect(chiSquareP([5, 5, 5], [5, 5, 5])).toBe(1)
  expect(chiSquareP([10_000, 0], [5000, 5000])).toBe(0)
})
