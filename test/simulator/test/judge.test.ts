import { type BlockKey, type PeerKey, peerKey } from '@shardswap/interface'
import { Reliability, type Outcome, type PeerScore, type Role, type Turn } from '@shardswap/reliability'
import { describe, expect, it } from 'vitest'
import { Forecasts } from '../src/checkers/forecasts.ts'
import { Judge, type Layer } from '../src/checkers/judge.ts'
import { Weights } from '../src/checkers/weights.ts'
import { Violation } from '../src/checkers/violation.ts'
import type { Rule } from '../src/policy.ts'

const a = peerKey('a')
const b = peerKey('b')
const key = 'block' as BlockKey

function turn(peer: PeerKey, role: Role = 'primary'): Turn {
  return { key, peer, role, failChance: 0.1 }
}

function judged(
  changes: (layer: Reliability) => Partial<Layer> = () => ({}),
  scoreOf: (peer: PeerKey) => number | undefined = () => undefined
) {
  const layer = new Reliability({ wallMs: 0, nowMs: 0 })
  const changed = changes(layer)
  const told: Layer = new Proxy<Layer>(layer, {
    get: (_target, name) => {
      const owner = name in changed ? changed : layer
      const value: unknown = Reflect.get(owner, name)
      return typeof value === 'function' ? (value.bind(owner) as unknown) : value
    }
  })
  const judge = new Judge(told, new Set(), scoreOf)
  for (const peer of [a, b]) judge.peerConnected(peer, 0)
  return judge
}

function broken(act: () => void): Rule | undefined {
  try {
    act()
  } catch (error) {
    if (error instanceof Violation) return error.rule
    throw error
  }
  return undefined
}

/** A primary at a and a backup at b, and what became of both, in the order in which they are named. */
function play(judge: Judge, outcomes: readonly (readonly [PeerKey, Outcome])[]): void {
  judge.asked(turn(a), 0)
  judge.asked(turn(b, 'backup'), 0)
  for (const [peer, outcome] of outcomes)
    judge.settled(turn(peer, peer === a ? 'primary' : 'backup'), outcome, 10, { latencyMs: 10, bytes: 1, queuedBytes: 1 })
  judge.ended(key, 20)
}

const inflate = (change: (counts: PeerScore['counts']) => Partial<PeerScore['counts']>) =>
  judged((layer) => ({
    scores: (nowMs) => layer.scores(nowMs).map((score) => ({ ...score, counts: { ...score.counts, ...change(score.counts) } }))
  }))

/** As above, in what is told of one peer. */
const inflateOne = (name: 'attempted' | 'successful' | 'rewardable', by: number) =>
  judged((layer) => ({
    countsOf: (peer) => {
      const counts = layer.countsOf(peer)
      return counts === undefined ? undefined : { ...counts, [name]: counts[name] + by }
    }
  }))

const withShares = (...shares: number[]): Judge =>
  judged((layer) => ({ scores: (nowMs) => layer.scores(nowMs).map((score, at) => ({ ...score, share: shares[at] ?? NaN })) }))

