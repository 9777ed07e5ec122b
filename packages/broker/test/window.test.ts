import { describe, expect, it } from 'vitest'
import { defaultBrokerLimits } from '../src/limits.ts'
import { Timing } from '../src/timing.ts'

const KiB = 1024
const MiB = 1024 * KiB
const blockBytes = 256 * KiB
const { windowMinBytes, windowStartBytes, windowNearMaxBytes, windowMaxBytes, windowSlackMs } = defaultBrokerLimits

/** A peer whose way there and back takes 50 ms, seen by a small answer. */
function near(): Timing {
  const timing = new Timing(defaultBrokerLimits)
  timing.sampleLatency(50, 0)
  return timing
}

interface Block {
  readonly askedMs: number
  readonly cameMs: number
  readonly before: number
  readonly filled?: boolean
}

function deliver(timing: Timing, { askedMs, cameMs, before, filled = true }: Block, bytes = blockBytes): void {
  timing.deliver(bytes, { sinceMs: askedMs, sequence: 0, deliveredBefore: before, filledWindow: filled }, cameMs)
}

/** Delivers so much at once that the start is over, at 10,000 bytes a millisecond. */
function settled(): Timing {
  const timing = near()
  deliver(timing, { askedMs: 0, cameMs: windowNearMaxBytes / 10_000, before: 0 }, windowNearMaxBytes)
  return timing
}

describe('the window of a peer', () => {
  it('[B15] begins at 2 MiB, and the small nodes that a DAG begins with do not narrow it', () => {
    const timing = near()
    expect(timing.windowBytes()).toBe(windowStartBytes)
    deliver(timing, { askedMs: 0, cameMs: 50, before: 0, filled: false }, 300)
    deliver(timing, { askedMs: 50, cameMs: 101, before: 300, filled: false }, 8 * KiB)
    expect(timing.windowBytes()).toBe(windowStartBytes)
  })

  it('[B15] trebles with each windowful where the first blocks come as fast as that', () => {
    const timing = near()
    for (let i = 0; i < 8; i++) deliver(timing, { askedMs: 0, cameMs: 52 + 2 * i, before: 0 })
    expect(timing.windowBytes()).toBe(3 * windowStartBytes)
  })

  it('[B15] begins at 4 MiB where nobody else is connected, and trebles as well', () => {
    const timing = near()
    timing.isAlone = true
    expect(timing.windowBytes()).toBe(4 * MiB)
    for (let i = 0; i < 8; i++) deliver(timing, { askedMs: 0, cameMs: 52 + 2 * i, before: 0 })
    expect(timing.windowBytes()).toBe(8 * MiB)
  })

  it('[B15] is a slow peer’s rate in twice its latency from its first block on', () => {
    const timing = near()
    // 2,000 bytes a millisecond behind 50 ms.
    deliver(timing, { askedMs: 0, cameMs: 50 + blockBytes / 2000, before: 0 })
    expect(timing.windowBytes()).toBeCloseTo(2000 * (2 * 50 + windowSlackMs))
  })

  it('[B15] takes the way there and back from the first bytes of the first block: its own time on a slow link is no part of it', () => {
    const timing = new Timing(defaultBrokerLimits)
    timing.begin(0)
    timing.sampleBytes(64 * KiB, true, 60)
    timing.sampleBytes(192 * KiB, true, 160)
    timing.sampleLatency(160, 0)
    deliver(timing, { askedMs: 0, cameMs: 160, before: 0 })
    expect(timing.latencyMinMs).toBe(60)
  })

  it('takes mere talk for no first bytes', () => {
    const timing = new Timing(defaultBrokerLimits)
    timing.begin(0)
    timing.discount(100)
    timing.sampleBytes(100, true, 1)
    timing.sampleBytes(40, true, 2)
    timing.discount(40)
    timing.sampleBytes(blockBytes, true, 70)
    timing.sampleLatency(160, 0)
    deliver(timing, { askedMs: 0, cameMs: 160, before: 0 })
    expect(timing.latencyMinMs).toBe(70)
  })

  it('[B15] grows with what arrives while a block is out, up to 32 MiB', () => {
    const timing = settled()
    expect(timing.windowBytes()).toBeCloseTo(10_000 * (2 * 50 + windowSlackMs))
    const before = timing.deliveredBytes
    deliver(timing, { askedMs: 0, cameMs: 100, before }, 10 * MiB)
    expect(timing.windowBytes()).toBeCloseTo(((10 * MiB) / 100) * (2 * 50 + windowSlackMs))
    deliver(timing, { askedMs: 0, cameMs: 100, before }, 64 * MiB)
    expect(timing.windowBytes()).toBe(windowMaxBytes)
  })

  it('[B15] of a peer nearby ends at 16 MiB, whatever our own work makes of its latency', () => {
    const timing = new Timing(defaultBrokerLimits)
    timing.sampleLatency(1, 0)
    for (let i = 0; i < 50; i++) timing.sampleLatency(90, 0)
    deliver(timing, { askedMs: 0, cameMs: 200, before: 0 }, 40 * MiB)
    expect(timing.windowBytes()).toBe(16 * MiB)
  })

  it('[B15] narrows little by little where a full window brings less, and not at all where little was asked', () => {
    const timing = settled()
    const wide = timing.windowBytes()
    const slow = (filled: boolean): void => {
      deliver(timing, { askedMs: 0, cameMs: 10_000, before: timing.deliveredBytes, filled }, 10 * KiB)
    }
    slow(false)
    expect(timing.windowBytes()).toBe(wide)
    slow(true)
    expect(timing.windowBytes() / wide).toBeCloseTo(1 - 1 / 32, 2)
    for (let i = 0; i < 400; i++) slow(true)
    expect(timing.windowBytes()).toBe(windowMinBytes)
  })
})
