import { AssertionError } from '@shardswap/interface'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  acceptedInRow,
  accepts,
  admissionScore,
  availability,
  faded,
  ownerScore,
  ownerWeight,
  smoothedAvailability,
  smoothedWeight,
  weight,
  type OwnerFigures
} from '../../src/admission/formulas.ts'
import { defaultAdmissionLimits as limits } from '../../src/admission/limits.ts'

const runs = { seed: 20_261_130, numRuns: 500 }
const capMax = 1000
const prior = { availabilityPrior: 0.5, priorTests: 5 }
const hourMs = 60 * 60 * 1000

describe('worked examples, as the text has them', () => {
  it.each([
    [100, 100, 1],
    [72, 96, 0.75],
    [0, 24, 0]
  ])('[I5][I7] %i verified answers of %i tests: availability %d', (received, sent, expected) => {
    expect(availability({ received, sent })).toBe(expected)
  })

  it.each([
    ['its share', 100, 1000, 1, 10, 1],
    ['half of its share', 50, 1000, 1, 10, 0.5],
    ['80 % with 10 % of the servers', 800, 1000, 1, 10, 8],
    ['80 % with 80 % of the servers', 800, 1000, 8, 10, 1],
    ['all with the only server', 1000, 1000, 1, 1, 1],
    ['nothing', 0, 1000, 1, 10, 0]
  ])(
    '[I13] an owner uses %s: %i of %i requests, %i of %i servers, weight %d',
    (_, served, servedTotal, servers, serversTotal, expected) => {
      expect(weight({ served, servedTotal, servers, serversTotal })).toBeCloseTo(expected, 12)
    }
  )

  it.each([
    [1, 1, 1, 1000],
    [1, 1, 8, 125],
    [1, 1, 0.5, 2000],
    [1, 0, 1, 500],
    [0.5, 0.5, 2, 250],
    [0, 0, 1, 0]
  ])('[I8] A_long %d, A_short %d, weight %d: score %d of 1,000', (aLong, aShort, weight, expected) => {
    expect(admissionScore({ aLong, aShort, weight }, capMax)).toBeCloseTo(expected, 9)
  })

  it('[I15] 80 % of the requests and 10 % of the servers: an eighth of Cap_max at full availability', () => {
    const hog = weight({ served: 80, servedTotal: 100, servers: 1, serversTotal: 10 })
    expect(hog).toBe(8)
    expect(admissionScore({ aLong: 1, aShort: 1, weight: hog }, capMax)).toBe(capMax / 8)
  })

  it('[I8][I13] what divides by zero is not asked', () => {
    expect(() => availability({ received: 0, sent: 0 })).toThrow(AssertionError)
    expect(() => weight({ served: 0, servedTotal: 0, servers: 1, serversTotal: 1 })).toThrow(AssertionError)
    expect(() => admissionScore({ aLong: 1, aShort: 1, weight: 0 }, capMax)).toThrow(AssertionError)
  })
})

describe('worked examples, smoothed', () => {
  it.each([
    ['nothing served, one server: an idle owner', 0, 0, 1, 1, 1],
    ['nothing served, one server of ten', 0, 0, 1, 10, 1],
    ['nothing served, all ten servers', 0, 0, 10, 10, 1],
    ['idle while others are served', 0, 1000, 1, 10, 0.1],
    ['80 % with 10 %', 800, 1000, 1, 10, 801 / 101],
    ['its share', 100, 1000, 1, 10, 1],
    ['the first request of all', 1, 1, 1, 10, 20 / 11]
  ])('[I13] %s: %i of %i requests, %i of %i servers, weight %d', (_, served, servedTotal, servers, serversTotal, expected) => {
    expect(smoothedWeight({ served, servedTotal, servers, serversTotal }, 0.1)).toBeCloseTo(expected, 12)
  })

  it.each([
    [0, 0, 0.5],
    [5, 5, 0.75],
    [0, 5, 0.25],
    [95, 95, 0.975]
  ])('[I5][I7] %i of %i tests: availability %d', (received, sent, expected) => {
    expect(smoothedAvailability({ received, sent }, prior)).toBeCloseTo(expected, 12)
  })

  it('[I3][I12] who is not verified has the free score at most, who never answers 0, who is verified all of it', () => {
    const idle = { served: 0, servedTotal: 0, serversTotal: 1, aLong: 0.5, aShort: 0.5 }
    const score = (servers: number, received: number, sent: number): number =>
      ownerScore({ ...idle, servers, tests: { received, sent } }, limits)
    expect(score(0, 0, 0)).toBe(limits.freeScoreRequests)
    expect(score(0, 0, 23)).toBe(limits.freeScoreRequests)
    expect(score(0, 0, 24)).toBe(0)
    expect(score(1, 1, 24)).toBe(limits.openRequestsMax / 2)
  })

  it('[I13] what was served a window ago counts for 1/e', () => {
    expect(faded(100, 0, 24 * hourMs)).toBe(100)
    expect(faded(100, -5, 24 * hourMs)).toBe(100)
    expect(faded(100, 24 * hourMs, 24 * hourMs)).toBeCloseTo(36.788, 3)
    let sum = 0
    for (let hour = 0; hour < 24 * 40; hour++) sum = faded(sum, hourMs, 24 * hourMs) + 10
    // Ten an hour are 240 in 24 hours.
    expect(sum).toBeGreaterThan(240)
    expect(sum).toBeLessThan(250)
  })
})

