import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Libp2p, PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { MemoryDatastore } from 'datastore-core'
import { afterEach, expect, it } from 'vitest'
import type { AdmittedPeer, Peer } from '../../../src/index.ts'
import { createNode } from '../../../src/libp2p-node.ts'
import { until } from '../../support.ts'
import { address, blocks, type TestBlock } from '../../wire/cast.ts'
import { outcomes, ownerAt, testsOf, TestScene, untilTested } from './scene.ts'

let scene = new TestScene()

afterEach(async () => {
  await scene.stop()
  scene = new TestScene()
})

const all = blocks(6)
const own = blocks(6, 2000, 100)

async function fetchAll(peer: Peer, all: readonly TestBlock[]): Promise<void> {
  await Promise.all(all.map(async ({ cid }) => await peer.get(cid)))
}

it('[I1][I3][I5] who serves is served: a node that was verified is let in where strangers are not, and so are its tests', async () => {
  // Visits come faster here than a client may show its key by default.
  const shellLimits = { framesBurst: 10_000 }
  const strict = await scene.tester({}, { admission: { mode: 'registered', limits: { freeScoreRequests: 0 }, shellLimits } })
  const node = await scene.tester({}, { admission: { shellLimits: { knownTimeoutMs: 20_000 } } })
  await strict.connect(address(node))
  await until('they know each other', () => ownerAt(strict, node) !== undefined && ownerAt(node, strict) !== undefined)
  for (const { cid, data } of own) await strict.put(cid, data)
  for (const { cid, data } of all) await node.put(cid, data)
  expect(ownerAt(strict, node)).toMatchObject({ score: 0, servers: 0, decision: { action: 'refuse' } })
  await fetchAll(strict, all)
  await untilTested(strict, 5, 'verified')
  expect(ownerAt(strict, node)).toMatchObject({ servers: 1, decision: { action: 'admit', reason: 'score' } })
  await fetchAll(node, own)
  await untilTested(node, 20, 'verified')
  // What it gave to the strict one it was refused before it was verified itself.
  expect(outcomes(node)).toBe(outcomes(node, 'verified') + outcomes(node, 'unclaimed'))
})

it('[I5][I12] who never gave what it has is shut out, is tested on, and comes back with one verified answer', async () => {
  const tester = await scene.waiting({}, { admission: { limits: { blacklistTestsMin: 4 } } })
  const server = await scene.server(all, tester)
  await until('the server is known', () => ownerAt(tester, server) !== undefined)
  const gone = all.slice(0, 4)
  await fetchAll(tester, gone)
  for (const { cid } of gone) await server.blockstore.delete(cid)
  await tester.register()
  await untilTested(tester, 4, 'denied')
  expect(ownerAt(tester, server)).toMatchObject({ score: 0, tests: { received: 0 }, decision: { action: 'wait', reason: 'blacklisted' } })
  await fetchAll(tester, all.slice(4))
  await untilTested(tester, 1, 'verified')
  expect(ownerAt(tester, server)).toMatchObject({ servers: 1, decision: { action: 'admit', reason: 'score' } })
})

it('[I3][I5] where the owner’s key is elsewhere, tests are made under a key that the node shares with them', async () => {
  const owner = await generateKeyPair('Ed25519')
  const tester = await scene.tester()
  await tester.unregister()
  await tester.register({ ownerKey: owner })
  const server = await scene.server(all, tester)
  await fetchAll(tester, all)
  const seen = new Map<string, AdmittedPeer>()
  await until('a test was seen', () => {
    for (const each of server.admission().peers) seen.set(each.peer, each)
    return seen.get(testsOf(tester).identity ?? '')?.owner !== undefined
  })
  const id = tester.peerId.toString()
  const expected = { client: id, owner: peerIdFromPrivateKey(owner).toString() }
  expect(seen.get(id)).toMatchObject(expected)
  expect(seen.get(testsOf(tester).identity ?? '')).toMatchObject(expected)
  expect(outcomes(tester)).toBe(outcomes(tester, 'verified'))
})

it('[I3][I5] an identity that was revoked makes no tests any more: another does, once we are registered again', async () => {
  const tester = await scene.tester()
  await scene.server(all, tester)
  await fetchAll(tester, all)
  await untilTested(tester, 2)
  const first = testsOf(tester).identity
  const revoked = await tester.unregister()
  expect(revoked.map(({ client }) => client)).toContain(first)
  expect(testsOf(tester).state).toBe('unregistered')
  await until('visits are over', () => tester.gauges().tests === 0)
  await tester.register()
  await untilTested(tester, outcomes(tester) + 3)
  expect(testsOf(tester)).toMatchObject({ state: 'on', identities: 2 })
  expect(testsOf(tester).identity).not.toBe(first)
})

it('[I5] where the owner has its part of bindings the node shares its own key with the tests', async () => {
  const tester = await scene.tester({}, { admission: { registryLimits: { bindingsPerOwnerMax: 1 } } })
  await scene.server(all, tester)
  await fetchAll(tester, all)
  await untilTested(tester, 4, 'verified')
  expect(tester.admission()).toMatchObject({ registry: { outcomes: { full: 1 } }, tests: { identities: 1 } })
})

it('[I5] on a libp2p node of the caller’s, tests are made by nodes that he makes, and none are without', async () => {
  const privateKey = await generateKeyPair('Ed25519')
  const libp2p = await createNode({ privateKey })
  const made: Libp2p[] = []
  const testNode = async (key: PrivateKey): Promise<Libp2p> => {
    const node = await createNode({ privateKey: key, listen: [] })
    made.push(node)
    return node
  }
  const tester = await scene.tester({}, { libp2p, privateKey, admission: { testNode } })
  await libp2p.start()
  await scene.server(all, tester)
  await fetchAll(tester, all)
  await untilTested(tester, 3, 'verified')
  expect(testsOf(tester)).toMatchObject({ state: 'on', identity: made[0]?.peerId.toString() })
  await tester.stop()
  expect(made.map(({ status }) => status)).toEqual(made.map(() => 'stopped'))
  const without = await scene.tester({}, { libp2p, privateKey })
  expect(testsOf(without).state).toBe('off')
  await without.stop()
  await libp2p.stop()
})

it('[I7] what tests came to is known after a restart', async () => {
  const datastore = new MemoryDatastore()
  const privateKey = await generateKeyPair('Ed25519')
  const before = await scene.tester({}, { datastore, privateKey })
  const server = await scene.server(all, before)
  await fetchAll(before, all)
  await untilTested(before, 5, 'verified')
  await until('the server is known', () => ownerAt(before, server) !== undefined)
  const { tests } = ownerAt(before, server) ?? {}
  await before.stop()
  const after = await scene.cast.ours({ datastore, privateKey, admission: { tests: false } })
  await after.connect(address(server))
  await until('the server is known again', () => ownerAt(after, server) !== undefined)
  expect(ownerAt(after, server)).toMatchObject({ servers: 1, decision: { action: 'admit', reason: 'score' } })
  expect(ownerAt(after, server)?.tests.received).toBeGreaterThanOrEqual(tests?.received ?? Number.NaN)
})
