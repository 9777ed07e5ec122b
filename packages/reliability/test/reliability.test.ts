import { describe, expect, it } from 'vitest'
import { hourMs, peerNamed, Scene } from './scene.ts'

function uptimes({ core, nowMs }: Scene): unknown[] {
  return core.scores(nowMs).flatMap(({ uptime24h, uptime30d }) => [uptime24h, uptime30d])
}

describe('observations of a peer', () => {
  it('[P8] counts each want-block by its part and by what became of it', () => {
    const scene = new Scene()
    scene.connect('a')
    scene.turns('a', 'success', 5)
    scene.turns('a', 'success', 2, 20, 'backup')
    scene.turns('a', 'timeout', 1)
    scene.turns('a', 'silence', 2)
    scene.turns('a', 'reset', 3)
    scene.turns('a', 'broken-have', 1)
    scene.turns('a', 'denied', 4)
    scene.turns('a', 'withdrawn', 2)
    scene.turns('a', 'refused', 1)
    scene.core.duplicated(peerNamed('a'), 300)
    scene.core.duplicated(peerNamed('a'), 200)
    for (let block = 0; block < 3; block++) scene.core.receivedBad(peerNamed('a'), scene.nowMs)
    expect(scene.core.scores(scene.nowMs)[0]?.counts).toMatchObject({
      attempted: 21,
      successful: 7,
      rewardable: 7,
      primaryTurns: 19,
      backupTurns: 2,
      timeouts: 1,
      silences: 2,
      resets: 3,
      brokenHaves: 1,
      denied: 4,
      withdrawn: 2,
      refused: 1,
      late: 0,
      duplicateBlocks: 2,
      duplicateBytes: 500,
      badBlocks: 3,
      hardFailures: 0
    })
  })

  it('[P8] counts duplicates, and takes no score for them', () => {
    const scene = new Scene()
    scene.connect('a', 'b')
    for (let block = 0; block < 40; block++) {
      for (const name of ['a', 'b']) scene.turns(name, 'success', 1)
      for (let copy = 0; copy < 2; copy++) scene.core.duplicated(peerNamed('a'), 1000)
    }
    scene.pass()
    const [a, b] = ['a', 'b'].map((name) => scene.core.scoreLine(peerNamed(name), scene.nowMs))
    expect(a).toEqual({ ...b, peer: peerNamed('a'), counts: { ...b?.counts, duplicateBlocks: 80, duplicateBytes: 80_000 } })
    expect(a?.score).toBeGreaterThan(90)
  })

  it('[C4] takes a timeout, a silence, a reset and a broken HAVE for failures, and nothing else', () => {
    for (const outcome of ['timeout', 'silence', 'reset', 'broken-have'] as const) {
      const scene = new Scene()
      scene.connect('a')
      scene.turns('a', 'success', 3)
      scene.turns('a', outcome, 1)
      expect([outcome, scene.core.scores(scene.nowMs)[0]?.success24h]).toEqual([outcome, 0.75])
    }
    for (const outcome of ['denied', 'withdrawn', 'refused'] as const) {
      const scene = new Scene()
      scene.connect('a')
      scene.turns('a', 'success', 3)
      const before = scene.core.standing(peerNamed('a'), scene.nowMs)
      scene.turns('a', outcome, 50)
      expect([outcome, scene.core.scores(scene.nowMs)[0]?.success24h]).toEqual([outcome, 1])
      expect(scene.core.standing(peerNamed('a'), scene.nowMs)).toEqual(before)
    }
  })

  it('counts what is out at a peer down to zero, a late block besides', () => {
    const scene = new Scene()
    scene.connect('a')
    const turn = { key: 'k' as never, peer: peerNamed('a'), role: 'primary', failChance: 0 } as const
    scene.core.asked(turn, 0)
    scene.core.asked({ ...turn, key: 'l' as never }, 0)
    expect(scene.core.scores(0)[0]?.inFlight).toBe(2)
    scene.core.settled(turn, 'timeout', 1000)
    expect(scene.core.scores(1000)[0]?.inFlight).toBe(1)
    scene.core.settled(turn, 'late', 1500)
    expect(scene.core.scores(1500)[0]?.inFlight).toBe(1)
    expect(scene.core.scores(1500)[0]?.counts.late).toBe(1)
  })
})

