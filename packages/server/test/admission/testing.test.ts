import { createHash } from 'node:crypto'
import { CID, InvalidParametersError, type PeerKey, peerKey, seededRandom } from '@shardswap/interface'
import * as fc from 'fast-check'
import { create } from 'multiformats/hashes/digest'
import { expect, it } from 'vitest'
import { isReceived, type TestOutcome, TestIdentityTerm, TestSchedule, type Visit } from '../../src/admission/testing.ts'
import { type TestLimits, verifyTestLimits } from '../../src/admission/testing-limits.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const meanMs = (all: readonly number[]): number => all.reduce((sum, each) => sum + each, 0) / all.length
const serverOf = (number: number): PeerKey => peerKey(`server ${number}`)
const cidOf = (name: string | number): CID => CID.createV1(0x55, create(0x12, createHash('sha256').update(String(name)).digest()))

/** A schedule on a clock of its own, where each visit takes a second. */
class Scene {
  readonly core: TestSchedule
  readonly limits: TestLimits
  /** Servers that have left the registry. */
  readonly gone = new Set<PeerKey>()
  readonly visits: { readonly atMs: number; readonly visit: Visit }[] = []
  readonly #under: { readonly untilMs: number; readonly visit: Visit }[] = []
  nowMs = 0
  outcome: TestOutcome = 'verified'

  constructor(limits: Partial<TestLimits> = {}, seed = 7) {
    this.limits = verifyTestLimits(limits)
    const isRegistered = (server: PeerKey): boolean => !this.gone.has(server)
    this.core = new TestSchedule({ limits: this.limits, random: seededRandom(seed), isRegistered })
  }

  claim(server: number, ...names: readonly (string | number)[]): void {
    for (const name of names) this.core.claimed(serverOf(server), cidOf(name), this.nowMs)
  }

  /** Goes on, from one wake to the next, as the shell does. */
  runUntil(untilMs: number): void {
    for (;;) {
      const endMs = this.#under[0]?.untilMs ?? Number.POSITIVE_INFINITY
      const nextMs = Math.min(endMs, this.core.wakeAtMs() ?? Number.POSITIVE_INFINITY)
      if (nextMs > untilMs) break
      this.nowMs = Math.max(this.nowMs, nextMs)
      if (endMs <= this.nowMs) this.#endOldest()
      const visit = this.core.begin(this.nowMs)
      if (visit === undefined) continue
      this.visits.push({ atMs: this.nowMs, visit })
      this.#under.push({ untilMs: this.nowMs + 1000, visit })
    }
    this.nowMs = untilMs
  }

  /** For so long, with a new claim of each server an hour, so that none is forgotten. */
  runHours(hours: number, servers: number): void {
    for (let hour = 0; hour < hours; hour++) {
      for (let server = 0; server < servers; server++) this.claim(server, `${server} ${hour}`, `${server} ${hour} more`)
      this.runUntil(this.nowMs + hourMs)
    }
  }

  visitsOf(server: number): number[] {
    return this.visits.filter(({ visit }) => visit.server === serverOf(server)).map(({ atMs }) => atMs)
  }

  #endOldest(): void {
    const ended = this.#under.shift()
    if (ended)
      this.core.ended(
        ended.visit,
        ended.visit.cids.map(() => this.outcome),
        this.nowMs
      )
  }
}

it('[I5] a server is tested several times an hour, at times that nobody can foretell', () => {
  const scene = new Scene()
  scene.runHours(400, 1)
  const atMs = scene.visitsOf(0)
  const gapsMs = atMs.slice(1).map((at, index) => at - (atMs[index] as number))
  const wants = scene.visits.reduce((sum, { visit }) => sum + visit.cids.length, 0)
  expect(wants / 400).toBeGreaterThan(3)
  expect(wants / 400).toBeLessThan(5)
  expect(Math.min(...gapsMs)).toBeGreaterThanOrEqual(3 * minuteMs)
  expect(Math.max(...gapsMs)).toBeLessThanOrEqual(91 * minuteMs)
  // Waiting tells nothing: after half an hour without a visit the next is as far off as it was just after one.
  const longMs = gapsMs.filter((gap) => gap > 30 * minuteMs).map((gap) => gap - 30 * minuteMs)
  expect(meanMs(longMs)).toBeGreaterThan(0.6 * meanMs(gapsMs))
})

it('[I6] a server is asked for blocks that it said it has, never for another’s, and from 1 to 3 at once', () => {
  const scene = new Scene()
  scene.claim(1, ...Array.from({ length: 10 }, (_, at) => `one ${at}`))
  scene.claim(2, 'two')
  scene.runUntil(20 * hourMs)
  const said = new Map([
    [serverOf(1), new Set(Array.from({ length: 10 }, (_, at) => cidOf(`one ${at}`).toString()))],
    [serverOf(2), new Set([cidOf('two').toString()])]
  ])
  const sizes = new Set<number>()
  for (const { visit } of scene.visits) {
    const asked = visit.cids.map((cid) => cid.toString())
    expect(new Set(asked).size).toBe(asked.length)
    expect(asked.every((cid) => said.get(visit.server)?.has(cid))).toBe(true)
    sizes.add(asked.length)
  }
  expect(scene.visitsOf(2).length).toBeGreaterThan(10)
  expect(sizes).toEqual(new Set([1, 2, 3]))
})

