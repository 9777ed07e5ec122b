import { peerKey } from '@shardswap/interface'
import { describe, expect, it } from 'vitest'
import type { Broker } from '../src/index.ts'
import { A, asks, at, B, scene, want } from './scene.ts'

/** Lets a minute go by in which A is silent. Returns how often B was asked for anything. */
function asksOfB(broker: Broker): number {
  let asked = 0
  for (let nowMs = 50; nowMs < 60_000; nowMs += 50) asked += asks(broker.tick(nowMs)).filter((line) => line.endsWith(' B')).length
  return asked
}

// Who answers within the same millisecond rests for none, so that the want always has somebody to go to.
describe('a want whose one provider was quick and is silent now', () => {
  it('[F01] is offered to others although the newest want is over', () => {
    const broker = scene({ peers: [A, B] })
    want(broker, 0, 1)
    broker.decide(0)
    broker.receiveBlock(A, at(0).key, 300_000, 0)
    want(broker, 1, 3)
    broker.decide(0)
    broker.putBlock(at(2).key, 0)
    expect(asksOfB(broker)).toBeGreaterThan(0)
  })

  it('[F01] is offered to one that was asked before and had no time to answer', () => {
    const broker = scene({ peers: [B] })
    want(broker, 0, 1)
    expect(asks(broker.decide(0))).toEqual(['block 0 B'])
    broker.putBlock(at(0).key, 0)
    broker.connectPeer(A, true, 0)
    broker.providerFound(0, A, 0)
    want(broker, 1, 3)
    broker.decide(0)
    broker.receiveBlock(A, at(2).key, 300_000, 0)
    want(broker, 3, 4)
    broker.decide(0)
    expect(asksOfB(broker)).toBeGreaterThan(0)
  })
})

describe('a want that only a silent peer may have', () => {
  const C = peerKey('C')

  /** A delivered once and is silent since; its second silence in a row makes it rest. */
  function silentProvider(): Broker {
    const broker = scene({ peers: [A] })
    want(broker, 0, 1)
    broker.decide(0)
    broker.receiveBlock(A, at(0).key, 300_000, 10)
    broker.connectPeer(B, true, 10)
    broker.connectPeer(C, true, 10)
    want(broker, 1, 20, 10)
    broker.decide(10)
    return broker
  }

  it('[F01] [B4] is looked for at others while that peer rests, one want at a time', () => {
    const broker = silentProvider()
    const asked: string[] = []
    for (let nowMs = 11; nowMs < 5000; nowMs++) {
      const haves = asks(broker.tick(nowMs)).filter((line) => line.startsWith('have'))
      asked.push(...haves)
      expect(new Set(haves.map((line) => line.split(' ')[1])).size).toBeLessThanOrEqual(1)
    }
    expect(asked).toContain('have 1 B')
    expect(asked).toContain('have 1 C')
  })

  it('[F01] does not keep others from being asked of that peer: each has its turn', () => {
    const broker = scene({ peers: [A], session: { fixedPeers: new Set([A, B]) } })
    broker.connectPeer(B, true, 0)
    want(broker, 0, 6)
    broker.decide(0)
    const asked = new Set<string>()
    for (let nowMs = 10; nowMs < 200_000; nowMs += 10) {
      for (const line of asks(broker.tick(nowMs))) if (line.startsWith('block') && line.endsWith('A')) asked.add(line)
      broker.providerFound(0, A, nowMs)
    }
    expect(asked.size).toBe(6)
  })
})

describe('a peer that denies more than it may keep', () => {
  it('is not asked for the rest again before 5 s', () => {
    const broker = scene({ peers: [A], limits: { standingWantsMax: 2 }, session: { fixedPeers: new Set([A, B]) } })
    broker.providerFound(0, A, 0)
    want(broker, 0, 6)
    const asked: string[] = []
    for (let nowMs = 0; nowMs < 5000; nowMs += 5) {
      asked.push(...asks(broker.tick(nowMs)))
      for (const { key } of broker.standingAt(A)) broker.receivePresence(A, key, 'dont-have', nowMs + 1)
    }
    expect(asked.toSorted()).toEqual(Array.from({ length: 6 }, (_, i) => `block ${i} A`))
    expect(broker.standingAt(A)).toHaveLength(2)
  })
})

describe('the first wave to peers with an older protocol', () => {
  it('keeps to the bytes that may be in flight over all of them', () => {
    const broker = scene({ limits: { inFlightBytesMax: 600_000 } })
    for (let i = 0; i < 8; i++) broker.connectPeer(peerKey(`old${i}`), false, 0)
    want(broker, 0, 1)
    // A block is taken for 256 KiB at first.
    expect(asks(broker.decide(0))).toHaveLength(2)
    expect(broker.gauges().inFlightBytes).toBe(2 * 256 * 1024)
  })
})

describe('wants that nobody has, beside a provider that is silent', () => {
  const others = Array.from({ length: 5 }, (_, i) => peerKey(`other${i}`))

  /** When a peer that denies the want is asked for it, in whole seconds, while A rests and wakes again and again. */
  function askedAt(): number[] {
    // Without probes, which have a time of their own (B7).
    const broker = scene({ peers: [A], limits: { giveUpMs: 1e9, probeStartMs: 1e9 } })
    want(broker, 0, 1)
    broker.decide(0)
    broker.receiveBlock(A, at(0).key, 300_000, 10)
    for (const peer of others) broker.connectPeer(peer, true, 10)
    want(broker, 1, 2, 10)
    const seconds: number[] = []
    for (let nowMs = 20; nowMs < 200_000; nowMs += 10) {
      const asked = asks(broker.tick(nowMs))
      const denying = others.filter((peer) => asked.some((line) => line.endsWith(` ${peer}`)))
      for (const peer of denying) broker.receivePresence(peer, at(1).key, 'dont-have', nowMs)
      if (denying.length > 0) seconds.push(Math.floor(nowMs / 1000))
    }
    return seconds
  }

  it('are asked of the others again after 5, 10, 20, 40 and 60 s, however often that one has rested', () => {
    expect(askedAt()).toEqual([0, 5, 15, 35, 75, 135, 195])
  })
})
