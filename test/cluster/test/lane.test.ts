import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Lane, Line, openShape, queueMsMax, type Shape } from '../src/lane.ts'

const kibi = 1024
const noLimit = Number.MAX_SAFE_INTEGER

function laneOf(shape: Partial<Shape>, shared?: Line): Lane {
  return new Lane({ ...openShape, ...shape }, shared)
}

function bytesOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { byteLength }) => sum + byteLength, 0)
}

/** Keeps a lane fed for `forMs` in steps of a millisecond; gives the bytes that came out by then. */
function feed(lanes: readonly Lane[], forMs: number): number[] {
  const out = lanes.map(() => 0)
  for (let now = 0; now <= forMs; now += 1) {
    for (const [index, lane] of lanes.entries()) out[index] = (out[index] ?? 0) + bytesOf(lane.take(now, noLimit))
    for (const lane of lanes.filter((lane) => lane.mayRead(now, 0))) lane.put(new Uint8Array(64 * kibi), now, 0)
  }
  return out
}

describe('a lane', () => {
  it('lets bytes out after the delay, not before', () => {
    const lane = laneOf({ delayMs: 25 })
    lane.put(Uint8Array.of(1, 2), 100, 0.5)
    lane.put(Uint8Array.of(3), 104, 0.5)
    expect(lane.dueMs).toBe(125)
    expect(lane.take(124.9, noLimit)).toEqual([])
    expect(lane.take(125, noLimit)).toEqual([Uint8Array.of(1, 2)])
    expect([lane.dueMs, lane.heldBytes]).toEqual([129, 1])
    expect(lane.take(1000, noLimit)).toEqual([Uint8Array.of(3)])
    expect([lane.dueMs, lane.heldBytes, lane.empty]).toEqual([Infinity, 0, true])
  })

  it('passes bytes without a delay at once', () => {
    const lane = laneOf({})
    lane.put(Uint8Array.of(1), 7, 0.9)
    expect(lane.take(7, noLimit)).toEqual([Uint8Array.of(1)])
  })

  it('adds jitter within its bound, and never lets a read overtake another', () => {
    const lane = laneOf({ delayMs: 10, jitterMs: 8 })
    lane.put(Uint8Array.of(1), 0, 0.75)
    lane.put(Uint8Array.of(2), 1, 0.25)
    expect(lane.take(15.9, noLimit)).toEqual([])
    expect(lane.take(16, noLimit)).toEqual([Uint8Array.of(1), Uint8Array.of(2)])
  })

  it('keeps order and loses nothing, whatever shape, reads and turns it has', () => {
    const step = fc.record({
      bytes: fc.integer({ min: 1, max: 5000 }),
      waitMs: fc.integer({ min: 0, max: 30 }),
      random: fc.double({ min: 0, max: 0.999, noNaN: true }),
      takeMax: fc.constantFrom(1, 1000, noLimit)
    })
    const shape = fc.record({
      delayMs: fc.constantFrom(0, 3, 50),
      jitterMs: fc.constantFrom(0, 20),
      bytesPerS: fc.constantFrom(20_000, 5e6, Infinity)
    })
    fc.assert(
      fc.property(shape, fc.array(step, { maxLength: 60 }), (shape, steps) => {
        const lane = laneOf(shape)
        const out: Uint8Array[] = []
        let next = 0
        let now = 0
        for (const { bytes, waitMs, random, takeMax } of steps) {
          lane.put(
            Uint8Array.from({ length: bytes }, () => (next++ * 7919) >> 3),
            now,
            random
          )
          now += waitMs
          out.push(...lane.take(now, takeMax))
          expect(lane.heldBytes).toBe(next - bytesOf(out))
        }
        out.push(...lane.take(Infinity, noLimit))
        expect(Buffer.concat(out)).toEqual(Buffer.from(Uint8Array.from({ length: next }, (_, index) => (index * 7919) >> 3)))
      })
    )
  })

  it('passes a limited rate to the byte, in small parts', () => {
    const lane = laneOf({ bytesPerS: 1_000_000, delayMs: 50 })
    lane.put(new Uint8Array(100_000), 0, 0)
    const parts = lane.take(50 + 10, noLimit)
    expect(parts.map(({ byteLength }) => byteLength)).toEqual([2000, 2000, 2000, 2000, 2000])
    expect(bytesOf(lane.take(149.9, noLimit))).toBe(88_000)
    expect(bytesOf(lane.take(150, noLimit))).toBe(2000)
  })

  it('keeps a limited line full, and what waits before it short', () => {
    const lane = laneOf({ bytesPerS: 20_000_000, delayMs: 25 })
    const [out = 0] = feed([lane], 2000)
    // A part of two milliseconds of the rate may be under way.
    expect(out).toBeGreaterThan(20_000_000 * (2 - 0.025) - 40_000)
    expect(out).toBeLessThanOrEqual(20_000_000 * (2 - 0.025))
    const onItsWay = (20_000_000 * (25 + queueMsMax)) / 1000
    expect(lane.heldBytes).toBeLessThanOrEqual(onItsWay + 64 * kibi)
  })

  it('shares a line with others evenly', () => {
    const uplink = new Line(10_000_000)
    const out = feed([laneOf({}, uplink), laneOf({}, uplink), laneOf({}, uplink), laneOf({}, uplink)], 2000)
    const sum = out.reduce((a, b) => a + b, 0)
    expect(sum).toBeGreaterThan(10_000_000 * 2 - 20_000)
    expect(sum).toBeLessThanOrEqual(10_000_000 * 2)
    for (const bytes of out) expect(Math.abs(bytes - sum / 4)).toBeLessThanOrEqual(2 * 64 * kibi)
  })

  it('is bound by the slower of its own line and the shared one', () => {
    const uplink = new Line(10_000_000)
    const [slow, fast] = feed([laneOf({ bytesPerS: 1_000_000 }, uplink), laneOf({}, uplink)], 1000)
    // The last read may still wait behind what the other put into the shared line.
    expect(slow).toBeGreaterThan(1_000_000 - 64 * kibi)
    expect(slow).toBeLessThanOrEqual(1_000_000)
    expect(fast).toBeGreaterThan(8_800_000)
  })

  it('takes another rate and another delay from the next read on', () => {
    const lane = laneOf({ bytesPerS: 1_000_000, delayMs: 40 })
    lane.put(new Uint8Array(2000), 0, 0)
    lane.reshape({ ...openShape, bytesPerS: 4_000_000, delayMs: 10 })
    lane.put(new Uint8Array(8000), 0, 0)
    // The first is through the line at 2 ms and due at 42; the second would be at 14, and overtakes nothing.
    expect(bytesOf(lane.take(41.9, noLimit))).toBe(0)
    expect(bytesOf(lane.take(42, noLimit))).toBe(10_000)
    lane.put(new Uint8Array(8000), 100, 0)
    expect([bytesOf(lane.take(111.9, noLimit)), bytesOf(lane.take(112, noLimit))]).toEqual([0, 8000])
  })

  it('holds what it may and no more, and reads again at half of it', () => {
    const lane = laneOf({ delayMs: 25, heldBytesMax: 1000 })
    lane.put(new Uint8Array(900), 0, 0)
    expect(lane.mayRead(0, 0)).toBe(true)
    // What the receiver has not yet taken counts too.
    expect(lane.mayRead(0, 100)).toBe(false)
    lane.put(new Uint8Array(100), 1, 0)
    expect(lane.mayRead(1, 0)).toBe(false)
    lane.take(25, noLimit)
    expect([lane.heldBytes, lane.mayRead(25, 500), lane.mayRead(25, 400)]).toEqual([100, false, true])
  })

  it('says when it reads again: once little waits before its line', () => {
    const lane = laneOf({ bytesPerS: 1_000_000 })
    lane.put(new Uint8Array(60_000), 0, 0)
    expect([lane.mayRead(0, 0), lane.readMs]).toEqual([false, 35])
    lane.take(34.9, noLimit)
    expect(lane.mayRead(34.9, 0)).toBe(false)
    lane.take(35, noLimit)
    expect(lane.mayRead(35, 0)).toBe(true)
  })

  it('lets nothing out while stalled, and all that fell due afterwards', () => {
    const lane = laneOf({ delayMs: 5 })
    lane.put(Uint8Array.of(1), 0, 0)
    lane.stall(true)
    lane.put(Uint8Array.of(2), 1, 0)
    expect([lane.take(100, noLimit), lane.dueMs]).toEqual([[], Infinity])
    lane.stall(false)
    expect([lane.dueMs, lane.take(100, noLimit)]).toEqual([5, [Uint8Array.of(1), Uint8Array.of(2)]])
  })

  it('forgets what it holds when cleared', () => {
    const lane = laneOf({ delayMs: 5 })
    lane.put(Uint8Array.of(1, 2, 3), 0, 0)
    expect([lane.clear(), lane.empty, lane.heldBytes, lane.take(100, noLimit)]).toEqual([3, true, 0, []])
  })
})
