import { privateKeyToProtobuf } from '@libp2p/crypto/keys'
import type { OwnerView } from '@shardswap/peer'
import { defaultConfig, memoryRepo, type RepoConfig } from '@shardswap/repo'
import { expect, test } from 'vitest'
import {
  admissionOf,
  admissionShape,
  bindingOf,
  bindingShape,
  connectDaemon,
  describeError,
  admittedPeersShownMax,
  type NodeAdmission,
  ownersShownMax,
  ownRegistrationOf,
  ownRegistrationShape,
  replyBytesMax
} from '../src/index.ts'
import { nodeAdmission } from '../src/local/registration.ts'
import { newDaemon, urlOf } from './setup.ts'

function throughJson<T>(shape: T): T {
  return JSON.parse(JSON.stringify(shape)) as T
}

test('[I9][I14] the config of the repo says whom to serve, and how much; its defaults are those of admission', async () => {
  const { defaultAdmissionLimits } = await import('@shardswap/peer')
  const { serve } = defaultConfig
  expect(serve.cap).toBe(defaultAdmissionLimits.openRequestsMax)
  expect(serve.freeScore).toBe(defaultAdmissionLimits.freeScoreRequests)
  const repo = await memoryRepo()
  const config: RepoConfig = { ...repo.config, serve: { mode: 'registered', cap: 50, freeScore: 0, tests: false } }
  const { node, api } = await newDaemon({ ...repo, config })
  const remote = await connectDaemon(api)
  for (const { report, isRunning } of [await node.admission(), await remote.admission()]) {
    expect(isRunning).toBe(true)
    expect(report).toMatchObject({ mode: 'registered', openRequestsMax: 50, open: 0, tests: { state: 'off' } })
    expect(report.free).toMatchObject({ score: 0, decision: { action: 'refuse', reason: 'low-free-score' } })
  }
})

test('[I3] keys, claims and delegations do through the RPC what they do here', async () => {
  const [server, client] = [await newDaemon(), await newDaemon()]
  const [serving, asking] = [await connectDaemon(server.api), await connectDaemon(client.api)]
  const [serverId, clientId] = [(await serving.id()).id, (await asking.id()).id]
  const owner = await memoryRepo()
  const ownerKey = privateKeyToProtobuf(owner.privateKey)
  const ownerId = owner.peerId.toString()

  const own = await asking.register()
  expect(own).toMatchObject({ kind: 'binding', client: clientId, server: clientId, owner: clientId, isRenewed: true })
  const serverClaim = await serving.serverClaim(ownerId, { lifetimeMs: 3_600_000 })
  const bound = await asking.register({ ownerKey, serverClaim, lifetimeMs: 86_400_000 })
  expect(bound).toMatchObject({ client: clientId, server: serverId, owner: ownerId, isRenewed: false })
  // No longer than the claim.
  expect(bound.expiresMs).toBeLessThanOrEqual(Date.now() + 3_600_000)
  expect((await client.node.admission()).report.own.bindings).toEqual([bound])

  const delegation = await serving.delegate(clientId, { lifetimeMs: 60_000 })
  expect(await asking.useDelegation(delegation)).toMatchObject({ peer: clientId, client: serverId })
  expect((await asking.admission()).report.own.client).toBe(serverId)
  const back = await asking.useDelegation(undefined)
  expect(back).toMatchObject({ client: clientId })
  expect(back).not.toHaveProperty('delegationExpiresMs')
  // A client key that is neither node's.
  const shared = await memoryRepo()
  const clientKey = privateKeyToProtobuf(shared.privateKey)
  const forShared = await serving.delegate(clientId, { clientKey })
  expect((await asking.useDelegation(forShared)).client).toBe(shared.peerId.toString())

  expect(await asking.unregister({ client: shared.peerId.toString() })).toEqual([])
  expect(await asking.unregister({ ownerKey })).toMatchObject([{ kind: 'revocation', client: clientId, owner: ownerId }])
})

test('what cannot be registered is refused with the same code here and there, and what came is not repeated', async () => {
  const daemon = await newDaemon()
  const remote = await connectDaemon(daemon.api)
  const id = (await remote.id()).id
  const noKey = new TextEncoder().encode('secret words')
  for (const node of [daemon.node, remote]) {
    const failures = [
      node.register({ ownerKey: noKey }),
      node.register({ clientKey: noKey }),
      node.register({ serverClaim: 'frob' }),
      node.register({ lifetimeMs: 1e12 }),
      node.unregister({ ownerKey: noKey }),
      node.unregister({ client: 'frob' }),
      // Of nobody is not of all.
      node.unregister({ client: '' }),
      node.register({ serverClaim: '' }),
      node.useDelegation(''),
      node.serverClaim('frob'),
      node.delegate('frob'),
      node.delegate(id, { clientKey: noKey }),
      node.useDelegation('frob')
    ]
    for (const failing of failures) {
      const { code, message } = describeError(await failing.catch((error: unknown) => error))
      expect(code).toBe('ERR_INVALID_PARAMETERS')
      expect(message).not.toContain('secret')
    }
  }
  const huge = await remote.register({ ownerKey: new Uint8Array(20_000) }).catch((error: unknown) => error)
  expect(describeError(huge).code).toBe('ERR_TOO_LARGE')
  expect((await remote.admission()).report.registry.records).toBe(0)
})

