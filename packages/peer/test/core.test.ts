import { type BlockKey, blockKey, type PeerKey, peerKey, type Random } from '@shardswap/interface'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Command, FetchCore } from '../src/fetch/core.ts'
import { newCounters } from '../src/fetch/state.ts'
import { peerLimits } from '../src/limits.ts'
import { rawBlock } from './support.ts'

const limits = peerLimits({ giveUpMs: 60_000 })
const A = peerKey('A')
const B = peerKey('B')
const blocks = Array.from({ length: 64 }, (_, i) => {
  const { cid } = rawBlock(`core ${i}`, 16)
  return { cid, key: blockKey(cid) }
})
const at = (i: number): { cid: (typeof blocks)[0]['cid']; key: BlockKey } => blocks[i]!

/** Xorshift: the same numbers for the same seed. */
function seeded(seed: number): Random {
  let state = seed | 1
  return {
    next: () => {
      state ^= state << 13
      state ^= state >>> 17
      state ^= state << 5
      return (state >>> 0) / 2 ** 32
    }
  }
}

function core(peers: readonly PeerKey[] = [], changes = {}): FetchCore {
  const made = new FetchCore({ ...limits, ...changes }, seeded(7), newCounters())
  made.openSession(0, undefined, 0)
  for (const peer of peers) made.connectPeer(peer, true, 0)
  return made
}

const asks = (commands: readonly Command[]): string[] =>
  commands.flatMap((command) =>
    command.type === 'ask' ? [`${command.wantType} ${blocks.findIndex((each) => each.key === command.key)} ${command.peer}`] : []
  )
const cancels = (commands: readonly Command[]): string[] =>
  commands.flatMap((command) =>
    command.type === 'cancel' ? [`${blocks.findIndex((each) => each.key === command.key)} ${command.peer}`] : []
  )

const searches = (commands: readonly Command[]): number => commands.filter((command) => command.type === 'find-providers').length

