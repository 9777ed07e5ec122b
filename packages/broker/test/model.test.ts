import { type PeerKey, peerKey } from '@shardswap/interface'
import { type Decision, Session, type Want } from '@shardswap/session'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Broker, type BrokerOptions, type Command } from '../src/index.ts'
import type { PeerQueue } from '../src/queue.ts'
import { seeded } from '../../session/test/scene.ts'
import { A, at, limits as defaults, want } from './scene.ts'

type Limits = typeof defaults

/** Small ones, so that all of them are reached. */
const someLimits: fc.Arbitrary<Limits> = fc
  .record({
    wantsInFlightStart: fc.integer({ min: 1, max: 4 }),
    wantsInFlightMax: fc.integer({ min: 4, max: 12 }),
    queueWantsStart: fc.integer({ min: 1, max: 6 }),
    queueWantsMax: fc.integer({ min: 6, max: 12 }),
    queueHavesMax: fc.integer({ min: 1, max: 6 }),
    standingWantsMax: fc.integer({ min: 1, max: 4 }),
    inFlightBytesMax: fc.integer({ min: 300_000, max: 1_500_000 }),
    decisionsMax: fc.integer({ min: 1, max: 9 })
  })
  .map((some) => ({ ...defaults, ...some }))

/** What peers know of our wants, from the messages alone, and which rules those broke. */
class Told {
  readonly faults: string[] = []
  readonly #wants = new Map<string, 'asked' | 'denied'>()

  take(commands: readonly Command[]): void {
    for (const command of commands) {
      if (command.type !== 'send') continue
      for (const { type, key } of command.entries) {
        const place = `${command.peer} ${key}`
        if (type === 'cancel') this.#wants.delete(place)
        // Invariant 4: never two copies of one want at one peer.
        else if (this.#wants.get(place) === 'asked') this.faults.push(`${type} where a want-block stands`)
        else if (type === 'want-block') this.#wants.set(place, 'asked')
      }
    }
  }

  /** Keys of want-blocks that a peer has not answered. */
  at(peer: PeerKey): string[] {
    return [...this.#wants]
      .filter(([place, state]) => state === 'asked' && place.startsWith(`${peer} `))
      .map(([place]) => place.slice(peer.length + 1))
  }

  answer(peer: PeerKey, key: string, has: boolean): void {
    const place = `${peer} ${key}`
    if (has) this.#wants.delete(place)
    else if (this.#wants.has(place)) this.#wants.set(place, 'denied')
  }

  gone(peer: PeerKey): void {
    // Deleting the entry that a walk stands at is defined.
    for (const place of this.#wants.keys()) if (place.startsWith(`${peer} `)) this.#wants.delete(place)
  }
}

/** A broker whose sessions are watched: every decision is held to the limits when it is made. */
class Watched {
  readonly faults: string[] = []
  readonly sessions: Session[] = []
  readonly broker: Broker

  constructor(limits: Limits, seed: number) {
    const open: BrokerOptions['openSession'] = (init) => {
      const session = new Session({ ...init, limits, self: peerKey('self') })
      const decide = session.decide.bind(session)
      session.decide = (nowMs) => {
        const decision = decide(nowMs)
        this.#check(session, decision)
        return decision
      }
      this.sessions.push(session)
      return session
    }
    this.broker = new Broker({ limits, random: seeded(seed), openSession: open })
  }

  /** Invariant 3: no want is sent to a peer whose wants in flight have reached either limit. */
  #check(session: Session, decision: Decision | undefined): void {
    if (decision?.kind !== 'ask') return
    for (const { peer, type } of decision.asks) {
      const candidate = session.candidate(peer.key)
      const queue = peer as PeerQueue
      if (!queue.isConnected) this.faults.push('a want goes to a peer that is gone')
      if (type === 'want-have' && !queue.hasHaveSpace) this.faults.push('a want-have above its limit')
      if (type !== 'want-block') continue
      if (candidate !== undefined && candidate.inFlight >= candidate.limit) this.faults.push('a want above the limit of the session')
      if (queue.inFlight >= queue.limitWants) this.faults.push('a want above the limit of the peer')
      if (decision.want.block.inFlight > 0) this.faults.push('a want is sent while a copy is in flight')
    }
  }

  /** Wants that nothing holds back: somebody who has it, or should, may be asked for it and has space. */
  heldBack(limits: Limits, nowMs: number): Want[] {
    const { inFlight, inFlightBytes } = this.broker.gauges()
    return this.sessions.flatMap((session) =>
      Array.from(session.keys(), (key) => session.want(key) as Want).filter((of) => {
        const bytes = session.sizes.expected(of.block.cid)
        if (of.block.inFlight > 0 || (inFlight > 0 && inFlightBytes + bytes > limits.inFlightBytesMax)) return false
        return [...of.block.stances.values()].some(({ phase, peer }) => {
          const candidate = session.candidate(peer.key)
          if (phase !== 'have' || candidate === undefined || !peer.isUsable(nowMs) || !(peer as PeerQueue).fits(bytes)) return false
          return candidate.inFlight < candidate.limit && candidate.restUntilMs <= nowMs
        })
      })
    )
  }
}

const names = [0, 1, 2, 3].map((i) => peerKey(`P${i}`))

type Step =
  | { do: 'want'; i: number; session: number }
  | { do: 'drop'; i: number; session: number }
  | { do: 'answer'; peer: number; which: number; has: boolean }
  | { do: 'say'; i: number; peer: number; has: boolean }
  | { do: 'connect'; peer: number }
  | { do: 'disconnect'; peer: number }
  | { do: 'wait'; ms: number }

const yes = fc.constantFrom(true, true, true, false)
const some = { i: fc.nat(19), peer: fc.nat(3), session: fc.nat(2) }
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('want' as const), i: some.i, session: some.session }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('drop' as const), i: some.i, session: some.session }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('answer' as const), peer: some.peer, which: fc.nat(9), has: yes }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('say' as const), i: some.i, peer: some.peer, has: yes }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constantFrom('connect' as const, 'disconnect' as const, 'disconnect' as const), peer: some.peer })
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(3000) }) }
  ),
  { maxLength: 200 }
) as fc.Arbitrary<Step[]>

