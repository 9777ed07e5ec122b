import { describe, expect, it } from 'vitest'
import { defaultBrokerLimits } from '../src/index.ts'
import { Timing } from '../src/timing.ts'

const KiB = 1024
const MiB = 1024 * KiB

/** A peer of which a latency and a rate (bytes a millisecond) are known. */
function timing(latencyMs?: number, bytesPerMs?: number): Timing {
  const of = new Timing(defaultBrokerLimits)
  if (latencyMs !== undefined) of.sampleLatency(latencyMs, 0)
  if (bytesPerMs !== undefined) {
    const spanMs = Math.max(50, latencyMs ?? 0)
    of.sampleBytes(1, true, 0)
    of.sampleBytes(bytesPerMs * spanMs, true, spanMs)
    // Twenty seconds of blocks came at that rate.
    of.deliver(20_000 * bytesPerMs, { sinceMs: 0, sequence: 0, deliveredBefore: 0, filledWindow: true }, 20_000)
  }
  return of
}

/** Whether deadlines stand still where so many bytes come ten times a second. */
function arrives(bytesPerTick: number): boolean {
  const of = timing(100)
  for (let ms = 0; ms <= 3000; ms += 100) of.sampleBytes(bytesPerTick, true, ms)
  return of.isStillArriving(0, 0, 3050)
}

describe('deadlines', () => {
  it('[B15] are latency and four times its variation, smoothed with gains of an eighth and a quarter', () => {
    const of = timing(100)
    expect([of.latencyMs, of.latencyVariationMs, of.timeoutMs(0)]).toEqual([100, 50, 300])
    of.sampleLatency(180, 0)
    expect([of.latencyMs, of.latencyVariationMs, of.timeoutMs(0)]).toEqual([110, 57.5, 340])
  })

  it('[B15] have bounds of 50 ms and 7 s before the bytes are added, and 1 s where nothing is known', () => {
    expect([1, 10, 20, 2000, 5000].map((ms) => timing(ms).timeoutMs(0))).toEqual([50, 50, 60, 6000, 7000])
    expect(timing().timeoutMs(0)).toBe(1000)
    expect(timing(1, 1000).timeoutMs(500_000)).toBe(50 + 500)
  })

  it('[B15] have the bytes asked ahead at the measured rate of the peer added', () => {
    expect([0, 1000, 100_000, 5_000_000].map((bytes) => timing(100, 500).timeoutMs(bytes))).toEqual([300, 302, 500, 10_300])
    // Before a rate is known it is taken for 512 KiB a second.
    expect(timing(100).timeoutMs(256 * KiB)).toBe(300 + 500)
  })

  it('[B15] excuse 70 s of bytes ahead at most, and 7 s of a peer below 16 KiB/s', () => {
    expect(timing(100, 20).timeoutMs(1e9)).toBe(300 + 70_000)
    expect(timing(100, 10).timeoutMs(1e9)).toBe(300 + 7000)
  })

  it('[B15] stand still while 16 KiB/s arrive, and not below', () => {
    expect([1639, 1638].map((bytes) => arrives(bytes))).toEqual([true, false])
  })

  it('[B15] stand still for a second of silence, not for more, and for no block that 33 later ones overtook', () => {
    const of = timing(100, 1000)
    expect([of.isStillArriving(0, 0, 1100), of.isStillArriving(0, 0, 1101)]).toEqual([true, false])
    of.deliveredSequence = 32
    expect(of.isStillArriving(0, 0, 1000)).toBe(true)
    of.deliveredSequence = 33
    expect([of.isStillArriving(0, 0, 1000), of.isStillArriving(1, 0, 1000)]).toEqual([false, true])
  })

  it('[B15] end where nothing of use came for 7 s, whatever is ahead', () => {
    const of = timing(100, 1000)
    expect([of.isQuiet(0, 7100), of.isQuiet(0, 7101), of.isQuiet(500, 7500), of.isQuiet(500, 7501)]).toEqual([false, true, false, true])
  })
})

describe('windows', () => {
  it('[B15] are 2 MiB at first, then what the rate brings in twice the latency and 30 ms, from 128 KiB up to 32 MiB', () => {
    expect(timing().windowBytes()).toBe(2 * MiB)
    expect(timing(50, 20_000).windowBytes()).toBe(20_000 * 130)
    expect(timing(1, 100_000).windowBytes()).toBe(100_000 * 32)
    expect(timing(100, 1_000_000).windowBytes()).toBe(32 * MiB)
    expect(timing(1, 100).windowBytes()).toBe(128 * KiB)
  })

  it('[B15] take the latency net of what was queued before the answer, and not below the shortest', () => {
    const of = timing(50, 1000)
    // 100,000 bytes came before it, which take 100 of the 170 ms.
    of.sampleLatency(170, 100_000)
    expect(of.windowBytes()).toBe(1000 * (2 * (50 + (70 - 50) / 8) + 30))
    of.sampleLatency(60, 100_000)
    expect(of.latencyNetMs).toBe(52.5 + (50 - 52.5) / 8)
  })

  it('[B15][B27] follow the rate: up by half of the difference, down by three tenths of it', () => {
    const of = timing(50, 1000)
    of.sampleBytes(2000 * 50, true, 100)
    expect(of.bytesPerMs).toBe(1500)
    of.sampleBytes(500 * 50, true, 150)
    expect(of.bytesPerMs).toBe(1500 + 0.3 * (500 - 1500))
  })

  it('[B15] count neither bytes that nobody waited for nor those of messages without use', () => {
    const of = timing(50, 1000)
    of.sampleBytes(1e9, false, 60)
    expect(of.bytesPerMs).toBe(1000)
    of.sampleBytes(1e6, true, 90)
    of.discount(1e6)
    of.sampleBytes(1000 * 50, true, 100)
    expect(of.bytesPerMs).toBe(1000)
    of.pause()
    of.sampleBytes(7, true, 10_000)
    of.sampleBytes(1000 * 50, true, 10_050)
    expect(of.bytesPerMs).toBe(1000)
  })
})