describe('the fetching core', () => {
  it('asks a lone peer for the block itself', () => {
    const c = core([A])
    c.addWant(0, at(0).cid, at(0).key, 0)
    expect(asks(c.decide(0))).toEqual(['block 0 A'])
    expect(c.decide(0)).toEqual([])
  })

  it('[B4] asks several peers with want-haves, and the first to say HAVE for the block', () => {
    const c = core([A, B])
    c.addWant(0, at(0).cid, at(0).key, 0)
    c.addWant(0, at(1).cid, at(1).key, 0)
    expect(asks(c.decide(0)).sort()).toEqual(['have 0 A', 'have 0 B'])
    c.receivePresence(B, at(0).key, 'have', 10)
    // The second want goes at once to the peer that is known to have the DAG.
    expect(asks(c.decide(10))).toEqual(['block 0 B', 'block 1 B'])
    expect(c.receiveBlock(B, at(0).key, 100, 20)).toMatchObject({ kind: 'wanted' })
    expect(cancels(c.decide(20))).toEqual(['0 A'])
  })

  it('asks a peer of an older protocol for the block, since it knows no want-have', () => {
    const c = core()
    c.connectPeer(A, false, 0)
    c.connectPeer(B, false, 0)
    c.addWant(0, at(0).cid, at(0).key, 0)
    const first = asks(c.decide(0))
    expect(first).toHaveLength(1)
    expect(first[0]).toMatch(/^block 0 [AB]$/)
  })

  it('[B12] lets a peer have eight wants in flight, and one more for each block that it delivers', () => {
    const c = core([A])
    for (let i = 0; i < 40; i++) c.addWant(0, at(i).cid, at(i).key, 0)
    // The block that is looked for alone makes the peer a provider.
    expect(asks(c.decide(0))).toHaveLength(8)
    for (let i = 0; i < 8; i++) c.receiveBlock(A, at(i).key, 1000, 10)
    expect(asks(c.decide(10))).toHaveLength(16)
  })

  it('keeps the bytes in flight at one peer, and over all, under their limits', () => {
    const c = core([A], { inFlightBytesPerPeerMax: 1024 * 1024, inFlightBytesMax: 700 * 1024 })
    for (let i = 0; i < 20; i++) c.addWant(0, at(i).cid, at(i).key, 0)
    // Blocks are taken for 256 KiB until one has come: three begin within 700 KiB.
    expect(asks(c.decide(0))).toHaveLength(3)
  })

  it('[B15] lets the bytes in flight at a peer follow its bandwidth and delay', () => {
    const c = core([A])
    for (let i = 0; i < 64; i++) c.addWant(0, at(i).cid, at(i).key, 0)
    c.decide(0)
    const peer = c.peers.get(A)!
    peer.limit = 64
    // Blocks are taken for 256 KiB: 16 fit into 4 MiB, 40 into twice 50 ms at 100 MiB a second.
    c.decide(1)
    expect(peer.inFlight).toBe(16)
    peer.latencyMinMs = 50
    peer.bytesPerMs = (100 * 1024 * 1024) / 1000
    c.decide(2)
    expect(peer.inFlight).toBe(40)
  })

  it('moves a want on when a peer says DONT_HAVE, and says so in no error', () => {
    const c = core([A, B])
    c.addWant(0, at(0).cid, at(0).key, 0)
    c.decide(0)
    c.receivePresence(A, at(0).key, 'dont-have', 5)
    c.receivePresence(B, at(0).key, 'have', 6)
    expect(asks(c.decide(6))).toEqual(['block 0 B'])
    c.receivePresence(B, at(0).key, 'dont-have', 8)
    expect(asks(c.decide(8))).toEqual([])
    // All said no: after a while they are asked again, first the one that once said HAVE.
    expect(asks(c.tick(4000))).toEqual([])
    expect(asks(c.tick(6000))).toEqual(['block 0 B'])
  })

  it('[B15] cancels a want that had its time, halves the limit, asks another, and takes the late block', () => {
    const c = core([A, B])
    c.addWant(0, at(0).cid, at(0).key, 0)
    c.decide(0)
    c.receivePresence(A, at(0).key, 'have', 2)
    c.receivePresence(B, at(0).key, 'have', 2)
    const first = asks(c.decide(2))[0]!.endsWith('A') ? A : B
    const other = first === A ? B : A
    expect(c.wakeAtMs()).toBe(2 + limits.timeoutMinMs)
    const commands = c.tick(2 + limits.timeoutMinMs)
    expect(cancels(commands)).toEqual([`0 ${first}`])
    expect(asks(commands)).toEqual([`block 0 ${other}`])
    expect(c.peers.get(first)).toMatchObject({ limit: 4, inFlight: 0, inFlightBytes: 0, stat: { timeouts: 1 } })
    expect(c.receiveBlock(first, at(0).key, 10, 400)).toMatchObject({ kind: 'wanted' })
    expect(cancels(c.decide(400))).toEqual([`0 ${other}`])
    expect(c.receiveBlock(other, at(0).key, 10, 420)).toEqual({ kind: 'duplicate', isAgain: false })
    expect(c.total).toMatchObject({ blocks: 1, duplicateBlocks: 1, duplicateBytes: 10, timeouts: 1, unaskedBlocks: 0 })
  })

  it('[B15] lets the deadline stand still while bytes arrive, and not for a block that was passed over', () => {
    const c = core([A])
    for (let i = 0; i < 60; i++) c.addWant(0, at(i).cid, at(i).key, 0)
    c.decide(0)
    for (let ms = 100; ms <= 5000; ms += 100) c.receiveBytes(A, 5000, ms)
    expect(c.tick(5000).filter((command) => command.type === 'timed-out')).toEqual([])
    let now = 5000
    for (let i = 1; i < 50; i++) {
      now += 10
      c.receiveBytes(A, 5000, now)
      c.receiveBlock(A, at(i).key, 5000, now)
      c.decide(now)
    }
    const late = c.tick(now + 300).filter((command) => command.type === 'timed-out')
    expect(late).toMatchObject([{ key: at(0).key }])
  })

  it('[B20] does not ask a peer again for a want that timed out there before it rested', () => {
    const c = core([A])
    c.addWant(0, at(0).cid, at(0).key, 0)
    c.decide(0)
    expect(asks(c.tick(1000))).toEqual([])
    expect(asks(c.tick(1990))).toEqual([])
    expect(asks(c.tick(2100))).toEqual(['block 0 A'])
  })

  it('loses no want when a peer goes and comes back', () => {
    const c = core([A])
    for (let i = 0; i < 5; i++) c.addWant(0, at(i).cid, at(i).key, 0)
    expect(asks(c.decide(0))).toHaveLength(5)
    c.disconnectPeer(A)
    expect(asks(c.decide(1))).toEqual([])
    c.connectPeer(A, true, 2)
    expect(asks(c.decide(2))).toHaveLength(5)
    expect(c.standingAt(A)).toHaveLength(5)
  })

  it('[B7] asks a peer that had nothing again, so that it can join', () => {
    const c = core([A, B])
    c.addWant(0, at(0).cid, at(0).key, 0)
    c.decide(0)
    c.receivePresence(A, at(0).key, 'have', 1)
    c.receivePresence(B, at(0).key, 'dont-have', 1)
    c.decide(1)
    for (let i = 1; i < 30; i++) c.addWant(0, at(i).cid, at(i).key, 2)
    c.decide(2)
    expect(asks(c.tick(2000))).toContain('have 29 B')
    c.receivePresence(B, at(29).key, 'have', 2001)
    expect(asks(c.decide(2001)).some((ask) => ask.startsWith('block') && ask.endsWith('B'))).toBe(true)
  })

  it('takes every peer that sends a small first block in place of HAVE for a provider, though its copy is a duplicate', () => {
    const c = core([A, B])
    c.addWant(0, at(0).cid, at(0).key, 0)
    c.decide(0)
    expect(c.receiveBlock(A, at(0).key, 100, 5)).toMatchObject({ kind: 'wanted' })
    expect(c.receiveBlock(B, at(0).key, 100, 6)).toEqual({ kind: 'duplicate', isAgain: false })
    for (let i = 1; i < 17; i++) c.addWant(0, at(i).cid, at(i).key, 7)
    const sent = asks(c.decide(7))
    expect(sent.filter((ask) => ask.endsWith('A')).length).toBeGreaterThan(4)
    expect(sent.filter((ask) => ask.endsWith('B')).length).toBeGreaterThan(4)
  })

  it('[F41] shuts a peer out at the third block that nobody asked it for, and moves its wants', () => {
    const c = core([A, B])
    c.addWant(0, at(0).cid, at(0).key, 0)
    c.decide(0)
    c.receivePresence(A, at(0).key, 'have', 1)
    expect(asks(c.decide(1))).toEqual(['block 0 A'])
    expect(c.receiveBlock(A, at(60).key, 9, 2)).toEqual({ kind: 'unasked', shutOut: false })
    expect(c.receiveUnasked(A, 3)).toBe(false)
    expect(c.receiveBlock(A, at(61).key, 9, 4)).toEqual({ kind: 'unasked', shutOut: true })
    const commands = c.decide(4)
    expect(cancels(commands)).toEqual(['0 A'])
    c.receivePresence(B, at(0).key, 'have', 5)
    expect(asks(c.decide(5))).toEqual(['block 0 B'])
  })

  it('leaves at most a bounded number of wants standing at a peer that lacks them', () => {
    const c = core([A], { standingWantsMax: 4 })
    for (let i = 0; i < 40; i++) c.addWant(0, at(i).cid, at(i).key, 0)
    for (let round = 0; round < 40; round++) {
      for (const { key, wantType } of c.standingAt(A)) if (wantType === 'block') c.receivePresence(A, key, 'dont-have', round)
      c.decide(round)
    }
    expect(c.peers.get(A)!.standing).toBe(4)
    expect(c.standingAt(A).length).toBeLessThanOrEqual(4 + limits.wantsInFlightStart)
  })

  it('gives up where nothing goes on, and says why', () => {
    const c = core([A])
    c.addWant(0, at(0).cid, at(0).key, 0)
    c.decide(0)
    c.receivePresence(A, at(0).key, 'dont-have', 1)
    c.decide(1)
    expect(c.tick(59_000).some((command) => command.type === 'give-up')).toBe(false)
    const given = c.tick(60_001).find((command) => command.type === 'give-up')
    expect(given).toMatchObject({ key: at(0).key })
    expect(given?.type === 'give-up' ? given.reason : '').toContain('1 connected')
  })

  it('searches for providers once a session has nobody to ask, spaced out', () => {
    const c = core()
    c.addWant(0, at(0).cid, at(0).key, 0)
    c.addWant(0, at(1).cid, at(1).key, 0)
    expect(searches(c.decide(0))).toBe(1)
    let count = 0
    for (let ms = 0; ms < 120_000; ms += 1000) count += searches(c.tick(ms))
    expect(count).toBeLessThanOrEqual(7)
  })
})

