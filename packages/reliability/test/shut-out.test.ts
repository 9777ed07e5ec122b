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

/** Of such a pair `a` failed hard, so long ago. */
function shutOutFor(ms: number): Scene {
  const scene = provenPair()
  scene.core.failedHard(peerNamed('a'), scene.nowMs)
  scene.pass(ms)
  return scene
}

/** The next run of the same node an hour later, by a wall clock that was moved. */
function restarted(wallShiftMs: number): Scene {
  const scene = shutOutFor(hourMs)
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
    // It is a newcomer again, and its score has yet to come back.
    expect(scene.score('a')).toBe(1)
  })

  it('[P2] lets its score come back over seven days of connected time, and its weight with it', () => {
    const scene = shutOutFor(dayMs)
    scene.turns('a', 'success', 1000, 0)
    scene.turns('b', 'success', 1000, 0)
    scene.pass()
    const both = (): number[] => [scene.score('a'), scene.weight('a')]
    // A newcomer's half of 100, of which nothing has come back yet.
    expect(both()).toEqual([1, 1])
    scene.pass(3.5 * dayMs)
    expect(scene.score('a')).toBeCloseTo(25, 2)
    expect(scene.weight('a')).toBe(scene.score('a'))
    // What it is away does not count.
    scene.disconnect('a')
    scene.pass(10 * dayMs)
    scene.connect('a')
    expect(scene.returnLeftMs('a')).toBe(3.5 * dayMs - 1000)
    scene.turns('a', 'success', 100, 0)
    scene.turns('b', 'success', 100, 0)
    scene.pass(3.5 * dayMs - 2000)
    expect(scene.isVetted('a')).toBe(false)
    scene.pass(60_000)
    expect(scene.score('a')).toBeGreaterThan(40)
    scene.turns('a', 'success', 1, 0)
    scene.pass()
    expect(scene.isVetted('a')).toBe(true)
    expect(scene.returnLeftMs('a')).toBe(0)
    expect(scene.score('a')).toBeGreaterThan(80)
  })

  it('[C4] vets nobody on the way back, so that a restart in it changes nothing', () => {
    const scene = shutOutFor(dayMs)
    scene.turns('a', 'success', 200, 0)
    scene.pass(hourMs)
    const before = scene.core.standing(peerNamed('a'), scene.nowMs)
    expect(before.isVetted).toBe(false)
    const remembered = JSON.parse(JSON.stringify(scene.core.remember(scene.nowMs))) as unknown
    const after = new Scene({ remembered, wallMs: wallMs + scene.nowMs, nowMs: 0 })
    after.connect('a', 'b')
    after.pass()
    expect(after.core.standing(peerNamed('a'), after.nowMs)).toMatchObject({ isVetted: false, score: expect.closeTo(before.score, 3) })
  })

  it('[P2] leaves shares as scores are on the way back: no higher score has a smaller share among newcomers', () => {
    const scene = provenPair()
    scene.connect('poor')
    scene.turns('poor', 'success', 10)
    scene.turns('poor', 'timeout', 4)
    scene.core.failedHard(peerNamed('a'), scene.nowMs)
    scene.pass(dayMs + hourMs)
    scene.turns('a', 'success', 100, 20)
    for (let day = 0; day < 9; day++) {
      scene.pass(dayMs)
      for (const name of ['a', 'b', 'poor']) scene.score(name)
      const scores = scene.core.scores(scene.nowMs).filter(({ isVetted }) => !isVetted)
      expect(scores.length).toBeGreaterThan(0)
      const shares = scores.map(({ share }) => share)
      expect(shares).toEqual([...shares].sort((one, other) => other - one))
    }
  })

  it('[P21] comes back in the mode of percentiles too, and at once in that of equal shares', () => {
    for (const [share, part] of [
      ['percentile', 0.25],
      ['equal', 1]
    ] as const) {
      const scene = new Scene({ share })
      scene.connect('a', 'b')
      for (const name of ['a', 'b']) scene.turns(name, 'success', 100, 0)
      scene.core.failedHard(peerNamed('a'), scene.nowMs)
      scene.pass(dayMs)
      scene.score('a')
      scene.pass(3.5 * dayMs)
      // Of a newcomer's half in ranks half has come back.
      expect(scene.weight('a') / scene.weight('b')).toBeCloseTo(part, 2)
    }
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
    expect(scene.score('a')).toBe(1)
    expect(scene.weight('a')).toBe(1)
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
