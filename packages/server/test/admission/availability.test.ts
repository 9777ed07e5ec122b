import { peerKey } from '@shardswap/interface'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { Availability, type AvailabilityInit } from '../../src/admission/availability.ts'
import { ownerKey } from '../../src/admission/binding.ts'
import { smoothedAvailability } from '../../src/admission/formulas.ts'
import { defaultAdmissionLimits } from '../../src/admission/limits.ts'

const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs
/** Half past nine, so that hours and days of the wall end apart from those of the clock. */
const wallMs = Date.UTC(2026, 10, 30, 9, 30)
const prior = { availabilityPrior: 0.5, priorTests: 5 }
const [alice, bob] = [ownerKey('alice'), ownerKey('bob')]
const server = (number: number): ReturnType<typeof peerKey> => peerKey(`server ${number}`)

function availabilityOf(init: Partial<AvailabilityInit> = {}): Availability {
  return new Availability({ wallMs, nowMs: 0, limits: defaultAdmissionLimits, ...init })
}

/** So many tests of a server, of which the first so many are verified. */
function test(availability: Availability, number: number, received: number, sent: number, nowMs: number): void {
  for (let at = 0; at < sent; at++) availability.tested(server(number), at < received, nowMs)
}

it('[I7] A_short is of 24 hours, A_long of 30 days, both with the current hour', () => {
  const availability = availabilityOf()
  availability.register(server(1), alice, 0)
  test(availability, 1, 10, 10, 0)
  test(availability, 1, 0, 10, 25 * hourMs)
  const figures = availability.ofOwner(alice, 25 * hourMs)
  expect(figures.aShort).toBe(smoothedAvailability({ received: 0, sent: 10 }, prior))
  expect(figures.aLong).toBe(smoothedAvailability({ received: 10, sent: 20 }, prior))
  expect(figures.tests).toEqual({ received: 10, sent: 20 })
  expect(availability.ofOwner(alice, 29 * dayMs).tests.sent).toBe(20)
  expect(availability.ofOwner(alice, 32 * dayMs)).toEqual({
    registered: 1,
    servers: 0,
    aShort: 0.5,
    aLong: 0.5,
    tests: { received: 0, sent: 0 }
  })
})

it('[I3] only a server verified in the last 24 hours counts in S', () => {
  const availability = availabilityOf()
  for (const number of [1, 2, 3]) availability.register(server(number), alice, 0)
  expect(availability.serversTotal(0)).toBe(0)
  test(availability, 1, 1, 1, 0)
  test(availability, 2, 0, 50, 0)
  expect(availability.serversTotal(0)).toBe(1)
  expect(availability.ofOwner(alice, 0)).toMatchObject({ registered: 3, servers: 1 })
  expect(availability.serversTotal(23 * hourMs)).toBe(1)
  expect(availability.serversTotal(24 * hourMs)).toBe(0)
  test(availability, 2, 1, 1, 24 * hourMs)
  expect(availability.serversTotal(24 * hourMs)).toBe(1)
})

it('[I3][I4] an owner’s A is the mean over its servers: to register a dead one does not pay', () => {
  const availability = availabilityOf()
  availability.register(server(1), alice, 0)
  test(availability, 1, 95, 95, 0)
  const alone = availability.ofOwner(alice, 0)
  expect(alone.aShort).toBe(0.975)
  availability.register(server(2), alice, 0)
  test(availability, 2, 0, 95, 0)
  const both = availability.ofOwner(alice, 0)
  expect(both.aShort).toBe((0.975 + 0.025) / 2)
  expect(both.aLong).toBe(both.aShort)
  expect(both.servers).toBe(alone.servers)
})

it('[I5][I12] a server that never answered is tested on, and its first answer counts', () => {
  const availability = availabilityOf()
  availability.register(server(1), alice, 0)
  test(availability, 1, 0, 100, 0)
  expect(availability.ofServer(server(1), 0)).toMatchObject({ servers: 0, tests: { received: 0, sent: 100 } })
  expect(availability.tested(server(1), true, hourMs)).toBe(true)
  expect(availability.ofServer(server(1), hourMs)).toMatchObject({ servers: 1, tests: { received: 1, sent: 101 } })
})

it('[I3] who comes back, under the same owner or another, brings its record along', () => {
  const availability = availabilityOf()
  availability.register(server(1), alice, 0)
  test(availability, 1, 4, 40, 0)
  const before = availability.ofOwner(alice, 0)
  availability.unregister(server(1), 0)
  expect(availability.ofOwner(alice, 0)).toMatchObject({ registered: 0, aShort: 0.5 })
  expect(availability.ofServer(server(1), 0)).toBeUndefined()
  expect(availability.serversTotal(0)).toBe(0)
  expect(availability.tested(server(1), true, 0)).toBe(false)
  availability.register(server(1), bob, 0)
  expect(availability.ofOwner(bob, 0)).toEqual(before)
  availability.register(server(1), alice, 0)
  expect(availability.ofOwner(alice, 0)).toEqual(before)
  expect(availability.ofOwner(bob, 0).registered).toBe(0)
  expect(availability.serversTotal(0)).toBe(1)
})

