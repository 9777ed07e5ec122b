import { expect, it } from 'vitest'
import { VirtualClock } from '../src/engine/clock.ts'
import { SeededRandom } from '../src/engine/random.ts'

function runAll(clock: VirtualClock): void {
  while (clock.step(Infinity)) continue
}

it('runs events by time, and those of one instant in the order in which they were planned', () => {
  const clock = new VirtualClock()
  const ran: string[] = []
  const note = (name: string) => () => ran.push(`${name}@${clock.nowMs()}`)
  clock.at(20, note('late'))
  clock.at(10, note('first'))
  clock.at(10, () => {
    note('second')()
    clock.in(0, note('fourth'))
    clock.at(5, note('past'))
  })
  clock.at(10, note('third'))
  runAll(clock)
  expect(ran).toEqual(['first@10', 'second@10', 'third@10', 'fourth@10', 'past@10', 'late@20'])
})

it('skips what was cancelled, and stops at the time it is told', () => {
  const clock = new VirtualClock()
  const ran: number[] = []
  clock.at(1, () => ran.push(1))
  const cancelled = clock.at(2, () => ran.push(2))
  clock.at(3, () => ran.push(3))
  clock.at(4, () => ran.push(4))
  cancelled.cancel()
  while (clock.step(3)) continue
  expect(ran).toEqual([1, 3])
  expect([clock.nowMs(), clock.ran, clock.waiting]).toEqual([3, 2, 1])
})

it('keeps thousands of events in order', () => {
  const clock = new VirtualClock()
  const random = new SeededRandom(1)
  const ran: number[] = []
  for (let i = 0; i < 5000; i++) clock.at(random.integer(1000), () => ran.push(clock.nowMs()))
  runAll(clock)
  expect(ran).toHaveLength(5000)
  expect(ran).toEqual(ran.toSorted((a, b) => a - b))
})
