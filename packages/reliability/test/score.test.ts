import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Evidence } from '../src/evidence.ts'
import { defaultReliabilityLimits, Reliability, type ReliabilityLimits } from '../src/index.ts'
import { newcomerScoreMax, scoreOf, successOf, type CohortFigures } from '../src/score.ts'

const limits = defaultReliabilityLimits
const cohort: CohortFigures = { success: 1, meanSuccess: 0.9, latencyMs: 40, uptime: 0.8, vettedSuccess: 1 }
const none = { successes: 0, observations: 0, timeMs: 0 }

function evidenceOf(outcomes: readonly boolean[]): Evidence {
  const evidence = new Evidence()
  for (const isSuccess of outcomes) evidence.observe(isSuccess, limits)
  return evidence
}

describe('the formula of the score', () => {
  it('[P14] [P15] is 100 · q⁴ · √(latency) · √(uptime), the latter two as parts of the median', () => {
    expect(scoreOf(1, 40, 0.8, cohort, limits)).toBe(100)
    expect(scoreOf(0.84, 40, 0.8, cohort, limits)).toBeCloseTo(49.79, 2)
    expect(scoreOf(0.32, 40, 0.8, cohort, limits)).toBeCloseTo(1.05, 2)
    expect(scoreOf(1, 160, 0.8, cohort, limits)).toBe(50)
    expect(scoreOf(1, 10, 1, cohort, limits)).toBe(100)
    expect(scoreOf(1, 40, 0.2, cohort, limits)).toBe(50)
    expect(scoreOf(0.9, 160, 0.2, cohort, limits)).toBeCloseTo(0.6561 * 25, 9)
    expect(scoreOf(0, 40, 0.8, cohort, limits)).toBe(1)
    expect(scoreOf(1, undefined, 0.8, cohort, limits)).toBe(100)
    expect(scoreOf(1, 9000, 0.8, { ...cohort, latencyMs: undefined }, limits)).toBe(100)
  })

  it('[P15] takes latencies below 10 ms for alike', () => {
    const near = { ...cohort, latencyMs: 1 }
    expect(scoreOf(1, 9.9, 0.8, near, limits)).toBe(100)
    expect(scoreOf(1, 40, 0.8, near, limits)).toBe(50)
  })

  it('[P15] never falls as success or uptime rises or latency falls', () => {
    const part = fc.double({ min: 0, max: 1, noNaN: true })
    const latency = fc.double({ min: 0.1, max: 1e5, noNaN: true })
    const figures = fc.record({
      success: part,
      meanSuccess: part,
      latencyMs: fc.option(latency, { nil: undefined }),
      uptime: part,
      vettedSuccess: fc.option(part, { nil: undefined })
    })
    fc.assert(
      fc.property(figures, part, part, latency, latency, part, part, (of, q1, q2, l1, l2, u1, u2) => {
        const worse = scoreOf(Math.min(q1, q2), Math.max(l1, l2), Math.min(u1, u2), of, limits)
        const better = scoreOf(Math.max(q1, q2), Math.min(l1, l2), Math.max(u1, u2), of, limits)
        expect(better).toBeGreaterThanOrEqual(worse)
        expect(worse).toBeGreaterThanOrEqual(1)
        expect(better).toBeLessThanOrEqual(100)
      })
    )
  })

  it('takes the least of availability, the slow estimate and the fast one', () => {
    const good = evidenceOf(Array.from({ length: 200 }, () => true))
    const day = { successes: 40, observations: 47, timeMs: 0 }
    const month = { successes: 400, observations: 497, timeMs: 0 }
    // With three observations of the cohort's rate, 1: 43/50 and 403/500.
    expect(successOf(day, month, good, cohort, limits)).toBeCloseTo((0.86 + 0.806) / 2, 9)
    const full = { successes: 1000, observations: 1000, timeMs: 0 }
    const fallen = evidenceOf([...Array.from({ length: 200 }, () => true), false, false, false, false])
    expect(successOf(full, full, fallen, cohort, limits)).toBeCloseTo(0.85 ** 4, 9)
    const middling = evidenceOf(Array.from({ length: 1000 }, (_, at) => at % 2 === 0 || at > 990))
    const slow = middling.slowSuccesses / (middling.slowSuccesses + middling.slowFailures)
    expect(successOf(full, full, middling, cohort, limits)).toBeCloseTo(slow, 6)
  })

  it('of a peer not seen is by the rate of the cohort', () => {
    expect(successOf(none, none, new Evidence(), { ...cohort, success: 0.7 }, limits)).toBeCloseTo(0.7, 12)
    expect(newcomerScoreMax(1, limits)).toBe(50)
    expect(newcomerScoreMax(0.5, limits)).toBe(3.125)
    expect(newcomerScoreMax(0, limits)).toBe(1)
  })
})

describe('the two estimates', () => {
  it('are by hand for a few observations', () => {
    const evidence = evidenceOf([true, false])
    expect([evidence.slowSuccesses, evidence.slowFailures]).toEqual([0.98, 1])
    // The prior's three observations are forgotten by 0.98 each time as well.
    const prior = 3 * 0.98 ** 2
    expect(evidence.slow(0.9, limits)).toBeCloseTo((0.98 + prior * 0.9) / (1.98 + prior), 12)
    expect(evidence.fast(0.9)).toBeCloseTo(0.85 * (0.85 * 0.9 + 0.15), 12)
    expect(evidence.expected(0.9, limits)).toBeCloseTo(0.3 * evidence.slow(0.9, limits) + 0.7 * evidence.fast(0.9), 12)
  })

  it('forget half in seven days, and go back to what is expected of anybody', () => {
    const evidence = evidenceOf([false, false, false])
    const before = evidence.slowFailures
    evidence.fade(7, limits)
    expect(evidence.slowFailures).toBeCloseTo(before / 2, 12)
    evidence.fade(700, limits)
    expect(evidence.slow(0.9, limits)).toBeCloseTo(0.9, 9)
    expect(evidence.fast(0.9)).toBeCloseTo(0.9, 9)
  })

  it('stay within 0 and 1 whatever is seen', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 500 }), fc.double({ min: 0, max: 1, noNaN: true }), (outcomes, prior) => {
        const evidence = evidenceOf(outcomes)
        for (const estimate of [evidence.slow(prior, limits), evidence.fast(prior), evidence.expected(prior, limits)]) {
          expect(estimate).toBeGreaterThanOrEqual(0)
          expect(estimate).toBeLessThanOrEqual(1 + 1e-12)
        }
      })
    )
  })
})

describe('limits', () => {
  it.each<Partial<ReliabilityLimits>>([
    { forgetting: 1 },
    { fastGain: 0 },
    { fastGain: 1.5 },
    { successPower: -1 },
    { successPower: Number.NaN },
    { scoreMin: 0 },
    { scoreMin: 101 },
    { recordsMax: 0 },
    { recordsMax: 1.5 },
    { priorObservations: 0 },
    { uptimePriorMs: 0 },
    { newcomerShareMax: 2 },
    { evidenceHalfLifeDays: 0 }
  ])('that make no sense are refused: %j', (changes) => {
    expect(() => new Reliability({ wallMs: 0, nowMs: 0, limits: changes })).toThrow(expect.objectContaining({ code: 'ERR_ASSERTION' }))
  })

  it('that are usual are taken', () => {
    expect(new Reliability({ wallMs: 0, nowMs: 0, limits: { newcomerShareMax: 0, returnMs: 1 } }).limits.newcomerShareMax).toBe(0)
  })
})