describe('the judge of a reliability layer', () => {
  it('[P9] finds the credit where it belongs, whoever was first', () => {
    for (const outcomes of [
      [
        [a, 'success'],
        [b, 'withdrawn']
      ],
      [
        [b, 'success'],
        [a, 'success']
      ],
      [
        [b, 'success'],
        [a, 'timeout']
      ],
      [
        [a, 'timeout'],
        [b, 'silence']
      ]
    ] as const) {
      const judge = judged()
      play(judge, outcomes)
      expect(broken(() => judge.atEnd())).toBeUndefined()
    }
  })

  it('[P8] finds out who counts otherwise', () => {
    for (const change of [
      ({ rewardable }: PeerScore['counts']) => ({ rewardable: rewardable + 1 }),
      ({ attempted }: PeerScore['counts']) => ({ attempted: attempted + 1 }),
      () => ({ successful: 0 })
    ]) {
      const judge = inflate(change)
      play(judge, [
        [b, 'success'],
        [a, 'success']
      ])
      expect(broken(() => judge.atEnd())).toBe('credit')
    }
  })

  it('[P8] finds it out in the step that it happens in', () => {
    for (const name of ['attempted', 'successful', 'rewardable'] as const) {
      expect(broken(() => inflateOne(name, 1).asked(turn(a), 0))).toBe('credit')
    }
    // As many as were successful, and one more: what is too much shows with the want's end.
    const judge = judged((layer) => ({ ended: () => undefined, countsOf: (peer) => layer.countsOf(peer) }))
    judge.asked(turn(a), 0)
    judge.settled(turn(a), 'success', 10, { latencyMs: 10, bytes: 1, queuedBytes: 1 })
    expect(broken(() => judge.ended(key, 20))).toBe('credit')
  })

  it('sees each want-block settled once, and every want accounted for', () => {
    expect(broken(() => judged().settled(turn(a), 'success', 0))).toBe('credit')
    const twice = judged()
    play(twice, [[a, 'timeout']])
    expect(broken(() => twice.settled(turn(a), 'timeout', 20))).toBe('credit')
    const late = judged()
    play(late, [[a, 'timeout']])
    expect(broken(() => late.settled(turn(a), 'late', 20))).toBeUndefined()
    expect(broken(() => late.atEnd())).toBe('credit')
  })

  it('[P2] sees that a higher score has no smaller share, and that shares sum to 1', () => {
    expect(broken(() => withShares(0.6, 0.4).atEnd())).toBeUndefined()
    expect(broken(() => withShares(0.4, 0.6).atEnd())).toBe('shares')
    expect(broken(() => withShares(0.6, 0.5).atEnd())).toBe('shares')
  })

  it('[P2] sees each time that a core asks how a peer stands that a higher score weighs no less', () => {
    const standings = { [a]: 60, [b]: 50 }
    const judge = judged((layer) => ({
      standing: (peer, nowMs) => ({ ...layer.standing(peer, nowMs), score: peer === a ? 80 : 40, weight: standings[peer] ?? NaN })
    }))
    judge.standing(a, 0)
    judge.standing(b, 0)
    standings[b] = 70
    expect(broken(() => judge.standing(b, 1))).toBe('shares')
    judge.peerDisconnected(a, 2)
    expect(broken(() => judge.standing(b, 3))).toBeUndefined()
  })

  it('gives the scores that a scenario sets', () => {
    const judge = judged(undefined, (peer) => (peer === a ? 50 : undefined))
    expect(judge.standing(a, 0)).toMatchObject({ score: 50, weight: 50, isVetted: true })
    expect(judge.standing(b, 0).isVetted).toBe(false)
  })
})

describe('weights', () => {
  it('rise with scores, and are alike where scores are', () => {
    const weights = new Weights()
    expect(weights.put(a, 50, 50)).toBeUndefined()
    expect(weights.put(b, 50, 50)).toBeUndefined()
    expect(weights.put(b, 50, 49)).toEqual({ score: 50, weight: 50 })
    expect(weights.put(b, 50, 51)).toEqual({ score: 50, weight: 50 })
    expect(weights.put(b, 60, 49)).toEqual({ score: 50, weight: 50 })
    expect(weights.put(b, 40, 51)).toEqual({ score: 50, weight: 50 })
    expect(weights.put(b, 40, 50)).toBeUndefined()
    weights.remove(a)
    expect(weights.put(b, 60, 1)).toBeUndefined()
  })
})

describe('forecasts', () => {
  it('are good by Brier where they tell failures from successes, and calibrated where as many fail as was said', () => {
    const sharp = new Forecasts()
    const dull = new Forecasts()
    for (let i = 0; i < 100; i++) {
      const hasFailed = i % 4 === 0
      sharp.add(hasFailed ? 0.9 : 0.1, hasFailed)
      dull.add(0.25, hasFailed)
    }
    expect(sharp.brier).toBeCloseTo(0.01)
    expect(sharp.calibrationError).toBeCloseTo(0.1)
    expect([dull.brier, dull.brierOfBaseRate]).toEqual([0.1875, 0.1875])
    expect(dull.calibrationError).toBeCloseTo(0)
  })
})
