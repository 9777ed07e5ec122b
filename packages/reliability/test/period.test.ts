import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { periodName, periodStartMs } from '../src/period.ts'

const dayMs = 86_400_000

it('[P8] a period has the name of its day in UTC', () => {
  expect(periodName(periodStartMs(Date.UTC(2026, 10, 30, 23, 59, 59, 999), dayMs), dayMs)).toBe('2026-11-30')
  expect(periodName(periodStartMs(Date.UTC(2026, 11, 1), dayMs), dayMs)).toBe('2026-12-01')
  expect(periodName(periodStartMs(Date.UTC(2028, 1, 29, 5), dayMs), dayMs)).toBe('2028-02-29')
})

it('a shorter period has the name of its first minute, or of its first moment', () => {
  const ms = Date.UTC(2026, 10, 30, 13, 47, 31, 250)
  expect(periodName(periodStartMs(ms, 3_600_000), 3_600_000)).toBe('2026-11-30T13:00')
  expect(periodName(periodStartMs(ms, 900_000), 900_000)).toBe('2026-11-30T13:45')
  expect(periodName(periodStartMs(ms, 250), 250)).toBe('2026-11-30T13:47:31.25')
})

it('days are those of the Gregorian calendar, whatever a wall clock says', () => {
  fc.assert(
    fc.property(fc.integer({ min: Date.UTC(0, 0, 1) - 60_000_000 * 1000, max: Date.UTC(9999, 11, 31) }), (ms) => {
      const startMs = periodStartMs(ms, dayMs)
      expect(startMs).toBeLessThanOrEqual(ms)
      expect(startMs + dayMs).toBeGreaterThan(ms)
      expect(periodName(startMs, dayMs)).toBe(new Date(ms).toISOString().slice(0, 10))
    }),
    { seed: 1, numRuns: 2000 }
  )
})