type Event =
  | { do: 'want' | 'drop' | 'block' | 'have' | 'dont-have' | 'put'; i: number; peer: number; session: number }
  | { do: 'connect' | 'disconnect'; peer: number }
  | { do: 'wait'; ms: number }

const event = fc.oneof(
  fc.record({
    do: fc.constantFrom('want', 'want', 'want', 'drop', 'block', 'block', 'have', 'have', 'dont-have', 'put'),
    i: fc.nat(11),
    peer: fc.nat(3),
    session: fc.nat(1)
  }),
  fc.record({ do: fc.constantFrom('connect', 'disconnect'), peer: fc.nat(3) }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.nat(3000) })
) as fc.Arbitrary<Event>

function apply(c: FetchCore, step: Event, nowMs: number): void {
  const peer = 'peer' in step ? peerKey(`P${step.peer}`) : A
  switch (step.do) {
    case 'want':
      return c.addWant(step.session, at(step.i).cid, at(step.i).key, nowMs)
    case 'drop':
      return c.dropWant(step.session, at(step.i).key)
    case 'block':
      c.receiveBlock(peer, at(step.i).key, 1000, nowMs)
      return undefined
    case 'have':
    case 'dont-have':
      return c.receivePresence(peer, at(step.i).key, step.do, nowMs)
    case 'put':
      return c.putBlock(at(step.i).key)
    case 'connect':
      return c.connectPeer(peer, step.peer !== 3, nowMs)
    case 'disconnect':
      return c.disconnectPeer(peer)
    case 'wait':
      return undefined
  }
}

