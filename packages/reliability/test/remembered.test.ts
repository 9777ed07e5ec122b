import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Reliability } from '../src/index.ts'
import type { Outcome } from '../src/types.ts'
import { recordBytesMax } from '../src/limits.ts'
import { dayMs, hourMs, peerNamed, Scene, wallMs } from './scene.ts'

function overJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

/** Four peers with a past: a good one, one that is silent, a slow one, one that is shut out. */
function livedScene(): Scene {
  const scene = new Scene()
  scene.connect('good', 'silent', 'slow', 'corrupt')
  for (let hour = 0; hour < 40; hour++) {
    scene.turns('good', 'success', 5, 20)
    scene.turns('silent', 'silence', 3, 500)
    scene.turns('slow', 'success', 4, 300)
    scene.turns('corrupt', 'success', 4, 30)
    scene.pass(hourMs)
    if (hour === 20) scene.disconnect('slow')
    if (hour === 30) scene.connect('slow')
  }
  scene.core.failedHard(peerNamed('corrupt'), scene.nowMs)
  scene.pass(hourMs)
  return scene
}

/** The next run of the same node, some time later by the wall's clock. */
function restart(scene: Scene, laterMs = 0): Scene {
  return new Scene({ remembered: overJson(scene.core.remember(scene.nowMs)), wallMs: wallMs + scene.nowMs + laterMs, nowMs: 777 })
}

function badBlocks({ core, nowMs }: Scene): number | undefined {
  return core.scores(nowMs).find(({ peer }) => peer === peerNamed('corrupt'))?.counts.badBlocks
}

const names = ['good', 'silent', 'slow', 'corrupt']

describe('what is remembered', () => {
  it('[C4] gives every peer the same score after a restart', () => {
    const scene = livedScene()
    const after = restart(scene)
    expect(after.core.recalled).toEqual({ peers: 4, rejected: 0, problem: undefined })
    after.connect(...names)
    for (const each of [scene, after]) each.pass()
    for (const name of names) expect([name, after.score(name)]).toEqual([name, scene.score(name)])
    expect(names.map((name) => after.isVetted(name))).toEqual([true, false, true, false])
    const [before, now] = [scene, after].map((each) =>
      each.core.scores(each.nowMs).map(({ shutOutMs, ...rest }) => ({ ...rest, shutOutMs: Math.round(shutOutMs) }))
    )
    expect(now).toEqual(before)
  })

  it('comes out again as it went in', () => {
    const first = livedScene().core.remember(livedScene().nowMs)
    const core = new Reliability({ remembered: overJson(first), wallMs: wallMs + livedScene().nowMs, nowMs: 0 })
    expect(core.remember(0)).toEqual(first)
  })

  it('of a run that counted no bad blocks yet is taken, with none of them', () => {
    const scene = livedScene()
    scene.core.receivedBad(peerNamed('corrupt'), scene.nowMs)
    expect(badBlocks(restart(scene))).toBe(1)
    const old = overJson(scene.core.remember(scene.nowMs)) as { peers: { counts: { badBlocks?: number } }[] }
    for (const { counts } of old.peers) delete counts.badBlocks
    const after = new Scene({ remembered: old, wallMs: wallMs + scene.nowMs, nowMs: 777 })
    expect(after.core.recalled).toEqual({ peers: 4, rejected: 0, problem: undefined })
    expect(badBlocks(after)).toBe(0)
  })

  it('leaves out who showed nothing', () => {
    const scene = new Scene()
    scene.connect('a', 'b', 'c')
    scene.turns('a', 'success', 1)
    scene.turns('b', 'denied', 100)
    expect(scene.core.remember(scene.nowMs).peers.map(({ peer }) => peer)).toEqual(['peera'])
  })

  it('takes no more than 8 KiB a peer, with every bucket full', () => {
    const scene = new Scene()
    scene.connect('a', 'b')
    let seed = 1
    for (let hour = 0; hour < 24 * 31; hour++) {
      scene.pass(hourMs)
      for (let time = 0; time < 40; time++) {
        seed = (seed * 16_807) % 2_147_483_647
        const turn = { key: 'k' as never, peer: peerNamed('a'), role: 'primary', failChance: 0 } as const
        const queuedBytes = [1000, 100_000, 1_000_000, 10_000_000][seed % 4] as number
        scene.core.asked(turn, scene.nowMs)
        const delivery = { latencyMs: (2 ** (seed % 18) * (1 + (seed % 1000) / 1000)) / 4, bytes: 1000.123, queuedBytes }
        scene.core.settled(turn, 'success', scene.nowMs + 0.123, delivery)
        scene.core.ended(turn.key, scene.nowMs)
      }
    }
    const [record] = scene.core.remember(scene.nowMs).peers
    expect(record?.latencies.length).toBeGreaterThan(400)
    expect(record?.windows.counts.length).toBe(2 * 3 * 54)
    expect(JSON.stringify(record).length).toBeLessThan(recordBytesMax)
  })

  it('fades while we are away: after ten years nothing speaks for a peer or against it', () => {
    const after = restart(livedScene(), 3653 * dayMs)
    after.connect(...names)
    after.pass()
    const scores = after.core.scores(after.nowMs)
    expect(scores.map(({ success24h, success30d }) => [success24h, success30d])).toEqual(names.map(() => [undefined, undefined]))
    expect(after.score('silent')).toBeGreaterThan(30)
    expect(after.shutOutUntilMs('corrupt')).toBe(Number.NEGATIVE_INFINITY)
  })

  it.each([-3653 * dayMs, -hourMs, hourMs, dayMs, 3653 * dayMs])(
    '[C4] holds no NaN and no score out of bounds where the wall clock moved by %d ms',
    (laterMs) => {
      const after = restart(livedScene(), laterMs)
      after.connect(...names)
      for (let step = 0; step < 30; step++) {
        after.pass(2 * hourMs)
        for (const score of after.core.scores(after.nowMs)) {
          expect(score.score === 0 ? 1 : score.score).toBeGreaterThanOrEqual(1)
          expect(score.score).toBeLessThanOrEqual(100)
          expect(score.shutOutMs).toBeLessThanOrEqual(dayMs)
          for (const part of [score.share, score.failChance, score.uptime24h ?? 0, score.uptime30d ?? 0, score.success30d ?? 0]) {
            expect(part).toBeGreaterThanOrEqual(0)
            expect(part).toBeLessThanOrEqual(1)
          }
        }
        after.turns('good', 'success', 3)
      }
      expect(after.score('good')).toBe(100)
      // What it gives out next is good.
      expect(restart(after).core.recalled).toEqual({ peers: 4, rejected: 0, problem: undefined })
    }
  )
})