describe('acceptance', () => {
  it.each([
    [10, 0, true],
    [10, 10, true],
    [10, 11, false],
    [10.5, 10, true],
    [10.5, 11, false],
    [0, 0, false],
    [0.01, 0, true],
    [0.01, 1, false],
    [5000, 999, true],
    [5000, 1000, false],
    [1000, 1000, false]
  ])('[I10][I12] score %d with %i open: %s', (score, open, expected) => {
    expect(accepts(score, open, capMax)).toBe(expected)
  })

  const someScore = fc.oneof(fc.double({ min: 0, max: 3000, noNaN: true }), fc.nat(1100))

  it('[I10] as many in a row are accepted as one by one', () => {
    fc.assert(
      fc.property(someScore, fc.nat(40), fc.integer({ min: 1, max: 60 }), (score, open, capMax) => {
        let row = 0
        while (accepts(score, open + row, capMax)) row++
        expect(acceptedInRow(score, open, capMax)).toBe(row)
      }),
      runs
    )
  })

  it('[I11] as load grows, lower scores are turned away first', () => {
    fc.assert(
      fc.property(someScore, someScore, fc.integer({ min: 1, max: 1100 }), (one, other, open) => {
        const [low, high] = [Math.min(one, other), Math.max(one, other)]
        const isLowAccepted = accepts(low, open, capMax)
        expect(accepts(high, open, capMax) || !isLowAccepted).toBe(true)
        expect(accepts(low, open - 1, capMax) || !isLowAccepted).toBe(true)
      }),
      runs
    )
  })
})

describe('for all counters', () => {
  // Of zeros and of numbers of every size.
  const sum = fc.oneof(fc.constant(0), fc.nat(20), fc.double({ min: 0, max: 1e12, noNaN: true }))
  const count = fc.oneof(fc.constant(0), fc.nat(20), fc.nat(100_000))
  const figuresOf = fc
    .record({ served: sum, others: sum, servers: count, otherServers: count, received: count, lost: count, aLong: count, aShort: count })
    .map(({ served, others, servers, otherServers, received, lost, aLong, aShort }): OwnerFigures => {
      const part = (value: number): number => smoothedAvailability({ received: value, sent: value + lost }, prior)
      const tests = { received, sent: received + lost }
      const use = { served, servedTotal: served + others, servers, serversTotal: servers + otherServers }
      return { ...use, aLong: part(aLong), aShort: part(aShort), tests }
    })

  it('[I13][I8] smoothed weight and score are finite, the weight not below its floor, the score not below 0', () => {
    fc.assert(
      fc.property(figuresOf, (figures) => {
        const weight = ownerWeight(figures, limits)
        expect(Number.isFinite(weight)).toBe(true)
        expect(weight).toBeGreaterThanOrEqual(limits.weightMin)
        const score = ownerScore(figures, limits)
        expect(Number.isFinite(score)).toBe(true)
        expect(score).toBeGreaterThanOrEqual(0)
        expect(score).toBeLessThanOrEqual(limits.openRequestsMax / limits.weightMin)
        expect(figures.servers > 0 || score <= limits.freeScoreRequests).toBe(true)
      }),
      runs
    )
  })

  it('[I5][I7] smoothed availability lies between 0 and 1 and rises with each answer', () => {
    fc.assert(
      fc.property(count, count, (received, lost) => {
        const value = smoothedAvailability({ received, sent: received + lost }, prior)
        expect(value).toBeGreaterThan(0)
        expect(value).toBeLessThan(1)
        expect(smoothedAvailability({ received: received + 1, sent: received + lost + 1 }, prior)).toBeGreaterThan(value)
        expect(smoothedAvailability({ received, sent: received + lost + 1 }, prior)).toBeLessThan(value)
      }),
      runs
    )
  })

  it('[I13][I4] to use more lowers the score, to give more never does', () => {
    fc.assert(
      fc.property(figuresOf, fc.double({ min: 0, max: 1e6, noNaN: true }), fc.nat(50), (figures, more, servers) => {
        const score = ownerScore(figures, limits)
        const slack = 1 + 1e-9
        const greedier = { ...figures, served: figures.served + more, servedTotal: figures.servedTotal + more }
        expect(ownerScore(greedier, limits)).toBeLessThanOrEqual(score * slack)
        const better = { ...figures, aLong: (figures.aLong + 1) / 2, aShort: (figures.aShort + 1) / 2 }
        expect(ownerScore(better, limits) * slack).toBeGreaterThanOrEqual(score)
        // More servers of its own, while all else is as it was: who is below its share comes nearer to it from below.
        const larger = { ...figures, servers: figures.servers + servers, serversTotal: figures.serversTotal + servers }
        expect(ownerWeight(larger, limits)).toBeLessThanOrEqual(Math.max(1, ownerWeight(figures, limits)) * slack)
      }),
      runs
    )
  })

  it('[I13] with much served, smoothed and plain weight agree', () => {
    const some = fc.integer({ min: 1, max: 1000 })
    fc.assert(
      fc.property(some, some, some, some, (served, others, servers, otherServers) => {
        const counts = { served: served * 1e9, servedTotal: (served + others) * 1e9, servers, serversTotal: servers + otherServers }
        const plain = weight(counts)
        expect(smoothedWeight(counts, 1e-9) / plain).toBeCloseTo(1, 3)
      }),
      runs
    )
  })
})
