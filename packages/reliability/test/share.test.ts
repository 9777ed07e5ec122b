import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sharesOf as sharesWith, weightOf, type Ranks, type Weighed } from '../src/share.ts'
import type { Outcome } from '../src/types.ts'
import { dayMs, hourMs, peerNamed, Scene } from './scene.ts'

const middle: Ranks = { success: 0.5, latency: 0.5, uptime: 0.5 }
const score = fc.double({ min: 1, max: 100, noNaN: true })
const rank = fc.double({ min: 0, max: 1, noNaN: true })
const ranks = fc.record({ success: rank, latency: rank, uptime: rank })

/** Shares of peers who are all vetted. */
function sharesOf(of: readonly number[]): number[] {
  return sharesWith(
    of.map((weight) => ({ weight, isVetted: true })),
    0.05
  )
}

function weights(map: 'proportional' | 'equal', scores: readonly number[]): number[] {
  return scores.map((of) => weightOf(map, of, middle, 1, 1))
}

describe('the map from score to share', () => {
  it('[P2] gives shares of 100 : 50 : 1 for scores of 100, 50 and 1', () => {
    expect(sharesOf(weights('proportional', [100, 50, 1]))).toEqual([100 / 151, 50 / 151, 1 / 151])
  })

  it('[P3] [P21] gives all the same share in the mode of round robin', () => {
    expect(sharesOf(weights('equal', [100, 50, 1, 1]))).toEqual([0.25, 0.25, 0.25, 0.25])
  })

  it('[P21] is the mean of three ranks in the mode of percentiles', () => {
    expect(weightOf('percentile', 7, { success: 1, latency: 0.5, uptime: 0 }, 1, 1)).toBe(50)
    expect(weightOf('percentile', 99, { success: 0.9, latency: 0.9, uptime: 0.9 }, 1, 1)).toBeCloseTo(90, 9)
    expect(weightOf('percentile', 99, { success: 0, latency: 0, uptime: 0 }, 1, 1)).toBe(1)
  })

  it('[P2] never lowers a share when a score rises, and shares are 1 in all (invariant 8)', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('proportional' as const, 'equal' as const),
        fc.array(score, { minLength: 1, maxLength: 50 }),
        fc.nat(),
        score,
        (map, scores, at, raised) => {
          const index = at % scores.length
          const higher = scores.map((of, place) => (place === index ? Math.max(of, raised) : of))
          const [before, after] = [sharesOf(weights(map, scores)), sharesOf(weights(map, higher))]
          expect(after[index]).toBeGreaterThanOrEqual((before[index] as number) - 1e-12)
          for (const shares of [before, after]) {
            expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9)
            expect(Math.min(...shares)).toBeGreaterThan(0)
          }
        }
      )
    )
  })

  it('[P21] never lowers a weight when any rank rises (invariant 8)', () => {
    fc.assert(
      fc.property(ranks, ranks, (one, other) => {
        const higher = {
          success: Math.max(one.success, other.success),
          latency: Math.max(one.latency, other.latency),
          uptime: Math.max(one.uptime, other.uptime)
        }
        expect(weightOf('percentile', 1, higher, 1, 1)).toBeGreaterThanOrEqual(weightOf('percentile', 1, one, 1, 1))
      })
    )
  })

  it('[P2] gives newcomers together the part of the draw that they have, each by its weight', () => {
    // 150 of 301 would be half.
    expect(sharesWith(firstTwoVetted(100, 51, 100, 50), 0.05)).toEqual([
      (0.95 * 100) / 151,
      (0.95 * 51) / 151,
      (0.05 * 100) / 150,
      (0.05 * 50) / 150
    ])
    // What is less than the part stays as it is.
    expect(sharesWith(firstTwoVetted(100, 96, 4), 0.05)).toEqual([0.5, 0.48, 0.02])
    expect(sharesWith(firstTwoVetted(0, 0, 30, 10), 0.05)).toEqual([0, 0, 0.75, 0.25])
    expect(sharesWith(firstTwoVetted(100, 0, 0), 0.05)).toEqual([1, 0, 0])
    expect(sharesWith(firstTwoVetted(10, 30, 5), 0)).toEqual([0.25, 0.75, 0])
  })

  it('[P2] never lowers a share when a score rises or is vetted, with newcomers among them (invariant 8)', () => {
    const weighed = fc.record({ weight: score, isVetted: fc.boolean() })
    const part = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(
        fc.array(weighed, { minLength: 1, maxLength: 30 }),
        fc.nat(),
        score,
        fc.boolean(),
        part,
        (peers, at, raised, vets, most) => {
          const index = at % peers.length
          const [before, after] = [peers, peers.map((peer, place) => (place === index ? higher(peer, raised, vets) : peer))].map((of) =>
            sharesWith(of, most)
          )
          expect(after?.[index]).toBeGreaterThanOrEqual((before?.[index] as number) - 1e-9)
          for (const shares of [before, after]) expect(shares?.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9)
        }
      )
    )
  })

  it('has no share for nobody, and none for whom nobody is', () => {
    expect(sharesOf([])).toEqual([])
    expect(sharesOf([0, 0])).toEqual([0, 0])
  })
})

function firstTwoVetted(...of: readonly number[]): Weighed[] {
  return of.map((weight, at) => ({ weight, isVetted: at < 2 }))
}

function higher({ weight, isVetted }: Weighed, raised: number, vets: boolean): Weighed {
  return { weight: Math.max(weight, raised), isVetted: isVetted || vets }
}