test('files come in fields that are known, once each, or not at all', async () => {
  const daemon = await newDaemon()
  const post = async (fields: readonly string[]): Promise<{ status: number; text: string }> => {
    const form = new FormData()
    for (const field of fields) form.append(field, new Blob(['x']), 'x')
    const response = await fetch(`${urlOf(daemon)}/shardswap/unregister`, { method: 'POST', ...(fields.length > 0 ? { body: form } : {}) })
    return { status: response.status, text: await response.text() }
  }
  expect(await post([])).toEqual({ status: 200, text: '{"Revoked":[]}\n' })
  expect(await post(['password'])).toMatchObject({ status: 400, text: expect.stringContaining('owner-key') as string })
  expect(await post(['owner-key', 'owner-key'])).toMatchObject({ status: 400, text: expect.stringContaining('twice') as string })
})

test('every field of a report survives the way through JSON', () => {
  const decision = { action: 'wait', reason: 'low-score' } as const
  const owner: OwnerView = {
    owner: 'owner' as OwnerView['owner'],
    registered: 3,
    servers: 2,
    aShort: 0.25,
    aLong: 0.5,
    tests: { sent: 9, received: 8 },
    peers: 4,
    served: 5.5,
    weight: 1.5,
    score: 77.7,
    open: 6,
    turnedAway: 7,
    decision
  }
  const binding = { kind: 'binding', client: 'c', server: 's', owner: 'o', expiresMs: 1, sequence: 2, isRenewed: true } as const
  const revocation = { kind: 'revocation', client: 'c', owner: 'o', expiresMs: 1, sequence: 2, isRenewed: false } as const
  const plain = { peer: 'me', client: 'c', bindings: [binding, revocation] }
  const own = { ...plain, delegationExpiresMs: 11 }
  const admission: NodeAdmission = {
    isRunning: true,
    report: {
      mode: 'open',
      openRequestsMax: 100,
      open: 12,
      served: 13,
      servers: 14,
      free: { score: 15, open: 16, turnedAway: 17, decision: { action: 'admit', reason: 'free' } },
      owners: [owner],
      peers: [
        { peer: 'p', client: 'c', owner: 'o', decision },
        { peer: 'q', decision: { action: 'refuse', reason: 'off' } }
      ],
      decisions: { score: 18, full: 19 },
      registry: {
        records: 20,
        servers: 21,
        outcomes: { taken: 22, forged: 23 },
        refused: { frame: 24 },
        speakers: 25,
        frames: 26,
        reading: 26
      },
      own,
      tests: { state: 'on', servers: 27, visits: 28, outcomes: { verified: 29, denied: 30 }, identities: 31, identity: 'me too' }
    },
    ownersKnown: 25,
    peersKnown: 26
  }
  expect(admissionOf(throughJson(admissionShape(admission)))).toEqual(admission)
  // As a node gives it that has made no tests, and one that does not run.
  const { tests, ...report } = admission.report
  expect(tests).toBeDefined()
  const early = {
    ...admission,
    report: { ...report, tests: { state: 'off', servers: 0, visits: 0, outcomes: {}, identities: 0 } as const }
  }
  for (const one of [early, { ...admission, report }]) expect(admissionOf(throughJson(admissionShape(one)))).toEqual(one)
  for (const one of [binding, revocation]) expect(bindingOf(throughJson(bindingShape(one)))).toEqual(one)
  for (const one of [own, plain]) expect(ownRegistrationOf(throughJson(ownRegistrationShape(one)))).toEqual(one)
})

test('of a great many owners and peers those come first with something here, and the answer stays one that a client reads', () => {
  const id = '12D3KooWCizaGVPEo9SQQrpEV7DdhV2W8336W2M3dtvahAwm8jaU'
  const decision = { action: 'refuse', reason: 'low-free-score' } as const
  const tests = { sent: 10_000, received: 9_999 }
  const figures = { registered: 64, servers: 63, aShort: 1 / 3, aLong: 2 / 3, tests, served: 1e6 / 3, weight: 8 / 3, turnedAway: 1e9 }
  const owners = Array.from({ length: ownersShownMax + 5 }, (_, at): OwnerView => ({
    owner: id as OwnerView['owner'],
    ...figures,
    peers: at === ownersShownMax + 3 ? 1 : 0,
    open: at === ownersShownMax + 4 ? 1 : 0,
    score: at / 3,
    decision
  }))
  const peers = Array.from({ length: admittedPeersShownMax + 7 }, () => ({ peer: id, client: id, owner: id, decision }))
  const shown = nodeAdmission(
    {
      mode: 'open',
      openRequestsMax: 1024,
      open: 1,
      served: 1,
      servers: 1,
      free: { score: 1, open: 0, turnedAway: 0, decision },
      owners,
      peers,
      decisions: {},
      registry: { records: 0, servers: 0, outcomes: {}, refused: {}, speakers: 0, frames: 0, reading: 0 },
      own: { peer: id, client: id, bindings: [] }
    },
    true
  )
  expect(shown).toMatchObject({ ownersKnown: owners.length, peersKnown: peers.length })
  expect(shown.report.owners).toHaveLength(ownersShownMax)
  expect(shown.report.peers).toHaveLength(admittedPeersShownMax)
  expect(shown.report.owners.slice(0, 3).map(({ open, peers: here }) => [open, here])).toEqual([
    [1, 0],
    [0, 1],
    [0, 0]
  ])
  expect(shown.report.owners[2]?.score).toBeGreaterThan(shown.report.owners[3]?.score ?? Infinity)
  expect(JSON.stringify(admissionShape(shown)).length).toBeLessThan(replyBytesMax / 2)
})
