import { InvalidParametersError, peerKey, type PeerKey } from '@shardswap/interface'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clientKey, mayUse, ownerKey, type BindingRecord, type ClientKey, type OwnerKey } from '../../src/admission/binding.ts'
import { defaultRegistryLimits, verifyRegistryLimits, type RegistryLimits } from '../../src/admission/limits.ts'
import { BindingRegistry, type RecordOutcome, type RegistryChange } from '../../src/admission/registry.ts'

const wallMs = Date.UTC(2026, 10, 30, 9, 30)
const dayMs = 24 * 60 * 60 * 1000
const [alice, bob] = [ownerKey('alice'), ownerKey('bob')]
const client = (name: string | number): ClientKey => clientKey(`client ${name}`)
const server = (name: string | number): PeerKey => peerKey(`server ${name}`)

type SignedRecord = BindingRecord & { readonly isForged?: boolean }

interface Over {
  readonly owner?: OwnerKey
  readonly sequence?: number
  readonly days?: number
  readonly isForged?: boolean
}

function binding(name: string | number, of: string | number, { owner = alice, sequence = 1, days = 7, ...rest }: Over = {}): SignedRecord {
  return { kind: 'binding', client: client(name), server: server(of), owner, sequence, expiresMs: wallMs + days * dayMs, ...rest }
}

function revocation(name: string | number, { owner = alice, sequence = 2, days = 7, ...rest }: Over = {}): SignedRecord {
  return { kind: 'revocation', client: client(name), owner, sequence, expiresMs: wallMs + days * dayMs, ...rest }
}

/** A registry, what it was asked to verify, and short words. */
class Scene {
  readonly registry: BindingRegistry<SignedRecord>
  readonly proven = new Set<PeerKey>()
  verified = 0

  constructor(limits: Partial<RegistryLimits> = {}) {
    this.registry = new BindingRegistry<SignedRecord>({
      wallMs,
      nowMs: 0,
      limits: verifyRegistryLimits(limits),
      isProven: (server) => this.proven.has(server),
      verify: (record) => {
        this.verified++
        return record.isForged !== true
      }
    })
  }

  tell(record: SignedRecord, { bytes = 300, nowMs = 0 } = {}): RecordOutcome {
    return this.registry.accept(record, bytes, nowMs).outcome
  }
}