type Event = (scene: Scene) => void

const names = ['a', 'b', 'c', 'd', 'e']

function anEvent(): fc.Arbitrary<Event> {
  const name = fc.constantFrom(...names)
  const turns = fc
    .record({
      name,
      outcome: fc.constantFrom<Outcome>('success', 'success', 'success', 'timeout', 'reset', 'denied'),
      times: fc.integer({ min: 1, max: 40 }),
      latencyMs: fc.integer({ min: 1, max: 500 })
    })
    .map(
      ({ name: of, outcome, times, latencyMs }): Event =>
        (scene) =>
          scene.turns(of, outcome, times, latencyMs)
    )
  const hard = name.map(
    (of): Event =>
      (scene) =>
        scene.core.failedHard(peerNamed(of), scene.nowMs)
  )
  const leave = name.map(
    (of): Event =>
      (scene) =>
        scene.disconnect(of)
  )
  const come = name.map(
    (of): Event =>
      (scene) =>
        scene.connect(of)
  )
  const pass = fc.constantFrom(1000, hourMs, dayMs, 3 * dayMs).map(
    (ms): Event =>
      (scene) =>
        scene.pass(ms)
  )
  return fc.oneof(
    { weight: 6, arbitrary: turns },
    { weight: 1, arbitrary: hard },
    leave,
    { weight: 2, arbitrary: come },
    { weight: 3, arbitrary: pass }
  )
}

describe('shares of peers', () => {
  it('[P2] are 1 in all, newcomers have their part at most, and among those alike no higher score has a smaller one (invariant 8)', () => {
    const seen = { newcomers: 0, returning: 0 }
    fc.assert(
      fc.property(
        fc.constantFrom('proportional' as const, 'equal' as const),
        fc.array(anEvent(), { minLength: 1, maxLength: 40 }),
        (share, events) => {
          const scene = new Scene({ share })
          scene.connect(...names)
          scene.turns('a', 'success', 40)
          scene.core.failedHard(peerNamed('e'), scene.nowMs)
          scene.pass(dayMs)
          for (const event of events) {
            event(scene)
            for (const name of names) scene.score(name)
            const all = scene.core.scores(scene.nowMs).filter(({ isConnected, shutOutMs }) => isConnected && shutOutMs === 0)
            if (all.length === 0) continue
            const sum = (shares: typeof all): number => shares.reduce((total, each) => total + each.share, 0)
            expect(sum(all)).toBeCloseTo(1, 9)
            const [vetted, newcomers] = [all.filter(({ isVetted }) => isVetted), all.filter(({ isVetted }) => !isVetted)]
            for (const kind of [vetted, newcomers]) {
              for (const [at, each] of kind.entries()) expect(each.share).toBeLessThanOrEqual((kind[at - 1]?.share ?? 1) + 1e-9)
            }
            if (vetted.length === 0 || newcomers.length === 0) continue
            seen.newcomers += 1
            if (newcomers.some(({ returnLeftMs }) => returnLeftMs > 0)) seen.returning += 1
            expect(sum(newcomers)).toBeLessThanOrEqual(0.05 + 1e-9)
          }
        }
      ),
      { numRuns: 200 }
    )
    expect(Math.min(seen.newcomers, seen.returning)).toBeGreaterThan(20)
  })

  it('[P1] are among those connected, without who is shut out, and 1 in all', () => {
    const scene = new Scene()
    scene.connect('a', 'b', 'c', 'd')
    for (const name of ['a', 'b', 'c', 'd']) scene.turns(name, 'success', 40)
    scene.pass()
    scene.disconnect('c')
    scene.core.failedHard(peerNamed('d'), scene.nowMs)
    scene.pass()
    const shares = Object.fromEntries(scene.core.scores(scene.nowMs).map(({ peer, share }) => [peer, share]))
    expect(shares).toEqual({ peera: 0.5, peerb: 0.5, peerc: 0, peerd: 0 })
  })

  it('[P21] of all peers are alike in the equal mode, whatever their scores', () => {
    const scene = new Scene({ share: 'equal' })
    scene.connect('good', 'bad')
    scene.turns('good', 'success', 100)
    scene.turns('bad', 'silence', 100)
    scene.pass()
    expect(scene.weight('good')).toBe(scene.weight('bad'))
    expect(scene.score('good')).toBe(100)
    expect(scene.score('bad')).toBe(1)
  })

  it('[P21] follow success, latency and uptime among the others in the mode of percentiles', () => {
    const scene = new Scene({ share: 'percentile' })
    scene.connect('best', 'middle', 'worst')
    scene.turns('best', 'success', 100, 10)
    scene.turns('middle', 'success', 100, 40)
    for (let time = 0; time < 10; time++) {
      scene.turns('worst', 'success', 19, 160)
      scene.turns('worst', 'timeout', 1, 160)
    }
    scene.pass()
    // Ranks of success: two thirds for both who never failed, a sixth; of latency: five sixths, a half, a sixth; uptime alike.
    expect(scene.weight('best')).toBeCloseTo((100 * (2 / 3 + 5 / 6 + 1 / 2)) / 3, 9)
    expect(scene.weight('middle')).toBeCloseTo((100 * (2 / 3 + 1 / 2 + 1 / 2)) / 3, 9)
    expect(scene.weight('worst')).toBeCloseTo((100 * (1 / 6 + 1 / 6 + 1 / 2)) / 3, 9)
  })
})
