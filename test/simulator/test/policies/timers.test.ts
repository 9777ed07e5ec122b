import { array, assert, integer, nat, option, property, record } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextRoundMs, Timers, type Timer } from '../../src/policies/timers.ts'

describe('Timers', () => {
  it('runs what is due, by time and then by age, and what comes to be due meanwhile', () => {
    const timers = new Timers()
    const ran: string[] = []
    timers.at(20, () => ran.push('b'))
    timers.at(10, () => {
      ran.push('a')
      timers.at(20, () => ran.push('d'))
    })
    timers.at(20, () => ran.push('c'))
    timers.at(30, () => ran.push('e'))
    expect(timers.nextAtMs()).toBe(10)
    timers.runDue(20)
    expect(ran).toEqual(['a', 'b', 'c', 'd'])
    expect([timers.size, timers.nextAtMs()]).toEqual([1, 30])
  })

  it('never runs what was cancelled, before or while others run', () => {
    const timers = new Timers()
    const ran: string[] = []
    const late = timers.at(10, () => ran.push('late'))
    timers.at(5, () => late.cancel())
    late.cancel()
    const ended = timers.at(1, () => ran.push('once'))
    timers.runDue(10)
    ended.cancel()
    expect(ran).toEqual(['once'])
    expect([timers.size, timers.nextAtMs()]).toEqual([0, undefined])
  })

  it('is a queue by time, whatever is added and cancelled', () => {
    const steps = array(record({ atMs: integer({ min: 0, max: 50 }), cancels: option(nat(400)) }), { maxLength: 400 })
    assert(
      property(steps, (all) => {
        const timers = new Timers()
        const made: Timer[] = []
        const ran: number[] = []
        const live = new Set<number>()
        for (const { atMs, cancels } of all) {
          const index = made.length
          live.add(index)
          made.push(timers.at(atMs, () => ran.push(index)))
          if (cancels === null || cancels >= made.length) continue
          made[cancels]?.cancel()
          live.delete(cancels)
        }
        expect(timers.size).toBe(live.size)
        timers.runDue(50)
        const expected = [...live].sort((a, b) => (made[a]?.atMs ?? 0) - (made[b]?.atMs ?? 0) || a - b)
        expect(ran).toEqual(expected)
      })
    )
  })
})

describe('nextRoundMs', () => {
  it('is after the present, on the grid', () => {
    expect(nextRoundMs(5, 10, 5)).toBe(15)
    expect(nextRoundMs(5, 10, 14)).toBe(15)
    expect(nextRoundMs(5, 10, 15)).toBe(25)
  })

  it('goes on where a difference is rounded down', () => {
    assert(
      property(integer({ min: 1, max: 1_000_000 }), integer({ min: 1, max: 100 }), (since, rounds) => {
        const sinceMs = since / 7
        let atMs = sinceMs
        for (let round = 0; round < rounds; round++) {
          const nextMs = nextRoundMs(sinceMs, 15_000, atMs)
          expect(nextMs).toBeGreaterThan(atMs)
          expect(nextMs - atMs).toBeCloseTo(15_000, 3)
          atMs = nextMs
        }
      })
    )
  })
})