describe('what was remembered and is damaged', () => {
  it.each([
    [{ version: 2, peers: [] }, 'what was remembered of peers is of version 2; this is 1'],
    [{ version: '9'.repeat(100), peers: [] }, `what was remembered of peers is of version ${'9'.repeat(32)}; this is 1`],
    [{ peers: [] }, 'what was remembered of peers is of version undefined; this is 1'],
    [{ version: 1 }, 'what was remembered of peers holds no list of them'],
    [[], 'what was remembered of peers is not an object'],
    [null, 'what was remembered of peers is not an object'],
    ['', 'what was remembered of peers is not an object']
  ])('is a fresh start, and says why: %j', (remembered, problem) => {
    const scene = new Scene({ remembered })
    expect(scene.core.recalled).toEqual({ peers: 0, rejected: 0, problem })
    scene.connect('a')
    scene.turns('a', 'success', 40)
    expect(scene.isVetted('a')).toBe(true)
  })

  it('costs the records that are damaged, and no other', () => {
    const scene = livedScene()
    const remembered = overJson(scene.core.remember(scene.nowMs)) as { peers: Record<string, unknown>[] }
    const peers = remembered.peers
    ;(peers[1] as Record<string, unknown>)['evidence'] = [1, 2, 3]
    ;(peers[2] as { counts: Record<string, unknown> }).counts['attempted'] = -1
    peers.push({ ...peers[0] })
    const core = new Reliability({ remembered, wallMs: wallMs + scene.nowMs, nowMs: 0 })
    expect(core.recalled).toEqual({ peers: 2, rejected: 3, problem: undefined })
  })

  it.each(['', 'a\u001b[2J', 'a b', 'peer-1', '../x', 'OI', 'é', '*', 'x'.repeat(129)])('names no peer that could be none: %j', (peer) => {
    const scene = livedScene()
    const remembered = overJson(scene.core.remember(scene.nowMs)) as { peers: Record<string, unknown>[] }
    ;(remembered.peers[1] as Record<string, unknown>)['peer'] = peer
    const core = new Reliability({ remembered, wallMs: wallMs + scene.nowMs, nowMs: 0 })
    expect(core.recalled).toEqual({ peers: 3, rejected: 1, problem: undefined })
  })

  it.each(['12D3KooWCizaGVPEo9SQQrpEV7DdhV2W8336W2M3dtvahAwm8jaU', 'QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N', 'k51qzi5uqu5dl0'])(
    'names peers as they are written: %s',
    (peer) => {
      const scene = livedScene()
      const remembered = overJson(scene.core.remember(scene.nowMs)) as { peers: Record<string, unknown>[] }
      ;(remembered.peers[1] as Record<string, unknown>)['peer'] = peer
      expect(new Reliability({ remembered, wallMs: wallMs + scene.nowMs, nowMs: 0 }).recalled).toMatchObject({ peers: 4, rejected: 0 })
    }
  )

  it('never makes it fail, nor gives it a number that is none, whatever stands in one place', () => {
    const scene = livedScene()
    const text = JSON.stringify(scene.core.remember(scene.nowMs))
    const paths = pathsOf(JSON.parse(text))
    const junk = fc.oneof(
      fc.constantFrom<unknown>(null, '', 'NaN', [], {}, true, -1, 0, 0.5, 1e308, -1e308, 2 ** 53, 5e-324),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.jsonValue()
    )
    fc.assert(
      fc.property(fc.nat(paths.length - 1), junk, fc.integer({ min: -4000, max: 4000 }), (at, value, days) => {
        const remembered = JSON.parse(text) as unknown
        replace(remembered, paths[at] as (string | number)[], value)
        const after = new Scene({ remembered, wallMs: Math.max(0, wallMs + scene.nowMs + days * dayMs), nowMs: 0 })
        after.connect(...names)
        after.turns('good', 'success', 2)
        after.turns('silent', 'timeout', 2)
        after.pass(hourMs)
        expect(unsound(after)).toEqual([])
      }),
      { numRuns: 300 }
    )
  })

  it('never makes it fail when the text itself is damaged at any byte', () => {
    const scene = livedScene()
    const bytes = Buffer.from(JSON.stringify(scene.core.remember(scene.nowMs)))
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const damaged = Buffer.from(bytes)
        damaged[at] = (damaged[at] as number) ^ flip
        let remembered: unknown
        try {
          remembered = JSON.parse(damaged.toString())
        } catch {
          remembered = null
        }
        const after = new Scene({ remembered, wallMs: wallMs + scene.nowMs, nowMs: 0 })
        after.connect(...names)
        after.turns('good', 'success', 2)
        expect(unsound(after)).toEqual([])
      }),
      { numRuns: 300 }
    )
  })
})

