import { generateKeyPair } from '@libp2p/crypto/keys'
import type { PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { RecordEnvelope } from '@libp2p/peer-record'
import { peerKey } from '@shardswap/interface'
import { clientKey } from '@shardswap/server'
import { afterEach, describe, expect, it } from 'vitest'
import { signDelegation } from '../../src/admission/claim.ts'
import { sealEnvelope } from '../../src/admission/envelope.ts'
import { signRevocation, type SignedRecord } from '../../src/admission/signed-record.ts'
import { rawBlock, until } from '../support.ts'
import { bindingOf, Cast, connect, dayMs, seenBy } from './cast.ts'

const cast = new Cast()
afterEach(async () => await cast.stop())

interface Said {
  readonly client?: string
  readonly server?: string
  readonly owner?: string
  readonly expiresMs?: number
  readonly sequence?: unknown
  readonly more?: string
}

/** An envelope that says what it likes, under the key of who sends it. */
async function made(key: PrivateKey, said: Said = {}): Promise<Uint8Array> {
  const self = peerIdFromPrivateKey(key).toString()
  return await sealEnvelope(
    'binding',
    { client: self, server: self, owner: self, expiresMs: Date.now() + dayMs, sequence: Date.now(), ...said },
    key
  )
}

async function bytesOf(record: Promise<SignedRecord>): Promise<Uint8Array> {
  return (await record).bytes
}

async function keys(count: number): Promise<PrivateKey[]> {
  return await Promise.all(Array.from({ length: count }, async () => await generateKeyPair('Ed25519')))
}

describe('[I16] records of a hostile peer', () => {
  it('that are forged, expired, replayed, oversized, too long or of another owner are refused, counted and harmless', async () => {
    const [server, victim, attacker] = [await cast.ours(), await cast.ours(), await cast.raw()]
    const { sequence } = await victim.peer.register()
    await connect(victim.peer, server.peer)
    await until('the victim is known', () => seenBy(server.peer, victim)?.owner === victim.id)
    const theirs = { client: victim.id, server: victim.id, owner: victim.id, sequence: sequence + 1000 }
    const mine = attacker.key
    const ownRevocation = signRevocation(mine, { client: clientKey(victim.id), expiresMs: Date.now() + dayMs, sequence: sequence + 9 })
    const bad: readonly (readonly [string, Uint8Array])[] = [
      ['forged', await made(mine, theirs)],
      ['forged', await made(mine, { client: victim.id, sequence: sequence + 1000 })],
      ['forged', await made(mine, { server: peerIdFromPrivateKey(await generateKeyPair('Ed25519')).toString() })],
      ['expired', await made(mine, { expiresMs: Date.now() - 1 })],
      ['too-long', await made(mine, { expiresMs: Date.now() + 31 * dayMs })],
      ['oversized', await made(mine, { more: 'x'.repeat(2048) })],
      ['oversized', await made(mine, { client: 'x'.repeat(200) })],
      ['malformed', await made(mine, { sequence: 1.5 })],
      ['other-owner', await made(mine, { server: victim.id })],
      ['other-owner', await bytesOf(ownRevocation)],
      ['replayed', await bytesOf(bindingOf(victim.key, { sequence: sequence - 1 }))]
    ]
    const connection = await attacker.dial(server.peer)
    for (const [outcome, bytes] of bad) {
      const before = server.peer.admission().registry.outcomes
      await attacker.tell(connection, { records: [bytes] })
      const { outcomes } = server.peer.admission().registry
      const name = outcome as keyof typeof outcomes
      expect({ outcome, times: outcomes[name] }).toEqual({ outcome, times: (before[name] ?? 0) + 1 })
    }
    expect(server.peer.admission().registry).toMatchObject({ records: 1, servers: 1 })
    expect(seenBy(server.peer, victim)?.owner).toBe(victim.id)
  })

  it('are unreadable where they are no envelopes of ours, and those beside them are taken', async () => {
    const [server, attacker] = [await cast.ours(), await cast.raw()]
    const good = await bytesOf(bindingOf(attacker.key))
    const statement = await sealEnvelope('claim', { owner: attacker.id, expiresMs: Date.now() + dayMs }, attacker.key)
    const wrong = await sealEnvelope('binding', { client: 1, owner: [] }, attacker.key)
    const records = [Uint8Array.of(1, 2, 3), good.subarray(0, 50), statement, wrong, good]
    const connection = await attacker.dial(server.peer)
    expect(await attacker.tell(connection, { records, client: attacker.id })).toEqual({ owner: attacker.id })
    expect(server.peer.admission().registry).toMatchObject({ records: 1, outcomes: { taken: 1 }, refused: { unreadable: 4 } })
  })

  it('that are signed with RSA are unreadable, whatever else they say', async () => {
    const [server, attacker] = [await cast.ours(), await cast.raw()]
    const rsa = await generateKeyPair('RSA', 2048)
    const self = peerIdFromPrivateKey(rsa).toString()
    const said = { client: self, server: self, owner: self, expiresMs: Date.now() + dayMs, sequence: 1 }
    const payload = new TextEncoder().encode(JSON.stringify(said))
    const codec = new TextEncoder().encode('/shardswap/registry/binding/1')
    const record = { domain: 'shardswap-registry', codec, marshal: () => payload, equals: () => false }
    const sealed = (await RecordEnvelope.seal(record, rsa)).marshal()
    await attacker.tell(await attacker.dial(server.peer), { records: [sealed] })
    expect(server.peer.admission().registry).toMatchObject({ records: 0, refused: { unreadable: 1 } })
  })

  it('by the thousand are looked at no more than it is allowed, and an honest client is known all the same', async () => {
    const shellLimits = { checksBurst: 40, checkRefillMs: 60_000, framesBurst: 1000 }
    const [server, attacker, honest] = [await cast.ours({ admission: { shellLimits } }), await cast.raw(), await cast.ours()]
    await honest.peer.register()
    const connection = await attacker.dial(server.peer)
    const records = await Promise.all((await keys(320)).map(async (key) => await bytesOf(bindingOf(key))))
    for (let at = 0; at < records.length; at += 32) await attacker.tell(connection, { records: records.slice(at, at + 32) })
    expect(server.peer.admission().registry).toMatchObject({ records: 40, outcomes: { taken: 40 }, refused: { 'too-many': 280 } })
    await connect(honest.peer, server.peer)
    await until('the honest client is known', () => seenBy(server.peer, honest)?.owner === honest.id)
  })

  it('push out those that nobody has proved where all is full, and never more than there is room for', async () => {
    const registryLimits = { bindingsMax: 50, bindingsPerOwnerMax: 50 }
    const server = await cast.ours({ admission: { registryLimits } })
    const attacker = await cast.raw()
    const connection = await attacker.dial(server.peer)
    const records = await Promise.all((await keys(120)).map(async (key) => await bytesOf(bindingOf(key))))
    for (let at = 0; at < records.length; at += 32) await attacker.tell(connection, { records: records.slice(at, at + 32) })
    expect(server.peer.admission().registry).toMatchObject({ records: 50, servers: 50, outcomes: { taken: 120 } })
  })

  it('never push out what is ours: without the owner’s key it could not be made again', async () => {
    const registryLimits = { bindingsMax: 50, bindingsPerOwnerMax: 50 }
    const [node, attacker] = [await cast.ours({ admission: { registryLimits } }), await cast.raw()]
    const [owner, shared] = [await generateKeyPair('Ed25519'), await generateKeyPair('Ed25519')]
    await node.peer.register({ ownerKey: owner })
    await node.peer.register({ ownerKey: owner, clientKey: shared })
    await node.peer.useDelegation(await node.peer.delegate(node.id, { clientKey: shared }))
    const { bindings } = node.peer.admission().own
    expect(bindings).toHaveLength(2)
    const connection = await attacker.dial(node.peer)
    const records = await Promise.all((await keys(120)).map(async (key) => await bytesOf(bindingOf(key))))
    for (let at = 0; at < records.length; at += 32) await attacker.tell(connection, { records: records.slice(at, at + 32) })
    expect(node.peer.admission()).toMatchObject({ registry: { records: 50 }, own: { bindings: expect.arrayContaining([...bindings]) } })
  })
})

describe('[I3] who uses a client key', () => {
  it('must be that key’s own peer, or have its delegation: another’s, an expired or a forged one is refused', async () => {
    const [server, victim, attacker] = [await cast.ours(), await cast.ours(), await cast.raw()]
    await victim.peer.register()
    await connect(victim.peer, server.peer)
    await until('the victim is known', () => seenBy(server.peer, victim)?.owner === victim.id)
    const self = peerKey(attacker.id)
    const stolen = await victim.peer.delegate(server.id)
    const expired = await signDelegation(victim.key, self, Date.now() - 1)
    const forged = (await signDelegation(attacker.key, self, Date.now() + dayMs)).replace(/.{9}$/u, 'AAAAAAAAA')
    const ofAnother = await signDelegation(attacker.key, self, Date.now() + dayMs)
    const connection = await attacker.dial(server.peer)
    for (const delegation of [undefined, stolen, expired, forged, ofAnother, 'nothing at all', 'x'.repeat(5000)]) {
      const answer = await attacker.tell(connection, { client: victim.id, ...(delegation === undefined ? {} : { delegation }) })
      expect(answer).toEqual({ owner: null })
    }
    expect(server.peer.admission().registry.refused).toEqual({ delegation: 7 })
    expect(seenBy(server.peer, attacker)?.owner).toBeUndefined()
    expect(seenBy(server.peer, victim)?.owner).toBe(victim.id)
    const good = await victim.peer.delegate(attacker.id)
    expect(await attacker.tell(connection, { client: victim.id, delegation: good })).toEqual({ owner: victim.id })
    // What it shows last holds, and a key that it may not use costs it what it had.
    expect(await attacker.tell(connection, { client: server.id })).toEqual({ owner: null })
  })
})

describe('frames of a hostile peer', () => {
  it('that are none are refused and counted, and the next good one is taken', async () => {
    const [server, attacker] = [await cast.ours(), await cast.raw()]
    const connection = await attacker.dial(server.peer)
    const many = JSON.stringify({ records: Array.from({ length: 33 }, () => 'AAAA') })
    const bad = [
      '',
      'nothing',
      '[]',
      'null',
      '{"records":{}}',
      '{"records":[1]}',
      '{"records":["!"]}',
      '{"client":1}',
      '{"busyMs":-1}',
      many
    ]
    const frames = [...bad.map((text) => new TextEncoder().encode(text)), Uint8Array.of(0xff, 0xfe), new Uint8Array(97 * 1024)]
    expect(await manyTimes(1, async () => await attacker.tell(connection, {}))).toBe(1)
    for (const frame of frames) expect(await manyTimes(1, async () => await attacker.tellBytes(connection, frame))).toBe(0)
    expect(server.peer.admission().registry.refused).toEqual({ frame: frames.length })
    expect(await attacker.tell(connection, {})).toEqual({ owner: null })
    expect(await attacker.tell(connection, { records: [] })).toEqual({ owner: null })
  })

  it('that never end are given up, however many streams they are on', async () => {
    const server = await cast.ours({ admission: { shellLimits: { exchangeTimeoutMs: 300 } } })
    const attacker = await cast.raw()
    const connection = await attacker.dial(server.peer)
    await attacker.hang(connection, 12)
    // What it is told itself, since by its streams it seems to speak the protocol, is another matter.
    expect(server.peer.admission().registry.reading).toBeLessThanOrEqual(4)
    await until('all are given up', () => server.peer.admission().registry.frames === 0)
    expect(server.peer.admission().registry.refused.frame).toBeGreaterThan(0)
    expect(await attacker.tell(connection, {})).toEqual({ owner: null })
  })

  it('that come too often are refused, while blocks are still served to it and to others', async () => {
    const [block, other] = [rawBlock('served'), rawBlock('also served')]
    const server = await cast.ours({ admission: { shellLimits: { framesBurst: 5, frameRefillMs: 60_000 } } })
    for (const { cid, bytes } of [block, other]) await server.peer.put(cid, bytes)
    const [attacker, honest] = [await cast.raw(), await cast.ours()]
    const connection = await attacker.dial(server.peer)
    const told = await manyTimes(60, async () => await attacker.tell(connection, {}))
    expect(told).toBe(5)
    expect(server.peer.admission().registry.refused['too-often']).toBe(55)
    await honest.peer.register()
    await connect(honest.peer, server.peer)
    await until('the honest client is known', () => seenBy(server.peer, honest)?.owner === honest.id)
    expect(await honest.peer.get(block.cid, { timeoutMs: 10_000 })).toEqual(block.bytes)
    expect(await honest.peer.get(other.cid, { timeoutMs: 10_000 })).toEqual(other.bytes)
  })
})

/** How often it went well. */
async function manyTimes(times: number, act: () => Promise<unknown>): Promise<number> {
  let good = 0
  for (let time = 0; time < times; time++) {
    try {
      await act()
      good++
    } catch {
      // Refused.
    }
  }
  return good
}
