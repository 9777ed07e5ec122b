import { describe, expect, it } from 'vitest'
import { Histogram } from '../src/histogram.ts'
import { Latency } from '../src/latency.ts'
import type { LateReason } from '../src/types.ts'
import { peerNamed, Scene } from './scene.ts'

const kiB = 1024

/** Blocks that are always asked so many at a time, and come one after another. */
function pipeline(latency: Latency, blocks: number, ahead: number, bytes: number, wayMs: number, bytesPerMs: number): void {
  const sent: number[] = []
  let lineMs = 0
  for (let at = 0; at < blocks; at++) {
    const askedMs = at < ahead ? 0 : (sent[at - ahead] as number)
    lineMs = Math.max(askedMs + wayMs, lineMs) + bytes / bytesPerMs
    sent.push(lineMs)
    latency.sample({ latencyMs: lineMs - askedMs, bytes, queuedBytes: Math.min(at + 1, ahead) * bytes }, lineMs)
  }
}

describe('the histogram of latencies', () => {
  it('tells a quantile to within 19 %', () => {
    const histogram = new Histogram(2)
    for (let ms = 1; ms <= 400; ms++) histogram.add(1, ms)
    for (const part of [0.05, 0.25, 0.5, 0.75, 0.95, 0.99])
      expect(Math.abs(histogram.quantile(1, part) / (400 * part) - 1)).toBeLessThan(0.19)
    expect(histogram.total(1)).toBe(400)
    expect([histogram.total(0), histogram.quantile(0, 0.5)]).toEqual([0, 0])
  })

  it('takes what is shorter or longer than it can tell for the least and the most', () => {
    const histogram = new Histogram(1)
    for (const ms of [0, -1, 1e-9, Number.NaN]) histogram.add(0, ms)
    expect(histogram.quantile(0, 1)).toBe(0.25)
    const other = new Histogram(1)
    for (const ms of [1e9, Number.POSITIVE_INFINITY]) other.add(0, ms)
    expect(Math.round(other.quantile(0, 0))).toBe(Math.round(0.25 * 2 ** (79 / 4)))
  })

  it('forgets: after 512 of one kind, 1,024 of another have all but taken over', () => {
    const histogram = new Histogram(1)
    for (let time = 0; time < 511; time++) histogram.add(0, 10)
    for (let time = 0; time < 1024; time++) histogram.add(0, 100)
    expect(histogram.total(0)).toBeLessThan(512)
    expect(histogram.quantile(0, 0.2)).toBeGreaterThan(84)
  })
})

describe('the time of a byte', () => {
  it('is taken from arrivals while more was out', () => {
    const latency = new Latency()
    pipeline(latency, 200, 8, 256 * kiB, 100, 2000)
    expect(latency.perByteMs).toBeCloseTo(1 / 2000, 9)
    // The way alone is left of what a block takes behind seven others.
    expect(Math.abs(latency.medianMs / 100 - 1)).toBeLessThan(0.19)
  })

  it('is not known where one block at a time was asked for', () => {
    const latency = new Latency()
    pipeline(latency, 50, 1, 256 * kiB, 100, 2000)
    expect(latency.perByteMs).toBe(0)
  })
})

describe('when a block is late', () => {
  it('[C5] is by the 99th percentile of the peer, in the endgame by the 95th, once there are enough', () => {
    const scene = new Scene()
    scene.connect('a')
    // 94 of 20 ms, 4 of 60, 2 of 200.
    for (let time = 0; time < 100; time++) scene.turns('a', 'success', 1, time % 25 === 3 ? 60 : time % 50 === 7 ? 200 : 20)
    const late = scene.core.lateAfterMs(peerNamed('a'), 1000, 'late')
    const endgame = scene.core.lateAfterMs(peerNamed('a'), 1000, 'endgame')
    expect(late).toBeGreaterThan(168)
    expect(late).toBeLessThan(238)
    expect(endgame).toBeGreaterThan(50)
    expect(endgame).toBeLessThan(72)
  })

  it('[C5] is by mean and variation where there are few, and never before 10 ms', () => {
    const scene = new Scene()
    scene.connect('a', 'b')
    scene.turns('a', 'success', 1, 80)
    // RFC 6298: the first sample, and four times half of it.
    expect(scene.core.lateAfterMs(peerNamed('a'), 1000, 'late')).toBe(240)
    expect(scene.core.lateAfterMs(peerNamed('a'), 1000, 'endgame')).toBe(160)
    scene.turns('b', 'success', 200, 1)
    expect(scene.core.lateAfterMs(peerNamed('b'), 1000, 'late')).toBe(10)
  })

  it('[C5] is a second and the bytes at 512 KiB/s where nothing is known of anybody, then by what is known of all', () => {
    const scene = new Scene()
    scene.connect('a')
    expect(scene.core.lateAfterMs(peerNamed('x'), 512 * kiB, 'late')).toBe(2000)
    scene.turns('a', 'success', 112, 40)
    const late = scene.core.lateAfterMs(peerNamed('x'), 0, 'late')
    expect(Math.abs(late / 40 - 1)).toBeLessThan(0.19)
  })

  it('[C5][P22] grants no time for bytes to who never delivered and is not expected to, nor at the end of a fetch to who never did', () => {
    const scene = new Scene()
    scene.connect('a', 'silent', 'new')
    scene.turns('a', 'success', 112, 40)
    scene.turns('silent', 'timeout', 8, 500)
    const lateMs = (name: string, bytes: number, reason: LateReason): number => scene.core.lateAfterMs(peerNamed(name), bytes, reason)
    const usualMs = lateMs('new', 0, 'late')
    expect(lateMs('silent', 2048 * kiB, 'late')).toBe(usualMs)
    expect(lateMs('new', 2048 * kiB, 'late')).toBe(usualMs + 4000)
    expect(lateMs('new', 2048 * kiB, 'endgame')).toBe(usualMs)
    // One block is enough for its own latency and rate to count.
    scene.turns('silent', 'success', 1, 300)
    expect(lateMs('silent', 1000, 'late')).toBeGreaterThan(usualMs)
  })

  it('[C5] adds the bytes ahead at the rate measured', () => {
    const latency = new Latency()
    pipeline(latency, 1000, 8, 256 * kiB, 100, 2000)
    const [one, eight] = [1, 8].map((blocks) => latency.lateAfterMs(blocks * 256 * kiB, 'late')) as [number, number]
    // Eight blocks take 1,049 ms one behind another, and so each waits that long.
    expect(Math.abs(eight / 1049 - 1)).toBeLessThan(0.15)
    expect(eight - one).toBeGreaterThan(700)
  })
})