function apply(c: Broker, told: Told, step: Step, nowMs: number): void {
  if (step.do === 'want') return c.addWant(step.session, at(step.i).cid, at(step.i).key, nowMs)
  if (step.do === 'drop') return c.dropWant(step.session, at(step.i).key, nowMs)
  if (step.do === 'wait') return undefined
  const peer = names[step.peer]!
  if (step.do === 'connect') return c.connectPeer(peer, true, nowMs)
  if (step.do === 'disconnect') {
    told.gone(peer)
    return c.disconnectPeer(peer, nowMs)
  }
  if (step.do === 'say') {
    told.answer(peer, at(step.i).key, false)
    return c.receivePresence(peer, at(step.i).key, step.has ? 'have' : 'dont-have', nowMs)
  }
  const asked = told.at(peer)
  const block = Array.from({ length: 20 }, (_, i) => at(i)).find(({ key }) => key === asked[step.which % asked.length])
  if (block === undefined) return undefined
  told.answer(peer, block.key, step.has)
  if (step.has) c.receiveBlock(peer, block.key, 250_000, nowMs)
  else c.receivePresence(peer, block.key, 'dont-have', nowMs)
  return undefined
}

describe('the broker beside a model of its peers', () => {
  it('[B1][B2][B11][B15][B22][C2] sends no want above a limit, none twice, and holds none back that has a place', () => {
    fc.assert(
      fc.property(steps, someLimits, fc.integer({ min: 1, max: 4 }), fc.nat(), (course, limits, peers, seed) => {
        const watched = new Watched(limits, seed)
        const { broker } = watched
        const told = new Told()
        for (const id of [0, 1, 2]) broker.openSession(id, {}, 0)
        for (const peer of names.slice(0, peers)) broker.connectPeer(peer, true, 0)
        let nowMs = 0
        for (const step of course) {
          apply(broker, told, step, nowMs)
          nowMs += step.do === 'wait' ? step.ms : 1
          told.take(broker.tick(nowMs))
          for (let calls = 0; broker.wakeAtMs() === 0; calls++) {
            told.take(broker.decide(nowMs))
            if (calls > 1000) throw new Error('the broker never has enough')
          }
          expect([...watched.faults, ...told.faults]).toEqual([])
          expect(watched.heldBack(limits, nowMs).map((of) => [...of.block.stances.values()].map(({ phase }) => phase))).toEqual([])
          const { inFlightBytes, inFlight } = broker.gauges()
          // One block may always be on its way, however large.
          expect(inFlight > 1 && inFlightBytes > limits.inFlightBytesMax).toBe(false)
        }
      }),
      { numRuns: 400 }
    )
  })

  it('[B24] gives each session one want a round, whatever comes in when and however few places there are', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 5 }),
        fc.integer({ min: 1, max: 10 }),
        fc.array(fc.nat(99), { maxLength: 80 }),
        (sessions, places, course) => {
          const limits = { ...defaults, queueWantsStart: places, wantsInFlightStart: 512 }
          const { broker } = new Watched(limits, 1)
          broker.connectPeer(A, true, 0)
          for (let id = 0; id < sessions; id++) {
            broker.openSession(id, {}, 0)
            broker.providerFound(id, A, 0)
            want(broker, 1000 * id, 1000 * id + 100, 0, id)
          }
          const order: number[] = []
          const take = (commands: readonly Command[]): void => {
            for (const command of commands) {
              if (command.type !== 'send') continue
              for (const { key } of command.entries)
                order.push(
                  Array.from({ length: sessions }, (_, id) => id).find((id) => broker.session(id) !== undefined && keysOf(id).has(key)) ??
                    -1
                )
            }
          }
          take(broker.decide(0))
          course.forEach((which, i) => {
            const standing = broker.standingAt(A)
            broker.receiveBlock(A, standing[which % standing.length]!.key, 2000, i + 1)
            take(broker.decide(i + 1))
          })
          // Each has more than it can send, so they follow each other without end.
          expect(order).toEqual(order.map((_, i) => (order[0]! + i) % sessions))
        }
      ),
      { numRuns: 200 }
    )
  })
})

const keys = new Map<number, ReadonlySet<string>>()

/** The keys of all that a session wants. */
function keysOf(session: number): ReadonlySet<string> {
  let of = keys.get(session)
  if (of === undefined) {
    of = new Set(Array.from({ length: 100 }, (_, i) => at(1000 * session + i).key))
    keys.set(session, of)
  }
  return of
}