describe('the score', () => {
  it('[P14] is 100 for a peer that always delivers, and at least 1 for one that never does', () => {
    const scene = new Scene()
    scene.connect('good', 'bad', 'other')
    scene.turns('good', 'success', 400)
    scene.turns('other', 'success', 400)
    scene.turns('bad', 'silence', 400)
    scene.pass()
    expect(scene.score('good')).toBe(100)
    expect(scene.score('bad')).toBe(1)
  })

  it('[P15] falls with latency above the median of the cohort, by its root', () => {
    const scene = new Scene()
    scene.connect('near', 'usual', 'far')
    for (const [name, latencyMs] of [
      ['near', 20],
      ['usual', 40],
      ['far', 160]
    ] as const) {
      scene.turns(name, 'success', 50, latencyMs)
    }
    scene.pass()
    expect(scene.score('near')).toBe(100)
    expect(scene.score('usual')).toBe(100)
    // A quarter of the median, told to within a bucket of a histogram.
    expect(Math.abs(scene.score('far') / 50 - 1)).toBeLessThan(0.1)
  })

  it('[P15] falls with the time that a peer is away while the others are there, by its root', () => {
    const scene = new Scene()
    scene.connect('always', 'other', 'seldom')
    for (const name of ['always', 'other', 'seldom']) scene.turns(name, 'success', 50)
    scene.pass(hourMs)
    scene.disconnect('seldom')
    scene.pass(18 * hourMs)
    scene.connect('seldom')
    for (const name of ['always', 'other', 'seldom']) scene.turns(name, 'success', 1)
    scene.pass()
    expect(scene.score('always')).toBe(100)
    // One hour of 19, with an hour's full uptime beside: two of twenty.
    expect(scene.score('seldom')).toBeCloseTo(100 * Math.sqrt(0.1), 0)
  })

  it('[P4] keeps latency apart: who fails is not slow, and who is slow does not fail', () => {
    const scene = new Scene()
    scene.connect('a', 'b')
    scene.turns('a', 'success', 30, 20)
    scene.turns('b', 'success', 30, 80)
    scene.turns('a', 'timeout', 10, 1000)
    const [a, b] = ['a', 'b'].map((name) => scene.core.scores(scene.nowMs).find(({ peer }) => peer === peerNamed(name)))
    expect(a?.success24h).toBe(0.75)
    expect(b?.success24h).toBe(1)
    expect(Math.abs((a?.latencyP50Ms ?? 0) / 20 - 1)).toBeLessThan(0.19)
    expect(Math.abs((b?.latencyP50Ms ?? 0) / 80 - 1)).toBeLessThan(0.19)
  })

  it('[P15] does not take the figures of the cohort anew because somebody looks at a score', () => {
    const scene = new Scene()
    scene.connect('a')
    scene.turns('a', 'success', 1000)
    scene.pass()
    const forecast = (): number => scene.core.failChance(peerNamed('new'), { presence: 1, quietMs: 0 })
    const before = forecast()
    expect(scene.core.scoreOf(peerNamed('a'), scene.nowMs)).toBeGreaterThan(90)
    expect(forecast()).toBe(before)
    scene.core.standing(peerNamed('a'), scene.nowMs)
    expect(forecast()).not.toBe(before)
  })

  it('[P15] tells the uptime of now, though the time was last counted a while ago, and a look changes nothing', () => {
    const [scene, looked] = [new Scene(), new Scene()]
    for (const each of [scene, looked]) {
      each.connect('stays', 'goes')
      each.turns('stays', 'success', 1)
      each.pass(30_000)
    }
    expect(uptimes(looked).every((uptime) => uptime === 1)).toBe(true)
    for (const each of [scene, looked]) {
      each.disconnect('goes')
      each.pass(30_000)
    }
    const half = new Map(looked.core.scores(looked.nowMs).map(({ peer, uptime24h = 0 }) => [peer, uptime24h]))
    expect(half.get(peerNamed('stays'))).toBeCloseTo(1, 6)
    expect(half.get(peerNamed('goes'))).toBeCloseTo(0.5, 2)
    expect(looked.core.remember(looked.nowMs)).toEqual(scene.core.remember(scene.nowMs))
  })

  it('[P22] of a peer that falls silent loses nine tenths within ten wants', () => {
    const scene = new Scene()
    scene.connect('a', 'b')
    scene.turns('a', 'success', 500)
    scene.turns('b', 'success', 500)
    scene.pass()
    expect(scene.score('a')).toBe(100)
    scene.turns('a', 'silence', 10, 100)
    expect(scene.score('a')).toBeLessThan(10)
  })
})

it('[I5] a test of a server is an observation of the peer, and counts in no account, forecast or budget', () => {
  const scene = new Scene()
  scene.connect('a', 'b', 'c')
  for (const name of ['a', 'b', 'c']) scene.turns(name, 'success', 30)
  const before = { calibration: scene.core.calibration(), backups: scene.core.backups, report: scene.core.accounts.report(scene.nowMs) }
  for (let test = 0; test < 10; test++) scene.core.tested(peerNamed('a'), false, scene.nowMs)
  for (let test = 0; test < 10; test++) scene.core.tested(peerNamed('b'), true, scene.nowMs)
  scene.core.tested(peerNamed('a stranger'), false, scene.nowMs)
  scene.pass()
  expect(scene.score('a')).toBeLessThan(scene.score('c') - 10)
  expect(scene.score('b')).toBeGreaterThanOrEqual(scene.score('c'))
  const [a, b, c] = ['a', 'b', 'c'].map((name) => scene.core.scoreLine(peerNamed(name), scene.nowMs))
  expect([a?.success24h, b?.success24h, c?.success24h]).toEqual([0.75, 1, 1])
  expect(a?.counts).toEqual(c?.counts)
  expect(scene.core.scores(scene.nowMs).map(({ peer }) => peer)).toHaveLength(3)
  expect({
    calibration: scene.core.calibration(),
    backups: scene.core.backups,
    report: scene.core.accounts.report(scene.nowMs)
  }).toEqual(before)
})