it('[I16] servers remembered are bounded: those no longer registered leave first, those registered never', () => {
  const availability = availabilityOf({ limits: { ...prior, serversMax: 3 } })
  for (const number of [1, 2, 3]) {
    expect(availability.register(server(number), alice, 0)).toBe(true)
    test(availability, number, 1, 1, 0)
  }
  expect(availability.register(server(4), bob, 0)).toBe(false)
  availability.unregister(server(2), 0)
  availability.unregister(server(1), 0)
  expect(availability.register(server(4), bob, 0)).toBe(true)
  expect(availability.size).toBe(3)
  // The first to leave was the second; the first is remembered still.
  availability.unregister(server(4), 0)
  expect(availability.size).toBe(2)
  availability.register(server(1), bob, 0)
  expect(availability.ofOwner(bob, 0).tests.sent).toBe(1)
  availability.unregister(server(1), 0)
  availability.serversTotal(40 * dayMs)
  expect(availability.size).toBe(1)
})

it('[I7] what is saved comes back: as old as it is, whatever the clock says, and nothing that cannot be', () => {
  const first = availabilityOf()
  first.register(server(1), alice, 0)
  test(first, 1, 8, 10, 0)
  const saved = JSON.parse(JSON.stringify(first.saved(hourMs))) as ReturnType<Availability['saved']>
  const later = availabilityOf({ saved, wallMs: wallMs + 3 * hourMs, nowMs: 77 })
  later.register(server(1), alice, 77)
  expect(later.ofOwner(alice, 77)).toEqual(first.ofOwner(alice, 3 * hourMs))
  const nextDay = availabilityOf({ saved, wallMs: wallMs + 2 * dayMs })
  nextDay.register(server(1), alice, 0)
  expect(nextDay.ofOwner(alice, 0)).toEqual(first.ofOwner(alice, 2 * dayMs))
  // The clock was set back: the tests are as old as they were.
  const earlier = availabilityOf({ saved, wallMs: wallMs - 5 * dayMs })
  earlier.register(server(1), alice, 0)
  expect(earlier.ofOwner(alice, 0).tests).toEqual({ received: 8, sent: 10 })
  expect(earlier.ofOwner(alice, 26 * hourMs)).toMatchObject({ servers: 0, aShort: 0.5 })
  const wrong = [
    { server: server(2), hour: 4.5, buckets: [] },
    { server: server(3), hour: 4, buckets: [0, 9] }
  ]
  expect(availabilityOf({ saved: wrong }).size).toBe(0)
})

it('[I3][I7] whatever happens, the figures are those of a plain list of tests', () => {
  const eventOf = fc.oneof(
    { weight: 2, arbitrary: fc.record({ type: fc.constant('register' as const), number: fc.nat(3), owner: fc.constantFrom(alice, bob) }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('unregister' as const), number: fc.nat(3) }) },
    { weight: 5, arbitrary: fc.record({ type: fc.constant('test' as const), number: fc.nat(3), isVerified: fc.boolean() }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('pass' as const), ms: fc.oneof(fc.nat(3 * hourMs), fc.nat(9 * dayMs)) }) }
  )
  fc.assert(
    fc.property(fc.array(eventOf, { maxLength: 60 }), (events) => {
      const availability = availabilityOf()
      const tests: { number: number; isVerified: boolean; hour: number }[] = []
      const owners = new Map<number, typeof alice>()
      let nowMs = 0
      for (const event of events) {
        if (event.type === 'pass') nowMs += event.ms
        else if (event.type === 'register') {
          availability.register(server(event.number), event.owner, nowMs)
          owners.set(event.number, event.owner)
        } else if (event.type === 'unregister') {
          availability.unregister(server(event.number), nowMs)
          owners.delete(event.number)
        } else {
          const isCounted = availability.tested(server(event.number), event.isVerified, nowMs)
          if (isCounted !== owners.has(event.number)) throw new Error('a test counts where its server is registered, and only there')
          if (isCounted) tests.push({ number: event.number, isVerified: event.isVerified, hour: Math.floor((wallMs + nowMs) / hourMs) })
        }
      }
      const hour = Math.floor((wallMs + nowMs) / hourMs)
      const day = Math.floor(hour / 24)
      const of = (number: number, since: (test: { hour: number }) => boolean): { received: number; sent: number } => {
        const mine = tests.filter((test) => test.number === number && since(test))
        return { received: mine.filter(({ isVerified }) => isVerified).length, sent: mine.length }
      }
      let total = 0
      for (const owner of [alice, bob]) {
        const numbers = [...owners].filter(([, each]) => each === owner).map(([number]) => number)
        const short = numbers.map((number) => of(number, (test) => test.hour > hour - 24))
        const long = numbers.map((number) => of(number, (test) => Math.floor(test.hour / 24) > day - 30))
        const mean = (list: typeof short): number =>
          list.length === 0 ? 0.5 : list.reduce((sum, counts) => sum + smoothedAvailability(counts, prior), 0) / list.length
        const figures = availability.ofOwner(owner, nowMs)
        expect(figures.aShort).toBeCloseTo(mean(short), 12)
        expect(figures.aLong).toBeCloseTo(mean(long), 12)
        expect(figures.servers).toBe(short.filter(({ received }) => received > 0).length)
        total += figures.servers
      }
      expect(availability.serversTotal(nowMs)).toBe(total)
    }),
    { seed: 20_261_130, numRuns: 300 }
  )
})
