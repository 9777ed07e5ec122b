import { type PeerKey, peerKey } from '@shardswap/interface'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Broker, Command } from '../src/index.ts'
import { A, at, scene } from './scene.ts'

type Event =
  | { do: 'want' | 'drop' | 'block' | 'have' | 'dont-have' | 'put' | 'wants'; i: number; peer: number; session: number }
  | { do: 'connect' | 'disconnect' | 'unasked'; peer: number }
  | { do: 'wait'; ms: number }

const event = fc.oneof(
  fc.record({
    do: fc.constantFrom('want', 'want', 'want', 'drop', 'block', 'block', 'have', 'have', 'dont-have', 'put', 'wants'),
    i: fc.nat(11),
    peer: fc.nat(3),
    session: fc.nat(1)
  }),
  fc.record({ do: fc.constantFrom('connect', 'connect', 'disconnect', 'unasked'), peer: fc.nat(3) }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.nat(3000) })
) as fc.Arbitrary<Event>

/** What a remote knows of our wants, by the messages alone, and the wire rules that were broken. */
class Remotes {
  readonly faults: string[] = []
  readonly #wants = new Map<PeerKey, Map<string, 'want-block' | 'want-have'>>()

  gone(peer: PeerKey): void {
    this.#wants.delete(peer)
  }

  at(peer: PeerKey): Map<string, 'want-block' | 'want-have'> {
    const wants = this.#wants.get(peer) ?? new Map<string, 'want-block' | 'want-have'>()
    this.#wants.set(peer, wants)
    return wants
  }

  take(commands: readonly Command[]): void {
    for (const command of commands) {
      if (command.type !== 'send') continue
      const wants = this.at(command.peer)
      if (new Set(command.entries.map(({ key }) => key)).size < command.entries.length)
        this.faults.push('a block stands twice in a message')
      for (const { type, key } of command.entries) {
        if (type !== 'cancel') wants.set(key, type)
        else if (!wants.delete(key)) this.faults.push('a want is cancelled that does not stand')
      }
    }
  }
}

function apply(c: Broker, remotes: Remotes, step: Event, nowMs: number): void {
  const peer = 'peer' in step ? peerKey(`P${step.peer}`) : A
  switch (step.do) {
    case 'want':
      return c.addWant(step.session, at(step.i).cid, at(step.i).key, nowMs)
    case 'drop':
      return c.dropWant(step.session, at(step.i).key, nowMs)
    case 'block':
      c.receiveBlock(peer, at(step.i).key, 1000, nowMs)
      remotes.at(peer).delete(at(step.i).key)
      return undefined
    case 'have':
      c.receivePresence(peer, at(step.i).key, 'have', nowMs)
      if (remotes.at(peer).get(at(step.i).key) === 'want-have') remotes.at(peer).delete(at(step.i).key)
      return undefined
    case 'dont-have':
      return c.receivePresence(peer, at(step.i).key, 'dont-have', nowMs)
    case 'put':
      return c.putBlock(at(step.i).key, nowMs)
    case 'wants':
      return c.peerWants(peer, at(step.i).key, nowMs)
    case 'connect':
      return c.connectPeer(peer, step.peer !== 3, nowMs)
    case 'disconnect':
      remotes.gone(peer)
      return c.disconnectPeer(peer, nowMs)
    case 'unasked':
      c.receiveUnasked(peer, nowMs)
      return undefined
    case 'wait':
      return undefined
  }
}

function check(c: Broker): void {
  let inFlight = 0
  let bytes = 0
  for (const queue of c.queues()) {
    inFlight += queue.inFlight
    bytes += queue.inFlightBytes
    expect(queue.inFlight).toBeLessThanOrEqual(queue.limitWants)
    const standing = c.standingAt(queue.peer)
    expect(new Set(standing.map(({ key }) => key)).size).toBe(standing.length)
    const held = queue.inFlight + queue.haves + standing.length
    expect(queue.connected ? 0 : held).toBe(0)
  }
  const gauges = c.gauges()
  expect([gauges.inFlight, gauges.inFlightBytes]).toEqual([inFlight, bytes])
  const sessions = [c.session(0)?.inFlight ?? 0, c.session(1)?.inFlight ?? 0]
  expect(sessions[0]! + sessions[1]!).toBe(inFlight)
}

