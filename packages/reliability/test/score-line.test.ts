import * as fc from 'fast-check'
import { afterEach, expect, it, vi } from 'vitest'
import { Latency } from '../src/latency.ts'
import { PeerRecord } from '../src/record.ts'
import type { ShareMap } from '../src/index.ts'
import type { Outcome } from '../src/types.ts'
import { dayMs, peerNamed, Scene } from './scene.ts'

afterEach(() => void vi.restoreAllMocks())

const names = Array.from({ length: 8 }, (_, at) => at)

/** One thing that happens to a peer, and how long it is until the next. */
const step = fc.record({
  name: fc.constantFrom(...names),
  what: fc.constantFrom('connect', 'connect', 'disconnect', 'turns', 'turns', 'turns', 'fail hard'),
  outcome: fc.constantFrom<Outcome>('success', 'success', 'success', 'timeout', 'denied'),
  times: fc.integer({ min: 1, max: 30 }),
  waitMs: fc.constantFrom(0, 1000, dayMs)
})

it('one peer’s line says what it says among all', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.constantFrom<ShareMap>('proportional', 'equal', 'percentile'), (steps, share) => {
      const scene = new Scene({ share })
      for (const { name, what, outcome, times, waitMs } of steps) {
        if (what === 'connect') scene.connect(name)
        else if (what === 'disconnect') scene.disconnect(name)
        else if (what === 'turns') scene.turns(name, outcome, times)
        else scene.core.failedHard(peerNamed(name), scene.nowMs)
        scene.pass(waitMs)
      }
      scene.pass()
      for (const score of scene.core.scores(scene.nowMs)) {
        // Weights are added up in another order.
        const expected = { ...score, share: expect.closeTo(score.share, 12) as number }
        expect(scene.core.scoreLine(score.peer, scene.nowMs)).toEqual(expected)
      }
    }),
    { seed: 20_261_130, numRuns: 200 }
  )
})

it('a line costs one view, and no look at those who are not connected', () => {
  const scene = new Scene()
  for (let name = 0; name < 500; name++) {
    scene.connect(name)
    scene.turns(name, 'success', 1)
    if (name >= 10) scene.disconnect(name)
  }
  scene.pass()
  const quantiles = vi.spyOn(Latency.prototype, 'quantileMs')
  const rolls = vi.spyOn(PeerRecord.prototype, 'roll')
  expect(scene.core.scoreLine(peerNamed(300), scene.nowMs)?.counts.successful).toBe(1)
  expect(quantiles).toHaveBeenCalledTimes(2)
  expect(rolls.mock.calls.length).toBeLessThanOrEqual(11)
  quantiles.mockClear()
  scene.core.scores(scene.nowMs)
  expect(quantiles).toHaveBeenCalledTimes(1000)
})

it('what the connected weigh in all is added up once for many questions', () => {
  const scene = new Scene()
  for (let name = 0; name < 100; name++) {
    scene.connect(name)
    scene.turns(name, 'success', 1)
  }
  scene.pass()
  scene.core.scoreLine(peerNamed(0), scene.nowMs)
  const rolls = vi.spyOn(PeerRecord.prototype, 'roll')
  for (let name = 0; name < 100; name++) {
    scene.turns(name, 'success', 1, 0)
    scene.core.scoreLine(peerNamed(name), scene.nowMs)
  }
  // That of the one who asks, each time.
  expect(rolls.mock.calls.length).toBeLessThanOrEqual(100)
})

it('with sums of a moment ago a share is a share still', () => {
  const scene = new Scene()
  scene.pass()
  expect(scene.core.scoreLine(peerNamed(1), scene.nowMs)).toBeUndefined()
  scene.connect(1)
  expect(scene.core.scoreLine(peerNamed(1), scene.nowMs)?.share).toBe(1)
  scene.turns(1, 'success', 40, 0)
  const vetted = scene.core.scoreLine(peerNamed(1), scene.nowMs)
  expect(vetted?.isVetted).toBe(true)
  // The part of the newcomer that it was.
  expect(vetted?.share).toBeCloseTo(0.95, 12)
  scene.connect(2)
  expect(scene.core.scoreLine(peerNamed(2), scene.nowMs)?.share).toBeLessThanOrEqual(1)
  scene.disconnect(1)
  expect(scene.core.scoreLine(peerNamed(1), scene.nowMs)?.share).toBe(0)
})
