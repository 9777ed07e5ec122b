import { BackupBudget, defaultBudgetLimits, verifyBudgetLimits } from '@shardswap/reliability'
import type { BackupReason, BudgetLimits } from '@shardswap/reliability'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

// Deterministic seeds: a failure is the same on every machine.
const runs = { seed: 20_261_130, numRuns: 300 }

function budgetWith(limits: Partial<BudgetLimits> = {}): BackupBudget {
  return new BackupBudget({ ...defaultBudgetLimits, ...limits })
}

function earn(budget: BackupBudget, wants: number, failChance = 0.01): void {
  for (let want = 0; want < wants; want++) budget.earn(failChance)
}

function takeAll(budget: BackupBudget, reason: BackupReason, failChance = 1): number {
  let taken = 0
  while (budget.take(reason, failChance)) taken += 1
  return taken
}

describe('[C5] the tokens', () => {
  it('are two to begin with, one more for twenty wants, twenty at most', () => {
    const budget = budgetWith()
    expect(takeAll(budget, 'late')).toBe(2)
    earn(budget, 19)
    expect(takeAll(budget, 'late')).toBe(0)
    earn(budget, 1)
    expect(takeAll(budget, 'late')).toBe(1)
    earn(budget, 10_000)
    expect(takeAll(budget, 'endgame')).toBe(20)
  })

  it('that are given back are there again, and no more than were taken', () => {
    const budget = budgetWith()
    budget.giveBack()
    expect(takeAll(budget, 'late')).toBe(2)
    budget.giveBack()
    expect(takeAll(budget, 'late')).toBe(1)
    expect(budget.figures).toEqual({ wants: 0, backups: 2, tokens: 0, isOpen: false })
  })

  it('let no more than five in a hundred wants and twenty have backups, whatever happens', () => {
    const event = fc.oneof(
      { weight: 6, arbitrary: fc.record({ what: fc.constant('earn' as const), failChance: fc.double({ min: 0, max: 1, noNaN: true }) }) },
      {
        weight: 3,
        arbitrary: fc.record({
          what: fc.constant('take' as const),
          reason: fc.constantFrom<BackupReason>('proactive', 'late', 'endgame'),
          failChance: fc.double()
        })
      },
      { weight: 1, arbitrary: fc.constant({ what: 'give back' as const }) },
      { weight: 2, arbitrary: fc.record({ what: fc.constant('observe' as const), isSuccess: fc.boolean() }) }
    )
    const limits = fc.record({
      backupShare: fc.constantFrom(0, 0.01, 0.05, 0.3),
      backupTokensStart: fc.constantFrom(0, 2, 20),
      forecastsMax: fc.constantFrom(1, 7, 1000)
    })
    fc.assert(
      fc.property(limits, fc.array(event, { maxLength: 400 }), (limits, events) => {
        const budget = budgetWith(limits)
        let wants = 0
        let backups = 0
        for (const event of events) {
          const mayTake = !budget.isOpen
          let isTaken = false
          if (event.what === 'earn') {
            budget.earn(event.failChance)
            wants += 1
          } else if (event.what === 'take') {
            isTaken = budget.take(event.reason, event.failChance)
            if (isTaken) backups += 1
          } else if (event.what === 'give back') {
            if (backups > 0) backups -= 1
            budget.giveBack()
          } else budget.observe(event.isSuccess)
          expect(isTaken && !mayTake).toBe(false)
          expect(isTaken && event.what === 'take' && event.reason === 'proactive' && !(event.failChance >= 0.15)).toBe(false)
          expect(backups).toBeLessThanOrEqual(limits.backupShare * wants + 20 + 1e-6)
          expect(budget.figures).toMatchObject({ wants, backups })
          expect(budget.figures.tokens).toBeGreaterThanOrEqual(0)
        }
      }),
      runs
    )
  })
})

describe('[P5] a want is backed before it is late', () => {
  it('where failure is likely: 0.15 at least', () => {
    const budget = budgetWith()
    earn(budget, 1000)
    expect(budget.take('proactive', 0.149)).toBe(false)
    expect(budget.take('proactive', Number.NaN)).toBe(false)
    expect(budget.take('proactive', 0.15)).toBe(true)
    expect(budget.failChanceThreshold).toBe(0.15)
  })

  it('where it is among the riskiest, of the last thousand', () => {
    const budget = budgetWith()
    for (let want = 0; want < 1000; want++) budget.earn(want / 1000)
    // Of a thousand evenly spread ones a twentieth lies above 0.95.
    expect(budget.failChanceThreshold).toBeCloseTo(0.945, 2)
    expect(budget.take('proactive', 0.93)).toBe(false)
    expect(budget.take('proactive', 0.96)).toBe(true)
    // They are forgotten once a thousand others have come.
    earn(budget, 1000, 0.2)
    expect(budget.failChanceThreshold).toBeCloseTo(0.2, 2)
    expect(budget.take('proactive', 0.21)).toBe(true)
  })

  it('among forecasts that are alike as long as there are tokens', () => {
    const budget = budgetWith()
    earn(budget, 1000, 0.4)
    expect(takeAll(budget, 'proactive', 0.4)).toBe(20)
  })

  it('and a late one takes a token whatever was forecast', () => {
    const budget = budgetWith()
    earn(budget, 1000, 0.9)
    expect(budget.take('late', 0)).toBe(true)
    expect(budget.take('endgame', 0)).toBe(true)
    expect(budget.take('proactive', 0.3)).toBe(false)
  })

  it('by the quantile of a plain sort, within a bin', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 300 }), (forecasts) => {
        const budget = budgetWith({ forecastsMax: 100 })
        for (const failChance of forecasts) budget.earn(failChance)
        const last = forecasts.slice(-100).sort((a, b) => b - a)
        const quantile = last[Math.floor(last.length * 0.05)] as number
        expect(Math.abs(budget.failChanceThreshold - Math.max(0.15, quantile))).toBeLessThanOrEqual(1 / 200 + 1e-9)
      }),
      runs
    )
  })
})

describe('[C5] the breaker', () => {
  it('stops all backups after five failures, until ten successes for each have come', () => {
    const budget = budgetWith()
    for (let failure = 0; failure < 4; failure++) budget.observe(false)
    expect(budget.isOpen).toBe(false)
    budget.observe(false)
    expect(budget.isOpen).toBe(true)
    for (const reason of ['proactive', 'late', 'endgame'] as const) expect(budget.take(reason, 1)).toBe(false)
    budget.observe(true)
    expect(budget.isOpen).toBe(false)
    expect(budget.take('late', 1)).toBe(true)
    for (let failure = 0; failure < 100; failure++) budget.observe(false)
    for (let success = 0; success < 49; success++) budget.observe(true)
    expect(budget.isOpen).toBe(true)
    budget.observe(true)
    budget.observe(true)
    expect(budget.isOpen).toBe(false)
  })

  it('stays open while more than one in eleven fails', () => {
    const budget = budgetWith()
    for (let want = 0; want < 5000; want++) budget.observe(want % 8 !== 0)
    expect(budget.isOpen).toBe(true)
  })
})

it('limits must make sense', () => {
  expect(() => verifyBudgetLimits({ ...defaultBudgetLimits, backupTokensStart: 21 })).toThrow('backupTokensStart')
  expect(() => verifyBudgetLimits({ ...defaultBudgetLimits, backupShare: Number.NaN })).toThrow('backupShare')
  expect(() => verifyBudgetLimits({ ...defaultBudgetLimits, forecastsMax: 0.5 })).toThrow('forecastsMax')
})