describe('the broker, whatever happens', () => {
  it('keeps its sums and limits, cancels only what stands, leaves nothing standing, and ends empty', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 150 }), fc.nat(), (steps, seed) => {
        const c = scene({ seed })
        const remotes = new Remotes()
        c.openSession(1, {}, 0)
        let nowMs = 0
        for (const step of steps) {
          apply(c, remotes, step, nowMs)
          if (step.do === 'wait') nowMs += step.ms
          remotes.take(step.do === 'wait' ? c.tick(nowMs) : c.decide(nowMs))
          check(c)
          for (const { peer } of c.queues()) {
            const told = [...remotes.at(peer)].filter(([, type]) => type === 'want-block').map(([key]) => key)
            const known = new Set<string>(c.standingAt(peer).map(({ key }) => key))
            expect(told.filter((key) => !known.has(key))).toEqual([])
          }
        }
        c.closeSession(0, nowMs)
        c.closeSession(1, nowMs)
        remotes.take(c.decide(nowMs))
        expect(remotes.faults).toEqual([])
        for (const { peer } of c.queues()) expect([...remotes.at(peer)].filter(([, type]) => type === 'want-block')).toEqual([])
        expect({ ...c.gauges(), peers: 0 }).toEqual({
          peers: 0,
          sessions: 0,
          wants: 0,
          inFlight: 0,
          inFlightBytes: 0,
          backups: 0,
          haves: 0,
          records: 0
        })
      }),
      { numRuns: 400 }
    )
  })

  it('[F01] gets every block in the end where one peer has them all and stays, whatever the others do', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 80 }), fc.nat(), (steps, seed) => {
        const c = scene({ seed })
        const good = peerKey('good')
        c.connectPeer(good, true, 0)
        const open = new Set<string>()
        const answer = (commands: readonly Command[], nowMs: number): void => {
          for (const command of commands) {
            if (command.type !== 'send' || command.peer !== good) continue
            for (const { type, key } of command.entries) {
              if (type === 'want-have') c.receivePresence(good, key, 'have', nowMs)
              if (type === 'want-block' && c.receiveBlock(good, key, 1000, nowMs).kind === 'wanted') open.delete(key)
            }
          }
        }
        let nowMs = 0
        for (const step of steps) {
          // The others' blocks never come, and they are connected and gone as they like.
          if (step.do === 'block' || step.do === 'put' || step.do === 'drop' || ('session' in step && step.session === 1)) continue
          apply(c, new Remotes(), step, nowMs)
          if (step.do === 'want') open.add(at(step.i).key)
          nowMs += step.do === 'wait' ? step.ms : 1
          answer(step.do === 'wait' ? c.tick(nowMs) : c.decide(nowMs), nowMs)
        }
        for (let i = 0; i < 400 && c.gauges().wants > 0; i++) {
          nowMs += 250
          answer(c.tick(nowMs), nowMs)
        }
        expect(c.gauges().wants).toBe(0)
      }),
      { numRuns: 300 }
    )
  })

  it('does the same for the same events and the same seed', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), fc.nat(), (steps, seed) => {
        const run = (): string => {
          const c = scene({ seed })
          c.openSession(1, {}, 0)
          let nowMs = 0
          const trace: unknown[] = []
          for (const step of steps) {
            apply(c, new Remotes(), step, nowMs)
            nowMs += step.do === 'wait' ? step.ms : 1
            trace.push(c.tick(nowMs))
          }
          return JSON.stringify(trace)
        }
        expect(run()).toBe(run())
      }),
      { numRuns: 50 }
    )
  })
})
