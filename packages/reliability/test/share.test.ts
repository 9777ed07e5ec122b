import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sharesOf, weightOf, type Ranks } from '../src/share.ts'
import { peerNamed, Scene } from './scene.ts'

const middle: Ranks = { success: 0.5, latency: 0.5, uptime: 0.5 }
const score = fc.double({ min: 1, max: 100, noNaN: true })
const rank = fc.double({ min: 0, max: 1, noNaN: true })
const ranks = fc.record({ success: rank, latency: rank, uptime: rank })

function weights(map: 'proportional' | 'equal', scores: readonly number[]): number[] {
  return scores.map((of) => weightOf(map, of, middle, 1))
}

describe('the map from score to share', () => {
  it('[P2] gives shares of 100 : 50 : 1 for scores of 100, 50 and 1', () => {
    expect(sharesOf(weights('proportional', [100, 50, 1]))).toEqual([100 / 151, 50 / 151, 1 / 151])
  })

  it('[P3] [P21] gives all the same share in the mode of round robin', () => {
    expect(sharesOf(weights('equal', [100, 50, 1, 1]))).toEqual([0.25, 0.25, 0.25, 0.25])
  })

  it('[P21] is the mean of three ranks in the mode of percentiles', () => {
    expect(weightOf('percentile', 7, { success: 1, latency: 0.5, uptime: 0 }, 1)).toBe(50)
    expect(weightOf('percentile', 99, { success: 0.9, latency: 0.9, uptime: 0.9 }, 1)).toBeCloseTo(90, 9)
    expect(weightOf('percentile', 99, { success: 0, latency: 0, uptime: 0 }, 1)).toBe(1)
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
        expect(weightOf('percentile', 1, higher, 1)).toBeGreaterThanOrEqual(weightOf('percentile', 1, one, 1))
      })
    )
  })

  it('has no share for nobody, and none for whom nobody is', () => {
    expect(sharesOf([])).toEqual([])
    expect(sharesOf([0, 0])).toEqual([0, 0])
  })
})

describe('shares of peers', () => {
  it('[P1] are among those connected, without who is shut out, and 1 in all', () => {
    const scene = new Scene()
    scene.connect('a', 'b', 'c', 'd')
    for (const name of ['a', 'b', 'c', 'd']) scene.turns(name, 'success', 40)
    scene.pass()
    scene.disconnect('c')
    scene.core.failedHard(peerNamed('d'), scene.nowMs)
    scene.pass()
    const shares = Object.fromEntries(scene.core.scores(scene.nowMs).map(({ peer, share }) => [peer, share]))
    expect(shares).toEqual({ 'peer-a': 0.5, 'peer-b': 0.5, 'peer-c': 0, 'peer-d': 0 })
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
