import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Closable, OpenSessions } from '../../src/helia/sessions.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => vi.useRealTimers())

/** A session that counts how often it was closed. */
class Counted implements Closable {
  closed = 0
  close(): void {
    this.closed += 1
  }
}

test('a session is closed once it has rested long enough, and not while it asks', async () => {
  const sessions = new OpenSessions(1000)
  const [resting, busy] = [new Counted(), new Counted()]
  sessions.busy(resting)
  sessions.busy(busy)
  sessions.rests(resting)
  await vi.advanceTimersByTimeAsync(999)
  sessions.busy(resting)
  await vi.advanceTimersByTimeAsync(5000)
  expect([resting.closed, busy.closed]).toEqual([0, 0])
  sessions.rests(resting)
  await vi.advanceTimersByTimeAsync(1000)
  expect([resting.closed, busy.closed]).toEqual([1, 0])
})

test('of many that rest the one that rests longest is closed; at the end all are', () => {
  // For ever: longer than a timer can be.
  const sessions = new OpenSessions(Infinity)
  const many = Array.from({ length: 70 }, () => new Counted())
  for (const session of many) {
    sessions.busy(session)
    sessions.rests(session)
  }
  expect(many.map(({ closed }) => closed)).toEqual([...Array<number>(6).fill(1), ...Array<number>(64).fill(0)])
  const busy = new Counted()
  sessions.busy(busy)
  sessions.closeAll()
  expect([...many, busy].every(({ closed }) => closed === 1)).toBe(true)
  expect(vi.getTimerCount()).toBe(0)
  sessions.rests(busy)
  expect(vi.getTimerCount()).toBe(0)
})