describe('bindings', () => {
  it('[I3] one that is renewed without end takes one place of its owner', () => {
    const scene = new Scene({ bindingsPerOwnerMax: 2 })
    for (let sequence = 1; sequence < 10; sequence++) expect(scene.tell(binding(1, 'a', { sequence }))).toBe('taken')
    expect(scene.tell(binding(2, 'a'))).toBe('taken')
    expect(scene.tell(binding(3, 'a'))).toBe('full')
  })

  it('[I3][I16] a client key points to a server, a server to its owner, an owner to its servers', () => {
    const { registry } = new Scene()
    expect(registry.accept(binding(1, 'a'), 300, 0)).toEqual({
      outcome: 'taken',
      changes: [
        { type: 'server', server: server('a'), owner: alice },
        { type: 'bound', client: client(1), server: server('a'), owner: alice }
      ]
    })
    expect(registry.accept(binding(2, 'a'), 300, 0).changes).toMatchObject([{ type: 'bound' }])
    expect(registry.accept(binding(3, 'b'), 300, 0).outcome).toBe('taken')
    expect(registry.serverOf(client(2), 0)).toBe(server('a'))
    expect(registry.ownerOf(server('b'))).toBe(alice)
    expect(registry.serversOf(alice)).toEqual([server('a'), server('b')])
    expect(registry.size).toBe(2)
    expect(registry.serverOf(client(9), 0)).toBeUndefined()
    expect(registry.serversOf(bob)).toEqual([])
  })

  it('[I3] an owner changes its keys: the old one is revoked, a new one bound, and the old does not come back', () => {
    const { registry } = new Scene()
    registry.accept(binding(1, 'a'), 300, 0)
    expect(registry.accept(revocation(1), 300, 0)).toEqual({
      outcome: 'taken',
      changes: [
        { type: 'server-gone', server: server('a') },
        { type: 'unbound', client: client(1) }
      ]
    })
    expect(registry.serverOf(client(1), 0)).toBeUndefined()
    expect(registry.accept(binding(1, 'a'), 300, 0).outcome).toBe('replayed')
    expect(registry.accept(binding(2, 'a'), 300, 0).outcome).toBe('taken')
    expect(registry.accept(binding(1, 'a', { sequence: 3 }), 300, 0).outcome).toBe('taken')
    expect(registry.serverOf(client(1), 0)).toBe(server('a'))
  })

  it('[I3] only the owner revokes, and it cannot lock the key for others', () => {
    const scene = new Scene()
    scene.tell(binding(1, 'a'))
    expect(scene.tell(revocation(1, { owner: bob }))).toBe('other-owner')
    expect(scene.tell(revocation(7))).toBe('other-owner')
    expect(scene.tell(revocation(1, { sequence: Number.MAX_SAFE_INTEGER }))).toBe('taken')
    expect(scene.tell(binding(1, 'a', { sequence: 9 }))).toBe('replayed')
    expect(scene.tell(binding(1, 'b', { owner: bob, sequence: 1 }))).toBe('replayed')
    expect(scene.tell(binding(1, 'b', { owner: bob, sequence: 2 }))).toBe('taken')
    expect(scene.tell(revocation(1, { sequence: Number.MAX_SAFE_INTEGER }))).toBe('other-owner')
    expect(scene.registry.serverOf(client(1), 0)).toBe(server('b'))
  })

  it('[I3] a server has one owner; its last client key takes it along to another', () => {
    const scene = new Scene()
    scene.tell(binding(1, 'a'))
    scene.tell(binding(2, 'a'))
    expect(scene.tell(binding(3, 'a', { owner: bob }))).toBe('other-owner')
    expect(scene.tell(binding(1, 'a', { owner: bob, sequence: 2 }))).toBe('other-owner')
    scene.tell(revocation(2))
    expect(scene.registry.accept(binding(1, 'a', { owner: bob, sequence: 2 }), 300, 0)).toEqual({
      outcome: 'taken',
      changes: [
        { type: 'server', server: server('a'), owner: bob },
        { type: 'bound', client: client(1), server: server('a'), owner: bob }
      ]
    })
    expect(scene.registry.serversOf(alice)).toEqual([])
  })

  it('[I3] a binding ends by itself; what it replaced does not come back', () => {
    const scene = new Scene()
    const long = binding(1, 'a', { days: 20 })
    scene.tell(long)
    scene.tell(binding(1, 'b', { sequence: 2, days: 1 }))
    const nowMs = 2 * dayMs
    // Exact for a client, even before `expire` was called.
    expect(scene.registry.serverOf(client(1), nowMs)).toBeUndefined()
    expect(scene.registry.expire(nowMs)).toEqual([
      { type: 'unbound', client: client(1) },
      { type: 'server-gone', server: server('b') }
    ])
    expect(scene.registry.size).toBe(0)
    expect(scene.tell(long, { nowMs })).toBe('replayed')
    expect(scene.registry.recordsKept).toBe(1)
    expect(scene.registry.expire(20 * dayMs)).toEqual([])
    expect(scene.registry.recordsKept).toBe(0)
    expect(scene.tell(long, { nowMs: 20 * dayMs })).toBe('expired')
  })

  it('[I3] a longer term under the same server is news for nobody', () => {
    const { registry } = new Scene()
    registry.accept(binding(1, 'a'), 300, 0)
    expect(registry.accept(binding(1, 'a', { sequence: 2, days: 9 }), 300, 0)).toEqual({ outcome: 'taken', changes: [] })
    expect(registry.expire(8 * dayMs)).toEqual([])
    expect([...registry.records(8 * dayMs)]).toHaveLength(1)
  })
})

describe('records that are refused', () => {
  it.each<[RecordOutcome, SignedRecord, number]>([
    ['oversized', binding(2, 'a'), 2049],
    ['oversized', binding('x'.repeat(150), 'a'), 300],
    ['oversized', binding(2, 'x'.repeat(150)), 300],
    ['malformed', { ...binding(2, 'a'), owner: ownerKey('') }, 300],
    ['malformed', binding(2, 'a', { sequence: 1.5 }), 300],
    ['malformed', binding(2, 'a', { sequence: -1 }), 300],
    ['malformed', binding(2, 'a', { days: Number.NaN }), 300],
    ['expired', binding(2, 'a', { days: 0 }), 300],
    ['expired', binding(2, 'a', { days: -3 }), 300],
    ['too-long', binding(2, 'a', { days: 31 }), 300],
    ['replayed', binding(1, 'b', { sequence: 5 }), 300],
    ['replayed', revocation(1, { sequence: 4 }), 300],
    ['forged', binding(1, 'b', { sequence: 6, isForged: true }), 300],
    ['forged', revocation(1, { sequence: 6, isForged: true }), 300]
  ])('[I3][I16] %s: counted, and nothing changes', (outcome, record, bytes) => {
    const scene = new Scene()
    scene.tell(binding(1, 'a', { sequence: 5 }))
    expect(scene.registry.accept(record, bytes, 0)).toEqual({ outcome, changes: [] })
    expect([...scene.registry.records(0)]).toEqual([binding(1, 'a', { sequence: 5 })])
    expect(scene.registry.outcomes().get(outcome)).toBe(1)
    // What is wrong by itself costs no check of a signature.
    expect(scene.verified).toBe(outcome === 'forged' ? 2 : 1)
  })

  it('[I16] a record that is known is neither taken again nor verified', () => {
    const scene = new Scene()
    expect(scene.tell(binding(1, 'a'))).toBe('taken')
    expect(scene.tell(binding(1, 'a'))).toBe('known')
    expect(scene.verified).toBe(1)
    scene.tell(revocation(1))
    expect(scene.tell(revocation(1))).toBe('known')
  })
})

