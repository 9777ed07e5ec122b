import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { ownerScore, smoothedAvailability } from '../../src/admission/formulas.ts'
import { verifyAdmissionLimits } from '../../src/admission/limits.ts'
import { hourMs, keyOf, peerOf, Scene, serverOf, wallMs } from './scene.ts'

const runs = { seed: 20_261_130, numRuns: 300 }

const names = ['a', 'b', 'c', 'd', 'stranger', 'other stranger']
const nameOf = fc.constantFrom(...names)
const ownedOf = fc.constantFrom('a', 'b', 'c', 'd')

type Event = (scene: Scene) => void

const requests: fc.Arbitrary<Event> = fc
  .record({ name: nameOf, times: fc.integer({ min: 1, max: 12 }) })
  .map(({ name, times }) => (scene) => {
    const expected = Math.min(times, scene.core.room(peerOf(name), scene.nowMs))
    let admitted = 0
    for (let at = 0; at < times; at++) if (scene.request(name).action === 'admit') admitted++
    if (admitted !== expected) throw new Error(`there was room for ${expected} requests, and ${admitted} were admitted`)
  })

const ends: fc.Arbitrary<Event> = fc.record({ name: nameOf, times: fc.nat(12), isServed: fc.boolean() }).map(
  ({ name, times, isServed }) =>
    (scene) =>
      scene.end(name, Math.min(times, scene.open.get(name) ?? 0), isServed)
)

const changes: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ name: ownedOf, received: fc.nat(30), lost: fc.nat(30) }).map(
    ({ name, ...tests }): Event =>
      (scene) =>
        void scene.enter(name, tests)
  ),
  fc.record({ name: ownedOf, lost: fc.nat(60) }).map(
    ({ name, lost }): Event =>
      (scene) =>
        scene.test(name, { lost })
  ),
  nameOf.map(
    (name): Event =>
      (scene) =>
        scene.core.left(peerOf(name))
  ),
  ownedOf.map(
    (name): Event =>
      (scene) =>
        scene.core.follow(
          [
            { type: 'unbound', client: keyOf(name) },
            { type: 'server-gone', server: serverOf(name) }
          ],
          scene.nowMs
        )
  ),
  fc.nat(30 * hourMs).map(
    (ms): Event =>
      (scene) =>
        void (scene.nowMs += ms)
  )
)

it('[I9][I10][I11] invariant 9: open requests ≤ Cap_max; no lower score is admitted where a higher one is refused at that instant', () => {
  const event = fc.oneof({ weight: 5, arbitrary: requests }, { weight: 2, arbitrary: ends }, { weight: 3, arbitrary: changes })
  const modes = fc.constantFrom('open' as const, 'registered' as const)
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), fc.integer({ min: 1, max: 30 }), fc.nat(30), modes, (events, capMax, free, mode) => {
      const scene = new Scene(
        { openRequestsMax: capMax, freeScoreRequests: Math.min(free, capMax), ownersMax: 3, boundClientsMax: 3 },
        mode
      )
      for (const event of events) {
        event(scene)
        expect(scene.core.open).toBe([...scene.open.values()].reduce((sum, each) => sum + each, 0))
        expect(scene.core.open).toBeLessThanOrEqual(capMax)
        const seen = scene.core.view(scene.nowMs)
        const standing = [seen.free, ...seen.owners]
        const admitted = standing.filter(({ decision }) => decision.action === 'admit').map(({ score }) => score)
        const others = standing.filter(({ decision }) => decision.action !== 'admit').map(({ score }) => score)
        expect(Math.min(...admitted)).toBeGreaterThan(Math.max(...others))
        expect(seen.owners.reduce((sum, owner) => sum + owner.open, seen.free.open)).toBe(scene.core.open)
        expect(scene.core.gauges().owners).toBeLessThanOrEqual(3)
      }
      for (const name of names) {
        scene.core.left(peerOf(name))
        scene.end(name, scene.open.get(name) ?? 0)
      }
      expect(scene.core.gauges()).toMatchObject({ open: 0, clients: 0, bound: 0, keys: 0 })
      expect(scene.core.view(scene.nowMs).owners.every((owner) => owner.peers === 0 && owner.open === 0)).toBe(true)
    }),
    runs
  )
})