it('[I5] only registered servers are tested, and nothing happens where there is none', () => {
  const scene = new Scene()
  scene.gone.add(serverOf(1))
  scene.claim(1, 'a', 'b')
  expect(scene.core.servers).toBe(0)
  expect(scene.core.wakeAtMs()).toBeUndefined()
  scene.claim(2, 'a')
  scene.gone.add(serverOf(2))
  scene.runUntil(2 * hourMs)
  expect(scene.visits).toEqual([])
  expect(scene.core.servers).toBe(0)
})

it('[I5] what a server denied is not asked for again; what was not sent to it is', () => {
  const scene = new Scene({ wantsPerVisitMax: 1 })
  scene.claim(1, 'a', 'b')
  scene.outcome = 'denied'
  scene.runUntil(20 * hourMs)
  expect(scene.visits.map(({ visit }) => visit.cids.length)).toEqual([1, 1])
  expect(scene.core.counts()).toEqual(new Map([['denied', 2]]))
  scene.claim(1, 'c')
  scene.outcome = 'unreachable'
  scene.runUntil(25 * hourMs)
  expect(scene.visits.length).toBeGreaterThan(4)
  expect(new Set(scene.visits.slice(2).map(({ visit }) => String(visit.cids[0])))).toEqual(new Set([cidOf('c').toString()]))
})

it('[I5] what was verified of late is asked for on, though nobody says it anew', () => {
  const scene = new Scene()
  scene.claim(1, 'a')
  scene.runUntil(100 * hourMs)
  expect(scene.visitsOf(1).at(-1)).toBeGreaterThan(97 * hourMs)
})

it('[I5] what a server was given counts only once it answered, and is asked for only where it said nothing itself', () => {
  const scene = new Scene({ wantsPerVisitMax: 1 })
  for (const name of ['x', 'y']) scene.core.claimed(serverOf(1), cidOf(name), 0, false)
  scene.outcome = 'denied'
  scene.runUntil(10 * hourMs)
  expect(scene.core.counts()).toEqual(new Map([['unclaimed', 2]]))
  expect(scene.core.wakeAtMs()).toBeUndefined()
  scene.outcome = 'verified'
  scene.core.claimed(serverOf(1), cidOf('z'), scene.nowMs, false)
  scene.runUntil(15 * hourMs)
  const verified = scene.core.counts().get('verified') ?? 0
  expect(verified).toBeGreaterThan(1)
  scene.outcome = 'denied'
  scene.core.claimed(serverOf(1), cidOf('x'), scene.nowMs, false)
  scene.runUntil(18 * hourMs)
  expect(scene.visits[2 + verified]?.visit.cids[0]?.equals(cidOf('z'))).toBe(true)
  // What it showed that it has was denied; what it was given after that it need not have.
  expect(scene.core.counts()).toEqual(
    new Map<string, number>([
      ['unclaimed', 3],
      ['verified', verified],
      ['denied', 1]
    ])
  )
})

it('[I5] what a server is given takes no place of what it said', () => {
  const scene = new Scene({ claimsPerServerMax: 4 })
  scene.claim(1, 'a', 'b', 'c', 'd')
  for (let name = 0; name < 1000; name++) scene.core.claimed(serverOf(1), cidOf(name), 0, false)
  scene.runUntil(20 * hourMs)
  const said = new Set(['a', 'b', 'c', 'd'].map((name) => cidOf(name).toString()))
  expect(scene.visits.every(({ visit }) => visit.cids.every((cid) => said.has(cid.toString())))).toBe(true)
})

it('[I7] only a verified block is received; what was our own doing counts for nothing', () => {
  expect(isReceived('verified')).toBe(true)
  for (const outcome of ['denied', 'refused', 'silent', 'wrong', 'left', 'unreachable'] as const) expect(isReceived(outcome)).toBe(false)
  for (const outcome of ['void', 'unclaimed'] as const) expect(isReceived(outcome)).toBeUndefined()
})

it('[I5] where more servers are due than visits are allowed, they are bounded and each has its turn', () => {
  const scene = new Scene({ visitsPerHourMax: 20, visitFirstMs: 1 })
  scene.runHours(10, 40)
  for (let hour = 0; hour < 10; hour++) {
    const within = scene.visits.filter(({ atMs }) => atMs > hour * hourMs && atMs <= (hour + 1) * hourMs)
    expect(within.length).toBeLessThanOrEqual(20)
    expect(within.length).toBeGreaterThanOrEqual(19)
  }
  const turns = Array.from({ length: 40 }, (_, server) => scene.visitsOf(server).length)
  expect(Math.min(...turns)).toBeGreaterThanOrEqual(4)
  expect(Math.max(...turns)).toBeLessThanOrEqual(6)
})

