import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Calendar } from '../src/calendar.ts'
import { Windows } from '../src/windows.ts'
import { dayMs, hourMs, wallMs } from './scene.ts'

const firstHour = Math.floor(wallMs / hourMs)

function day(hour: number): number {
  return Math.floor(hour / 24)
}

describe('windows of 24 hours and 30 days', () => {
  it('count what lies within them, the current hour and day included', () => {
    const windows = new Windows(firstHour)
    windows.observe(true)
    windows.observe(false)
    windows.roll(firstHour + 23)
    windows.observe(true)
    expect(windows.day).toEqual({ successes: 2, observations: 3, timeMs: 0 })
    windows.roll(firstHour + 24)
    expect(windows.day).toEqual({ successes: 1, observations: 1, timeMs: 0 })
    expect(windows.month).toEqual({ successes: 2, observations: 3, timeMs: 0 })
    windows.roll(firstHour + 47)
    expect(windows.day).toEqual({ successes: 0, observations: 0, timeMs: 0 })
    // The first day is Monday; on the thirtieth after it, it is gone.
    windows.roll(firstHour - (firstHour % 24) + 29 * 24 + 23)
    expect(windows.month).toEqual({ successes: 2, observations: 3, timeMs: 0 })
    windows.roll(windows.hour + 1)
    expect(windows.month).toEqual({ successes: 1, observations: 1, timeMs: 0 })
    windows.roll(windows.hour + 24)
    expect(windows.month).toEqual({ successes: 0, observations: 0, timeMs: 0 })
  })

  it('count the same as a list of events would, in any order of gaps', () => {
    const event = fc.record({ gapHours: fc.oneof(fc.nat(3), fc.nat(800)), isSuccess: fc.boolean() })
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), fc.integer({ min: -2000, max: 500_000 }), (events, from) => {
        const windows = new Windows(from)
        let hour = from
        const seen = events.map(({ gapHours, isSuccess }) => {
          hour += gapHours
          windows.roll(hour)
          windows.observe(isSuccess)
          return { hour, isSuccess }
        })
        const lastDay = seen.filter((each) => each.hour > hour - 24)
        const lastMonth = seen.filter((each) => day(each.hour) > day(hour) - 30)
        for (const [sums, expected] of [
          [windows.day, lastDay],
          [windows.month, lastMonth]
        ] as const) {
          expect(sums.observations).toBe(expected.length)
          expect(sums.successes).toBe(expected.filter(({ isSuccess }) => isSuccess).length)
        }
        const again = Windows.fromSparse(hour, windows.toSparse())
        expect(again?.day).toEqual(windows.day)
        expect(again?.month).toEqual(windows.month)
        expect(windows.movedTo(hour - 12_345).day).toEqual(windows.day)
        expect(windows.movedTo(hour - 12_345).month).toEqual(windows.month)
      })
    )
  })

  it('count time to the millisecond, hour by hour, though others have gone on to a later hour', () => {
    const calendar = new Calendar(wallMs, 0)
    const windows = new Windows(firstHour)
    windows.roll(firstHour + 5)
    windows.pass(0, 5 * hourMs + 123, calendar)
    expect(windows.day.timeMs).toBe(5 * hourMs + 123)
    expect(windows.month.timeMs).toBe(5 * hourMs + 123)
    // Half an hour of the first hour is over at half past nine; it leaves the window with that hour.
    windows.roll(firstHour + 24)
    expect(windows.day.timeMs).toBe(4.5 * hourMs + 123)
  })

  it('hold 24 hours and 30 days of time, whatever passed', () => {
    const calendar = new Calendar(wallMs, 0)
    const windows = new Windows(firstHour)
    windows.pass(0, 400 * dayMs, calendar)
    // The current hour and the current day are not over.
    expect(windows.day.timeMs).toBe(23.5 * hourMs)
    expect(windows.month.timeMs).toBe(29 * dayMs + 9.5 * hourMs)
  })
})
