import { describe, expect, it } from 'vitest'
import { dayMs, hourMs, peerNamed, Scene, wallMs } from './scene.ts'

function provenPair(): Scene {
  const scene = new Scene()
  scene.connect('a', 'b')
  scene.turns('a', 'success', 100)
  scene.turns('b', 'success', 100)
  scene.pass()
  return scene
}

/** The next run of the same node an hour later, by a wall clock that was moved. */
function restarted(wallShiftMs: number): Scene {
  const scene = provenPair()
  scene.core.failedHard(peerNamed('a'), scene.nowMs)
  scene.pass(hourMs)
  const remembered = JSON.parse(JSON.stringify(scene.core.remember(scene.nowMs))) as unknown
  return new Scene({ remembered, wallMs: wallMs + scene.nowMs + wallShiftMs, nowMs: 5000 })
}

describe('a hard failure', () => {
  it('[C4] shuts a peer out for 24 h, in which its score is 0', () => {
    const scene = provenPair()
    scene.core.failedHard(peerNamed('a'), scene.nowMs)
    const untilMs = scene.nowMs + dayMs
    expect(scene.core.standing(peerNamed('a'), scene.nowMs)).toMatchObject({ score: 0, isVetted: false, shutOutUntilMs: untilMs })
    expect(scene.weight('a')).toBe(0.01)
    expect(scene.core.scores(scene.nowMs).find(({ peer }) => peer === peerNamed('a'))?.shutOutMs).toBe(dayMs)
    scene.nowMs = untilMs - 1
    expect(scene.score('a')).toBe(0)
    scene.nowMs = untilMs
    expect(scene.shutOutUntilMs('a')).toBe(Number.NEGATIVE_INFINITY)
    // It is a newcomer again, with half of what the median of those vetted has.
    expect(scene.score('a')).toBe(50)
  })

  it('lets its weight come back over seven days of connected time', () => {
    const scene = provenPair()
    scene.core.failedHard(peerNamed('a'), scene.nowMs)
    scene.pass(dayMs)
    scene.turns('a', 'success', 1000, 0)
    scene.turns('b', 'success', 1000, 0)
    scene.pass()
    expect(scene.score('a')).toBe(100)
    expect(scene.weight('a')).toBeCloseTo(1, 9)
    scene.pass(3.5 * dayMs)
    expect(scene.weight('a') / scene.score('a')).toBeCloseTo(0.5, 4)
    // What it is away does not count.
    scene.disconnect('a')
    scene.pass(10 * dayMs)
    scene.connect('a')
    expect(scene.weight('a') / scene.score('a')).toBeCloseTo(0.5, 4)
    scene.pass(4 * dayMs)
    expect(scene.weight('a')).toBe(scene.score('a'))
  })

  it('takes back what the peer has of vetting, and begins anew with each further one', () => {
    const scene = provenPair()
    expect(scene.isVetted('a')).toBe(true)
    scene.core.failedHard(peerNamed('a'), scene.nowMs)
    scene.pass(20 * hourMs)
    scene.core.failedHard(peerNamed('a'), scene.nowMs)
    expect(scene.shutOutUntilMs('a')).toBe(scene.nowMs + dayMs)
    scene.pass(dayMs)
    expect(scene.isVetted('a')).toBe(false)
    expect(scene.core.scores(scene.nowMs).find(({ peer }) => peer === peerNamed('a'))?.counts.hardFailures).toBe(2)
  })

  it('of a peer never heard of is remembered too', () => {
    const scene = new Scene()
    scene.core.failedHard(peerNamed('x'), 0)
    expect(scene.score('x')).toBe(0)
  })

  it('is the only way to be shut out: who always fails keeps the least score', () => {
    const scene = new Scene()
    scene.connect('a')
    scene.turns('a', 'timeout', 10_000)
    expect(scene.core.standing(peerNamed('a'), scene.nowMs)).toMatchObject({ score: 1, shutOutUntilMs: Number.NEGATIVE_INFINITY })
  })
})

describe('a hard failure over a restart', () => {
  it('[C4] is remembered: 23 h are left of 24', () => {
    const scene = restarted(0)
    expect(scene.shutOutUntilMs('a')).toBe(5000 + 23 * hourMs)
    scene.connect('a', 'b')
    scene.nowMs = 5000 + 23 * hourMs
    expect(scene.score('a')).toBe(50)
    expect(scene.weight('a')).toBe(0.5)
  })

  it.each([
    ['an hour back', -hourMs, 24 * hourMs],
    ['an hour on', hourMs, 22 * hourMs],
    ['ten years back', -3653 * dayMs, 24 * hourMs]
  ])('lasts no longer than 24 h from now where the wall clock went %s', (_, shiftMs, leftMs) => {
    expect(restarted(shiftMs).shutOutUntilMs('a')).toBe(5000 + leftMs)
  })

  it('is over where the wall clock went ten years on', () => {
    expect(restarted(3653 * dayMs).shutOutUntilMs('a')).toBe(Number.NEGATIVE_INFINITY)
  })
})