describe('the score', () => {
  it('[P14] is a pure function of the counters that are stored: the same events give the same, in one run or in two', () => {
    const outcome = fc.constantFrom<Outcome>('success', 'success', 'success', 'timeout', 'silence', 'reset', 'broken-have', 'denied')
    const event = fc.record({
      name: fc.constantFrom('a', 'b', 'c'),
      outcome,
      times: fc.integer({ min: 1, max: 30 }),
      latencyMs: fc.integer({ min: 1, max: 2000 }),
      failsHard: fc.integer({ min: 0, max: 9 }).map((draw) => draw === 0),
      passes: fc.constantFrom(0, 0, 0, hourMs, dayMs, 4 * dayMs)
    })
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 30 }), (events) => {
        const scene = new Scene()
        scene.connect('a', 'b', 'c')
        for (const { name, outcome: of, times, latencyMs, failsHard, passes } of events) {
          scene.turns(name, of, times, latencyMs)
          if (failsHard) scene.core.failedHard(peerNamed(name), scene.nowMs)
          scene.pass(passes)
        }
        const after = restart(scene)
        after.connect('a', 'b', 'c')
        for (const name of ['a', 'b', 'c']) expect(after.isVetted(name)).toBe(scene.isVetted(name))
        // Who showed nothing is placed by its first observation in both.
        for (const each of [scene, after]) for (const name of ['a', 'b', 'c']) each.turns(name, 'success', 1, 50)
        for (const each of [scene, after]) each.pass()
        for (const name of ['a', 'b', 'c']) expect(after.score(name)).toBeCloseTo(scene.score(name), 4)
      }),
      { numRuns: 100 }
    )
  })
})

/** Peers of which something is out of bounds, or no number at all. */
function unsound(scene: Scene): unknown[] {
  return scene.core.scores(scene.nowMs).filter((score) => {
    const lateMs = scene.core.lateAfterMs(score.peer, 1000, 'late')
    const numbers = [score.score, score.share, score.shutOutMs, score.failChance, score.latencyP50Ms ?? 0, score.uptime30d ?? 0, lateMs]
    return !numbers.every(Number.isFinite) || score.score > 100 || score.shutOutMs > dayMs
  })
}

function pathsOf(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [path]
  const entries: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return [...(path.length > 0 ? [path] : []), ...entries.flatMap(([key, inner]) => pathsOf(inner, [...path, key]))]
}

function replace(value: unknown, path: readonly (string | number)[], by: unknown): void {
  let at = value as Record<string | number, unknown>
  for (const key of path.slice(0, -1)) at = at[key] as Record<string | number, unknown>
  at[path.at(-1) as string | number] = by
}

function lateMs(scene: Scene): number {
  return scene.core.lateAfterMs(peerNamed('silent'), 0, 'late')
}

describe('a peer that never delivered', () => {
  it('[P15] is late after a restart as it was before: by the time of those who are remembered, not by a second', () => {
    const fresh = new Scene()
    fresh.connect('silent')
    fresh.turns('silent', 'silence', 10)
    expect(lateMs(fresh)).toBe(1000)
    const lived = livedScene()
    // 600 blocks of 20, 30 and 300 ms: the slowest third decides before, the median peer afterwards.
    expect(lateMs(lived)).toBeGreaterThan(290)
    expect(lateMs(restart(lived))).toBeGreaterThan(29)
    expect(lateMs(restart(lived))).toBeLessThan(35)
  })
})