it('[I5] claims are bounded in servers, in blocks and in age, and the newest few hundred are among those asked for', () => {
  const scene = new Scene({ claimServersMax: 3, claimsPerServerMax: 4, visitFirstMs: hourMs })
  for (let server = 0; server < 10; server++) scene.claim(server, server)
  expect(scene.core.servers).toBe(3)
  for (let name = 0; name < 1000; name++) scene.claim(9, `many ${name}`)
  scene.outcome = 'silent'
  scene.runUntil(23 * hourMs)
  expect(new Set(scene.visits.map(({ visit }) => visit.server))).toEqual(new Set([7, 8, 9].map(serverOf)))
  const recent = new Set(Array.from({ length: 400 }, (_, at) => cidOf(`many ${600 + at}`).toString()))
  const asked = scene.visits.filter(({ visit }) => visit.server === serverOf(9)).flatMap(({ visit }) => visit.cids.map(String))
  expect(new Set(asked).size).toBeLessThanOrEqual(4)
  expect(asked.every((cid) => recent.has(cid))).toBe(true)
  const before = scene.visits.length
  scene.runUntil(200 * hourMs)
  expect(scene.core.servers).toBe(0)
  expect(scene.visits.slice(before).every(({ atMs }) => atMs <= 24 * hourMs)).toBe(true)
})

it('[I5] the identity of the tests changes about twice a day, at times that nobody can foretell', () => {
  const term = new TestIdentityTerm(verifyTestLimits(), seededRandom(3))
  const lastedMs: number[] = []
  let sinceMs = 0
  expect(term.isOver(0)).toBe(true)
  term.begin(0)
  for (let nowMs = 0; nowMs < 200 * 24 * hourMs; nowMs += minuteMs) {
    if (!term.isOver(nowMs)) continue
    lastedMs.push(nowMs - sinceMs)
    sinceMs = nowMs
    term.begin(nowMs)
  }
  expect(lastedMs.length).toBeGreaterThan(300)
  expect(lastedMs.length).toBeLessThan(500)
  expect(Math.max(...lastedMs)).toBeLessThanOrEqual(36 * hourMs + minuteMs)
  expect(new Set(lastedMs).size).toBeGreaterThan(100)
})

it('whatever happens, visits stay within their bounds, and the same seed gives the same ones', () => {
  const step = fc.oneof(
    fc.record({ type: fc.constant('claim' as const), server: fc.nat(8), block: fc.nat(20) }),
    fc.record({ type: fc.constant('pass' as const), minutes: fc.integer({ min: 1, max: 200 }) }),
    fc.record({ type: fc.constant('go' as const), server: fc.nat(8) }),
    fc.record({ type: fc.constant('come' as const), server: fc.nat(8) }),
    fc.record({ type: fc.constant('turn' as const), outcome: fc.constantFrom<TestOutcome>('verified', 'denied', 'silent', 'void') })
  )
  const play = (steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[], seed: number): Scene => {
    const scene = new Scene({ claimServersMax: 5, claimsPerServerMax: 3, visitsPerHourMax: 10, visitsAtOnceMax: 2 }, seed)
    for (const each of steps) {
      if (each.type === 'claim') scene.claim(each.server, each.block)
      else if (each.type === 'pass') scene.runUntil(scene.nowMs + each.minutes * minuteMs)
      else if (each.type === 'go') scene.gone.add(serverOf(each.server))
      else if (each.type === 'come') scene.gone.delete(serverOf(each.server))
      else scene.outcome = each.outcome
      expect(scene.core.servers).toBeLessThanOrEqual(5)
      expect(scene.core.visits).toBeLessThanOrEqual(2)
    }
    return scene
  }
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), fc.integer({ min: 1, max: 1000 }), (steps, seed) => {
      const scene = play(steps, seed)
      const tenMs = scene.visits.slice(10).map(({ atMs }, at) => atMs - (scene.visits[at]?.atMs ?? 0))
      expect(Math.min(...tenMs, hourMs)).toBeGreaterThanOrEqual(hourMs - 1)
      expect(scene.visits.every(({ visit }) => visit.cids.length > 0)).toBe(true)
      expect(play(steps, seed).visits).toEqual(scene.visits)
    })
  )
})

it('limits by which no test could be made are rejected', () => {
  expect(() => verifyTestLimits({ visitEveryMs: 0 })).toThrow(InvalidParametersError)
  expect(() => verifyTestLimits({ visitsAtOnceMax: 1.5 })).toThrow(InvalidParametersError)
  expect(() => verifyTestLimits({ visitsPerHourMax: Number.NaN })).toThrow(InvalidParametersError)
  expect(() => verifyTestLimits({ visitTimeoutMs: 2 ** 31 })).toThrow(InvalidParametersError)
  expect(verifyTestLimits({ visitsPerHourMax: 0.5 }).visitsPerHourMax).toBe(0.5)
})

it('[I5] no server is visited twice at the same time, however late it is', () => {
  const scene = new Scene({ visitsAtOnceMax: 2, visitsPerHourMax: 1e9 })
  scene.claim(1, 'a', 'b', 'c')
  scene.nowMs = hourMs
  expect(scene.core.begin(scene.nowMs)?.server).toBe(serverOf(1))
  expect(scene.core.begin(scene.nowMs + hourMs)).toBeUndefined()
})