function check(c: FetchCore): void {
  for (const peer of c.peers.values()) {
    const flying = [...peer.asks.values()].filter((ask) => ask.state.phase === 'in-flight')
    expect(peer.inFlight).toBe(flying.length)
    expect(peer.inFlightBytes).toBe(flying.reduce((sum, ask) => sum + (ask.state.phase === 'in-flight' ? ask.state.bytes : 0), 0))
    expect(peer.standing).toBe([...peer.asks.values()].filter((ask) => ask.state.phase === 'dont-have').length)
    expect(peer.inFlight).toBeLessThanOrEqual(c.limits.wantsInFlightMax)
    expect(peer.connected ? 0 : peer.asks.size).toBe(0)
  }
  for (const want of c.wants.values()) {
    const flying = [...want.asks.values()].filter((ask) => ask.state.phase === 'in-flight').length
    expect(flying).toBe(want.inFlight)
    expect(flying).toBeLessThanOrEqual(1)
    expect(want.sessions.size).toBeGreaterThan(0)
    for (const session of want.sessions) {
      const placed = [session.urgent, session.queue, session.parked].filter((queue) => queue.has(want.key)).length
      // Somewhere: in flight, being asked for, or in a queue; never lost.
      expect(placed + want.inFlight + want.havesAsked).toBeGreaterThan(0)
    }
  }
  for (const session of c.sessions.values()) {
    const asked = [...c.wants.values()].filter((want) => want.sessions.has(session) && want.havesAsked > 0).length
    expect(session.discoveries).toBe(asked)
  }
}

describe('the fetching core, whatever happens', () => {
  it('keeps its sums, never loses a want, never has two copies in flight, and ends empty', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 120 }), fc.nat(), (steps, seed) => {
        const c = new FetchCore(limits, seeded(seed), newCounters())
        c.openSession(0, undefined, 0)
        c.openSession(1, undefined, 0)
        let nowMs = 0
        for (const step of steps) {
          apply(c, step, nowMs)
          if (step.do === 'wait') nowMs += step.ms
          if (step.do === 'wait') c.tick(nowMs)
          else c.decide(nowMs)
          check(c)
        }
        c.closeSession(0)
        c.closeSession(1)
        c.decide(nowMs)
        expect(c.wants.size).toBe(0)
        for (const peer of c.peers.values())
          expect([peer.asks.size, peer.inFlight, peer.inFlightBytes, peer.standing]).toEqual([0, 0, 0, 0])
      }),
      { numRuns: 300 }
    )
  })

  it('does the same for the same events and the same seed', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), fc.nat(), (steps, seed) => {
        const run = (): string => {
          const c = new FetchCore(limits, seeded(seed), newCounters())
          c.openSession(0, undefined, 0)
          c.openSession(1, undefined, 0)
          let nowMs = 0
          const trace: unknown[] = []
          for (const step of steps) {
            apply(c, step, nowMs)
            nowMs += step.do === 'wait' ? step.ms : 1
            trace.push(...c.tick(nowMs).map((command) => ({ ...command, cid: undefined })))
          }
          return JSON.stringify(trace)
        }
        expect(run()).toBe(run())
      }),
      { numRuns: 50 }
    )
  })
})