describe('bounds', () => {
  it('[I16] an owner has so many records and servers, and one more is refused', () => {
    const scene = new Scene({ bindingsPerOwnerMax: 3, serversPerOwnerMax: 2 })
    expect([scene.tell(binding(1, 'a')), scene.tell(binding(2, 'b'))]).toEqual(['taken', 'taken'])
    expect(scene.tell(binding(3, 'c'))).toBe('full')
    expect(scene.tell(binding(3, 'b'))).toBe('taken')
    expect(scene.tell(binding(4, 'b'))).toBe('full')
    expect(scene.tell(binding(4, 'd', { owner: bob }))).toBe('taken')
    // What it has may change.
    expect(scene.tell(binding(3, 'a', { sequence: 2 }))).toBe('taken')
  })

  it('[I16] a flood of records moves no server that was verified of late', () => {
    const scene = new Scene({ bindingsMax: 8, bindingsPerOwnerMax: 2 })
    for (const name of ['a', 'b', 'c']) {
      scene.proven.add(server(name))
      scene.tell(binding(`of ${name}`, name, { owner: ownerKey(`owner ${name}`) }))
    }
    for (let at = 0; at < 1000; at++) expect(scene.tell(binding(at, at, { owner: ownerKey(`sybil ${at}`) }))).toBe('taken')
    expect(scene.registry.recordsKept).toBe(8)
    expect(scene.registry.size).toBe(8)
    for (const name of ['a', 'b', 'c']) expect(scene.registry.serverOf(client(`of ${name}`), 0)).toBe(server(name))
  })

  it('[I16] where all were verified, there is no room; the search for it is bounded', () => {
    const scene = new Scene({ bindingsMax: 4, bindingsPerOwnerMax: 4, roomLooksMax: 2 })
    for (let at = 0; at < 4; at++) {
      scene.tell(binding(at, at))
      scene.proven.add(server(at))
    }
    const other = binding('new', 'new', { owner: bob })
    expect(scene.tell(other)).toBe('full')
    // The third and the fourth are looked at next.
    scene.proven.delete(server(3))
    expect(scene.tell(other)).toBe('taken')
    expect(scene.registry.serversOf(alice)).toHaveLength(3)
    // What has expired makes room, whoever proved what.
    scene.proven.add(server('new'))
    expect(scene.tell(binding('last', 'last', { owner: bob, days: 9 }), { nowMs: 8 * dayMs })).toBe('taken')
    expect(() => verifyRegistryLimits({ bindingsMax: 5 })).toThrow(InvalidParametersError)
    expect(() => verifyRegistryLimits({ roomLooksMax: 0 })).toThrow(InvalidParametersError)
    expect(verifyRegistryLimits({})).toEqual(defaultRegistryLimits)
  })
})

it('[I3] a client key is used by its own peer, or by one that it names, on a connection with that one', () => {
  const [own, other] = [peerKey('client 1'), peerKey('phone')]
  const delegation = { client: client(1), peer: other, expiresMs: wallMs + dayMs }
  expect(mayUse(client(1), own, undefined, wallMs)).toBe(true)
  expect(mayUse(client(1), other, undefined, wallMs)).toBe(false)
  expect(mayUse(client(1), other, delegation, wallMs)).toBe(true)
  expect(mayUse(client(1), peerKey('thief'), delegation, wallMs)).toBe(false)
  expect(mayUse(client(2), other, delegation, wallMs)).toBe(false)
  expect(mayUse(client(1), other, delegation, wallMs + dayMs)).toBe(false)
})