it('[I8][I13][I14] scores are those that the formulas give for a plain list of all that happened', () => {
  const limits = verifyAdmissionLimits({ refreshRequests: 1, freeScoreRequests: 5, openRequestsMax: 100 })
  const event = fc.oneof(
    fc.record({ type: fc.constant('test' as const), name: ownedOf, isVerified: fc.boolean() }),
    fc.record({ type: fc.constant('serve' as const), name: nameOf }),
    fc.record({ type: fc.constant('pass' as const), ms: fc.nat(14 * hourMs) })
  )
  fc.assert(
    fc.property(fc.array(event, { maxLength: 80 }), (events) => {
      const scene = new Scene(limits)
      const owned = names.slice(0, 4)
      for (const name of owned) scene.enter(name)
      const tests: { name: string; isVerified: boolean; hour: number }[] = []
      const served: { name: string; atMs: number }[] = []
      for (const event of events) {
        if (event.type === 'pass') scene.nowMs += event.ms
        else if (event.type === 'test') {
          scene.core.tested(serverOf(event.name), event.isVerified, scene.nowMs)
          tests.push({ ...event, hour: Math.floor((wallMs + scene.nowMs) / hourMs) })
        } else if (scene.request(event.name).action === 'admit') {
          scene.end(event.name, 1)
          served.push({ name: event.name, atMs: scene.nowMs })
        }
      }
      // Of whatever comes to nobody, one more moves all to now.
      scene.nowMs += limits.refreshMs
      const hour = Math.floor((wallMs + scene.nowMs) / hourMs)
      const counted = (name: string, since: number): { received: number; sent: number } => {
        const mine = tests.filter((test) => test.name === name && test.hour > since)
        return { received: mine.filter(({ isVerified }) => isVerified).length, sent: mine.length }
      }
      const use = (of: typeof served): number => of.reduce((sum, { atMs }) => sum + Math.exp((atMs - scene.nowMs) / (24 * hourMs)), 0)
      const counting = (name: string): number => (counted(name, hour - 24).received > 0 ? 1 : 0)
      for (const name of owned) {
        const month = counted(name, (Math.floor(hour / 24) - 29) * 24 - 1)
        const expected = ownerScore(
          {
            aShort: smoothedAvailability(counted(name, hour - 24), limits),
            aLong: smoothedAvailability(month, limits),
            tests: month,
            served: use(served.filter((each) => each.name === name)),
            servedTotal: use(served),
            servers: counting(name),
            serversTotal: owned.filter((each) => counting(each) > 0).length
          },
          limits
        )
        expect(scene.score(name)).toBeCloseTo(expected, 6)
      }
    }),
    runs
  )
})

/** Clients that offer requests in each step, in turn, and a server that takes so many steps for each. */
class Load {
  readonly scene: Scene
  readonly admitted = new Map<string, number>()
  readonly #steps: number
  readonly #ending: string[][] = []

  constructor(scene: Scene, steps: number) {
    this.scene = scene
    this.#steps = steps
  }

  step(offers: readonly string[]): void {
    this.scene.nowMs += 100
    if (this.#ending.length === this.#steps) for (const name of this.#ending.shift() ?? []) this.scene.end(name, 1)
    const taken: string[] = []
    for (const name of offers) {
      if (this.scene.request(name).action !== 'admit') continue
      taken.push(name)
      this.admitted.set(name, (this.admitted.get(name) ?? 0) + 1)
    }
    this.#ending.push(taken)
  }

  share(name: string): number {
    const all = [...this.admitted.values()].reduce((sum, each) => sum + each, 0)
    return (this.admitted.get(name) ?? 0) / all
  }
}

const honest = Array.from({ length: 9 }, (_, at) => `honest ${at}`)

/** Ten owners with a server each; in each step the hog offers 40 requests, the others as many as given. */
function runHog(honestOffers: number): Load {
  const scene = new Scene({ openRequestsMax: 100, freeScoreRequests: 10 })
  for (const name of ['hog', ...honest]) scene.enter(name, { received: 95 })
  // 100 at a time, ten steps each: ten a step can be served.
  const load = new Load(scene, 10)
  let turn = 0
  for (let step = 0; step < 4000; step++) {
    if (step === 1000) load.admitted.clear()
    const others = Array.from({ length: honestOffers }, () => honest[turn++ % honest.length] as string)
    load.step([...Array.from({ length: 40 }, () => 'hog'), ...others])
  }
  return load
}

it('[I13][I15] an owner of a tenth of the servers that sends 80 % of the requests has its tenth, once the others fill the rest', () => {
  const load = runHog(10)
  expect(load.share('hog')).toBeLessThanOrEqual(0.15)
  for (const name of honest) expect(load.share(name)).toBeGreaterThan(0.09)
})

it('[I4][I15] where the others leave room, the hog may use some of it, and they get all that they ask for', () => {
  const load = runHog(3)
  expect(load.share('hog')).toBeGreaterThan(0.15)
  expect(honest.reduce((sum, name) => sum + (load.admitted.get(name) ?? 0), 0)).toBe(3 * 3000)
})

it('[I3][I11] any number of clients without a server together keep no more open than the free score and one', () => {
  const scene = new Scene({ openRequestsMax: 100, freeScoreRequests: 5 })
  for (const name of honest) scene.enter(name, { received: 95 })
  const load = new Load(scene, 10)
  for (let step = 0; step < 500; step++) {
    load.step([...Array.from({ length: 50 }, (_, at) => `sybil ${(step * 50 + at) % 2000}`), ...honest, 'honest 0'])
    expect(scene.core.view(scene.nowMs).free.open).toBeLessThanOrEqual(6)
  }
  const sybils = [...load.admitted].filter(([name]) => name.startsWith('sybil')).reduce((sum, [, admitted]) => sum + admitted, 0)
  const all = [...load.admitted.values()].reduce((sum, each) => sum + each, 0)
  expect(sybils / all).toBeLessThanOrEqual(0.05)
})
