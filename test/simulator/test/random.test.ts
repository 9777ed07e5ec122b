import { describe, expect, it } from 'vitest'
import { exp, ln } from '../src/engine/exact-math.ts'
import { type Distribution, sample, SeededRandom } from '../src/engine/random.ts'

function draws(distribution: Distribution, count: number): number[] {
  const random = new SeededRandom(7)
  return Array.from({ length: count }, () => sample(distribution, random))
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

describe('sfc32', () => {
  it('gives these numbers on every machine', () => {
    const random = new SeededRandom(1)
    expect([random.next(), random.next(), random.next()]).toEqual([0.9806976237055419, 0.8611276003747667, 0.8559635767283486])
    expect(new SeededRandom(2 ** 40 + 3, 'links').next()).toBe(0.1653650826005474)
  })

  it('forks streams that do not depend on what was drawn before', () => {
    const one = new SeededRandom(5)
    one.next()
    expect(one.fork('a').next()).toBe(new SeededRandom(5).fork('a').next())
    expect(one.fork('a').next()).not.toBe(one.fork('b').next())
    expect(one.fork('a').next()).not.toBe(new SeededRandom(6).fork('a').next())
  })

  it('is uniform', () => {
    const random = new SeededRandom(3)
    const tens = Array.from({ length: 10 }, () => 0)
    for (let i = 0; i < 100_000; i++) {
      const at = random.integer(10)
      tens[at] = (tens[at] ?? 0) + 1
    }
    for (const count of tens) expect(Math.abs(count - 10_000)).toBeLessThan(400)
  })
})

describe('distributions', () => {
  it('a number stands for itself', () => {
    expect(draws(10, 3)).toEqual([10, 10, 10])
  })

  it('normal: mean and deviation, never below 0', () => {
    const values = draws({ normal: { mean: 60, deviation: 20 } }, 50_000)
    const average = mean(values)
    expect(average).toBeCloseTo(60, 0)
    expect(Math.sqrt(mean(values.map((value) => (value - average) ** 2)))).toBeCloseTo(20, 0)
    expect(Math.min(...draws({ normal: { mean: 1, deviation: 20 } }, 1000))).toBe(0)
  })

  it('lognormal: median, and the deviation of the logarithm', () => {
    const logs = draws({ logNormal: { median: 5, sigma: 0.3 } }, 50_000).map(Math.log)
    const average = mean(logs)
    expect(average).toBeCloseTo(Math.log(5), 2)
    expect(Math.sqrt(mean(logs.map((value) => (value - average) ** 2)))).toBeCloseTo(0.3, 2)
  })

  it('uniform and mixtures: by weight', () => {
    const parts = [
      { weight: 3, of: 1 },
      { weight: 1, of: { uniform: { from: 10, to: 20 } } }
    ]
    const values = draws({ mixture: parts }, 40_000)
    const high = values.filter((value) => value !== 1)
    expect(high.length / values.length).toBeCloseTo(0.25, 2)
    expect(mean(high)).toBeCloseTo(15, 0)
    expect([Math.min(...high) >= 10, Math.max(...high) < 20]).toEqual([true, true])
  })
})

it('ln and exp agree with the machine’s own', () => {
  for (const value of [1e-12, 0.1, 0.5, 0.75, 1, 1.5, 2, Math.E, 1000, 1e12]) expect(ln(value)).toBeCloseTo(Math.log(value), 12)
  for (const value of [-20, -1, -0.1, 0, 0.3, 1, 2, 20]) expect(exp(value) / Math.exp(value)).toBeCloseTo(1, 12)
})
