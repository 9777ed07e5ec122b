import { peerKey } from '@shardswap/interface'
import { describe, expect, it } from 'vitest'
import { Session } from '../src/session.ts'
import type { PeerView } from '../src/views.ts'
import { block, limits, peer, ports, seeded } from './scene.ts'

function sessionOf(connected: readonly PeerView[], wants: number): Session {
  const session = new Session({ limits, random: seeded(1), ports: ports(connected), self: peerKey('self'), nowMs: 0 })
  for (let i = 0; i < wants; i++) session.add(block(i), 0)
  return session
}

describe('a session', () => {
  it('[B26] looks at 64 wants for one answer, and says that there may be more', () => {
    const session = sessionOf([], 1000)
    const exhausted = (): number => session.stat().records - session.wants
    // Nobody is there to ask: each want that is looked at is exhausted.
    expect([exhausted(), session.decide(0), exhausted()]).toEqual([0, { kind: 'more' }, 64])
    for (let answers = 2; answers <= 15; answers++) expect([session.decide(0), exhausted()]).toEqual([{ kind: 'more' }, 64 * answers])
    const last = session.decide(0)
    expect([last?.kind, exhausted()]).toEqual(['search', 1000])
    expect(session.decide(0)).toBeUndefined()
  })

  it('[B2][B8] answers with one want at a time, the oldest first', () => {
    const provider = peer('A')
    const session = sessionOf([provider, peer('B')], 3)
    session.providerFound(provider)
    const order = [0, 1, 2].map((i) => {
      const decision = session.decide(0)
      const of = block(i)
      if (decision?.kind !== 'ask' || decision.want.block.key !== of.key) return decision?.kind
      // As the broker does with a want-block.
      Object.assign(decision.want.block, { inFlight: 1 })
      session.sentBlock(provider)
      session.changed(of.key)
      return `${decision.asks[0]?.type} ${decision.asks[0]?.peer.key}`
    })
    expect(order).toEqual(['want-block A', 'want-block A', 'want-block A'])
    expect([session.stat().inFlight, session.candidate(provider.key)?.inFlight]).toEqual([3, 3])
  })

  it('[B12] a late copy counts as a block that the peer delivered: its limit grows from 8 to 16 with one, to 32 with eight', () => {
    const provider = peer('A')
    const session = sessionOf([provider], 1)
    session.providerFound(provider)
    const limitsSeen = [session.candidate(provider.key)?.limit]
    for (let copies = 1; copies <= 8; copies++) {
      session.duplicated(provider)
      limitsSeen.push(session.candidate(provider.key)?.limit)
    }
    expect(limitsSeen).toEqual([8, 16, 16, 16, 16, 16, 16, 16, 32])
    expect(session.candidate(provider.key)?.blocks).toBe(8)
  })

  it('[B9] rises in potential with each second in which nothing comes, up to 4', () => {
    const session = sessionOf([peer('A')], 1)
    const potentials = [500, 1000, 2000, 3000].map((ms) => {
      session.tick(ms)
      return session.stat().potential
    })
    expect(potentials).toEqual([2, 2.125, 2.25, 2.375])
    for (let ms = 4000; ms < 40_000; ms += 1000) session.tick(ms)
    expect(session.stat().potential).toBe(4)
  })
})