it('[I3][I16] whatever records come: who follows the changes knows what the registry knows, and all bounds hold', () => {
  const owners = [alice, bob, ownerKey('carol')]
  const eventOf = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('bind' as const),
        name: fc.nat(7),
        of: fc.nat(4),
        owner: fc.nat(2),
        sequence: fc.nat(6),
        days: fc.nat(10)
      })
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('revoke' as const),
        name: fc.nat(7),
        owner: fc.nat(2),
        sequence: fc.nat(6),
        days: fc.nat(10)
      })
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('pass' as const), days: fc.nat(4) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('prove' as const), of: fc.nat(4) }) }
  )
  fc.assert(
    fc.property(fc.array(eventOf, { maxLength: 80 }), (events) => {
      const scene = new Scene({ bindingsMax: 5, bindingsPerOwnerMax: 3, serversPerOwnerMax: 2 })
      const clients = new Map<ClientKey, PeerKey>()
      const servers = new Map<PeerKey, OwnerKey>()
      const follow = (changes: readonly RegistryChange[]): void => {
        for (const change of changes) {
          if (change.type === 'bound') clients.set(change.client, change.server)
          else if (change.type === 'server') servers.set(change.server, change.owner)
          else if (!(change.type === 'unbound' ? clients.delete(change.client) : servers.delete(change.server))) {
            throw new Error('nothing ends that was not there')
          }
        }
      }
      let nowMs = 0
      for (const event of events) {
        if (event.kind === 'pass') nowMs += event.days * dayMs
        else if (event.kind === 'prove') scene.proven.add(server(event.of))
        else {
          const days = nowMs / dayMs + event.days
          const over = { owner: owners[event.owner] ?? alice, sequence: event.sequence, days }
          const record = event.kind === 'bind' ? binding(event.name, event.of, over) : revocation(event.name, over)
          follow(scene.registry.accept(record, 300, nowMs).changes)
        }
        follow(scene.registry.expire(nowMs))
        expect(scene.registry.recordsKept).toBeLessThanOrEqual(5)
        expect(scene.registry.size).toBe(servers.size)
        for (let name = 0; name <= 7; name++) expect(scene.registry.serverOf(client(name), nowMs)).toBe(clients.get(client(name)))
        for (const [key, owner] of servers) expect(scene.registry.ownerOf(key)).toBe(owner)
        for (const owner of owners) {
          const own = scene.registry.serversOf(owner)
          expect([...own].sort()).toEqual(
            [...servers]
              .filter(([, each]) => each === owner)
              .map(([key]) => key)
              .sort()
          )
          expect(own.length).toBeLessThanOrEqual(2)
        }
        expect(new Set(clients.values()).size).toBe(servers.size)
      }
      follow(scene.registry.expire(nowMs + 40 * dayMs))
      expect([scene.registry.recordsKept, scene.registry.size, clients.size, servers.size]).toEqual([0, 0, 0, 0])
    }),
    { seed: 20_261_130, numRuns: 400 }
  )
})

describe('a restart', () => {
  it('[I3][I16] what was kept comes back with what follows from it, and what was replaced or has expired still does not', () => {
    const before = new Scene()
    expect(before.tell(binding(1, 'a', { days: 30 }))).toBe('taken')
    expect(before.tell(binding(1, 'a', { sequence: 2, days: 7 }))).toBe('taken')
    expect(before.tell(binding(2, 'b', { owner: bob }))).toBe('taken')
    expect(before.tell(binding(3, 'a'))).toBe('taken')
    expect(before.tell(revocation(3))).toBe('taken')
    const kept = [...before.registry.kept()]
    const { registry } = new Scene()
    expect(registry.restore(kept, 0)).toEqual([
      { type: 'server', server: server('a'), owner: alice },
      { type: 'bound', client: client(1), server: server('a'), owner: alice },
      { type: 'server', server: server('b'), owner: bob },
      { type: 'bound', client: client(2), server: server('b'), owner: bob }
    ])
    expect(registry.accept(binding(3, 'a'), 300, 0).outcome).toBe('replayed')
    expect(registry.nextSequence(client(1), alice)).toBe(3)
    expect([...registry.kept()]).toEqual(kept)
    // Eight days later what holds no more is remembered for as long as the first could come again.
    const later = new Scene()
    expect(later.registry.restore(kept, 8 * dayMs)).toEqual([])
    expect(later.registry.recordOf(client(1), 8 * dayMs)).toBeUndefined()
    expect(later.registry.accept(binding(1, 'a', { days: 30 }), 300, 8 * dayMs).outcome).toBe('replayed')
  })

  it('[I16] takes back no more than it may keep', () => {
    const before = new Scene()
    for (let at = 0; at < 10; at++) before.tell(binding(at, at, { owner: at < 5 ? alice : bob }))
    const { registry } = new Scene({ bindingsMax: 7, bindingsPerOwnerMax: 4 })
    registry.restore(before.registry.kept(), 0)
    expect(registry.recordsKept).toBe(7)
    expect(registry.serversOf(alice)).toHaveLength(4)
    expect(registry.serversOf(bob)).toHaveLength(3)
  })
})
