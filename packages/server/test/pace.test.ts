import { describe, expect, it } from 'vitest'
import { verifyServeLimits } from '../src/limits.ts'
import { Pace } from '../src/pace.ts'
import { alice, blocks, want } from './asks.ts'
import { Scene } from './scene.ts'

const KiB = 1024
const MiB = 1024 * KiB
const limits = verifyServeLimits({
  envelopeBytesMin: 16 * KiB,
  envelopeBytesTarget: 512 * KiB,
  sendPaceMinMs: 20,
  sendPaceMaxMs: 50,
  sendsPerDoubling: 4,
  slowSendsPerShrink: 3,
  readAheadBytesPerPeerMax: 4 * MiB
})

/** Sends full messages over a link of so many bytes a second that swallows so many at once; the sizes, one for each. */
function sizes(pace: Pace, bytesPerS: number, bufferBytes: number, sends: number): number[] {
  const all: number[] = []
  let nowMs = 0
  let emptyAtMs = 0
  for (let send = 0; send < sends; send++) {
    const bytes = pace.targetBytes
    all.push(bytes)
    emptyAtMs = Math.max(nowMs, emptyAtMs) + (bytes / bytesPerS) * 1000
    const endedMs = Math.max(nowMs, emptyAtMs - (bufferBytes / bytesPerS) * 1000)
    pace.sent(bytes, endedMs - nowMs)
    nowMs = endedMs
  }
  return all
}

describe('the size of messages', () => {
  it('doubles after four quick ones of a size, up to the target', () => {
    const all = sizes(new Pace(limits), Infinity, 0, 24).map((bytes) => bytes / KiB)
    expect(all).toEqual([16, 16, 16, 16, 32, 32, 32, 32, 64, 64, 64, 64, 128, 128, 128, 128, 256, 256, 256, 256, 512, 512, 512, 512])
  })

  it('does not grow by messages that are small, however many', () => {
    const pace = new Pace(limits)
    for (let send = 0; send < 1000; send++) pace.sent(8 * KiB - 1, 1)
    expect(pace.targetBytes).toBe(16 * KiB)
  })

  it('a block larger than the size counts as what it has', () => {
    const pace = new Pace(limits)
    for (let send = 0; send < 9; send++) pace.sent(256 * KiB, 1)
    expect(pace.targetBytes).toBe(512 * KiB)
  })

  it('on a slow link behind a large buffer no message ever takes long, and in the end each is the smallest', () => {
    const all = sizes(new Pace(limits), 100_000, 256 * KiB, 40)
    expect(Math.max(...all)).toBeLessThanOrEqual(64 * KiB)
    expect(all.slice(-20)).toEqual(Array.from({ length: 20 }, () => 16 * KiB))
  })

  it('settles where a message takes 20 to 50 ms', () => {
    for (const bytesPerS of [1e6, 2e6, 5e6]) {
      const all = sizes(new Pace(limits), bytesPerS, 256 * KiB, 80)
      for (const bytes of all.slice(-20)) {
        expect((bytes / bytesPerS) * 1000).toBeGreaterThanOrEqual(20)
        expect((bytes / bytesPerS) * 1000).toBeLessThanOrEqual(50)
      }
    }
  })

  it('one or two slow sends change nothing: the machine was busy', () => {
    const pace = new Pace(limits)
    sizes(pace, Infinity, 0, 24)
    for (let round = 0; round < 100; round++) for (const tookMs of [1, 300, 300]) pace.sent(512 * KiB, tookMs)
    expect(pace.targetBytes).toBe(512 * KiB)
  })

  it('comes down to a quarter at a time, by the best of the slow ones', () => {
    const pace = new Pace(limits)
    sizes(pace, Infinity, 0, 24)
    for (const tookMs of [5000, 70, 5000]) pace.sent(512 * KiB, tookMs)
    expect(pace.targetBytes).toBe(256 * KiB)
    for (let send = 0; send < 3; send++) pace.sent(256 * KiB, 5000)
    expect(pace.targetBytes).toBe(64 * KiB)
  })
})

describe('what is read ahead', () => {
  it('is all that is allowed until the link turns out to be slow, then four messages, until it is quick again', () => {
    const pace = new Pace(limits)
    expect(pace.aheadBytes).toBe(4 * MiB)
    for (let send = 0; send < 3; send++) pace.sent(16 * KiB, 200)
    expect(pace.aheadBytes).toBe(64 * KiB)
    sizes(pace, Infinity, 0, 100)
    expect(pace.aheadBytes).toBe(4 * MiB)
  })
})

it('on a slow link the first block does not wait for many others', async () => {
  const scene = new Scene()
  const all = await blocks(64, 8000)
  scene.store.put(...all)
  scene.hold(alice)
  scene.ask(alice, ...all.map(({ cid }) => want(cid)))
  while (scene.sending > 0) {
    const bytes = scene.sent.at(-1)?.message.blocks.reduce((sum, block) => sum + block.bytes.length, 0) ?? 0
    expect(bytes).toBeLessThanOrEqual(16 * KiB)
    scene.nowMs += bytes / 100
    scene.releaseOne(alice)
    scene.settle()
  }
  expect(scene.ledger(alice)?.blocksSent).toBe(64)
  expect(scene.sent.map(({ message }) => message.pendingBytes)).toEqual(Array.from({ length: 32 }, (_, sent) => (62 - 2 * sent) * 8000))
})
