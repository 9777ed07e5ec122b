import { generateKeyPair } from '@libp2p/crypto/keys'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { MemoryDatastore } from 'datastore-core'
import { afterEach, describe, expect, it } from 'vitest'
import { until } from '../support.ts'
import { Cast, connect, seenBy } from './cast.ts'

const cast = new Cast()
afterEach(async () => await cast.stop())

describe('over TCP', () => {
  it('[I3] a peer that registered before is known with its owner once it is connected, and a stranger is not', async () => {
    const [server, client, stranger] = [await cast.ours(), await cast.ours(), await cast.ours()]
    await client.peer.register()
    await connect(client.peer, server.peer)
    await connect(stranger.peer, server.peer)
    await until('the client is known', () => seenBy(server.peer, client)?.owner !== undefined)
    expect(seenBy(server.peer, client)).toEqual({
      peer: client.id,
      client: client.id,
      owner: client.id,
      decision: { action: 'admit', reason: 'score' }
    })
    expect(server.peer.admission()).toMatchObject({ registry: { records: 1, servers: 1, outcomes: { taken: 1 } }, owners: [{ peers: 1 }] })
    await until('the stranger is known as one', () => seenBy(server.peer, stranger)?.client === stranger.id)
    expect(seenBy(server.peer, stranger)?.owner).toBeUndefined()
    expect(seenBy(server.peer, stranger)?.decision).toEqual({ action: 'admit', reason: 'free' })
  })

  it('[I3] registering, revoking and changing the key work while the connection stands', async () => {
    const [server, client, holder] = [await cast.ours(), await cast.ours(), await cast.ours()]
    await connect(client.peer, server.peer)
    await client.peer.register()
    await until('the client is known', () => seenBy(server.peer, client)?.owner === client.id)
    await client.peer.unregister()
    await until('it is a stranger again', () => seenBy(server.peer, client)?.owner === undefined)
    expect(seenBy(server.peer, client)?.decision.reason).toBe('free')
    // Another owner's key, which is bound to a server on a third machine.
    const owner = await generateKeyPair('Ed25519')
    const ownerId = peerIdFromPrivateKey(owner).toString()
    const serverClaim = await holder.peer.serverClaim(ownerId)
    await client.peer.register({ ownerKey: owner, serverClaim })
    await until('it counts for the other owner', () => seenBy(server.peer, client)?.owner === ownerId)
    expect(server.peer.admission().owners.find((each) => each.owner === ownerId)).toMatchObject({ registered: 1, peers: 1 })
  })

  it('[I3] a shared client key counts for its owner by a delegation, and no longer once that is laid down', async () => {
    const [server, user] = [await cast.ours(), await cast.ours()]
    const shared = await generateKeyPair('Ed25519')
    const sharedId = peerIdFromPrivateKey(shared).toString()
    await user.peer.register({ clientKey: shared })
    await connect(user.peer, server.peer)
    await until('it is a stranger', () => seenBy(server.peer, user)?.client === user.id)
    await user.peer.useDelegation(await user.peer.delegate(user.id, { clientKey: shared }))
    await until('it counts for the owner', () => seenBy(server.peer, user)?.owner === user.id)
    expect(seenBy(server.peer, user)?.client).toBe(sharedId)
    await user.peer.useDelegation(undefined)
    await until('it is a stranger again', () => seenBy(server.peer, user)?.client === user.id)
    expect(seenBy(server.peer, user)?.owner).toBeUndefined()
  })

  it('[I3] a delegation that ends while the connection stands is over', async () => {
    const [server, user] = [await cast.ours(), await cast.ours()]
    const shared = await generateKeyPair('Ed25519')
    await user.peer.register({ clientKey: shared })
    await user.peer.useDelegation(await user.peer.delegate(user.id, { clientKey: shared, lifetimeMs: 2000 }))
    await connect(user.peer, server.peer)
    await until('it counts for the owner', () => seenBy(server.peer, user)?.owner === user.id)
    await until('it is over', () => seenBy(server.peer, user)?.owner === undefined)
    expect(seenBy(server.peer, user)?.decision.reason).toBe('free')
  })

  it('[I16] records reach nodes that their owners never meet, and so do revocations', async () => {
    const line = [await cast.ours(), await cast.ours(), await cast.ours(), await cast.ours()] as const
    const [first, second, third, last] = line
    await connect(first.peer, second.peer)
    await connect(second.peer, third.peer)
    await connect(third.peer, last.peer)
    await first.peer.register()
    await until('the last has the record', () => last.peer.admission().registry.servers === 1)
    await first.peer.unregister()
    await until('the last has the revocation', () => last.peer.admission().registry.servers === 0)
    for (const { peer } of line) expect(peer.admission().registry.refused).toEqual({})
  })

  it('[I16] a binding that is its own is renewed before it ends', async () => {
    const [server, client] = [await cast.ours(), await cast.ours()]
    await connect(client.peer, server.peer)
    const made = await client.peer.register({ lifetimeMs: 3000 })
    await until('the client is known', () => seenBy(server.peer, client)?.owner === client.id)
    await until('it is renewed', () => (client.peer.admission().own.bindings[0]?.sequence ?? 0) > made.sequence)
    await until('the first is over', () => Date.now() > made.expiresMs)
    expect(seenBy(server.peer, client)?.owner).toBe(client.id)
  })

  it('[I3] a restart forgets no binding, of ours or of others, and goes on renewing', async () => {
    const datastore = new MemoryDatastore()
    const client = await cast.ours()
    await client.peer.register()
    const before = await cast.ours({ datastore })
    await connect(client.peer, before.peer)
    await until('the client is known', () => seenBy(before.peer, client)?.owner === client.id)
    await before.peer.register()
    await before.peer.stop()
    const after = await cast.ours({ datastore, privateKey: before.key })
    const { registry, own } = after.peer.admission()
    expect(registry).toMatchObject({ records: 2, servers: 2, outcomes: {} })
    expect(own.bindings).toMatchObject([{ client: after.id, server: after.id, owner: after.id, isRenewed: true }])
  })

  it('a peer is told anew with each connection who we are: it may be another process than before', async () => {
    const [client, server] = [await cast.ours({ admission: { shellLimits: { tellMs: 60_000, sweepMs: 60_000 } } }), await cast.raw()]
    await client.peer.register()
    const shown = await server.hear()
    await server.dial(client.peer)
    await until('it is told', () => shown.length === 1)
    await server.dial(client.peer)
    await until('it is told again', () => shown.length === 2)
    expect(shown).toEqual([client.id, client.id])
  })

  it('everything ends with the peer: gauges are at zero', async () => {
    const [server, client] = [await cast.ours(), await cast.ours()]
    await client.peer.register()
    await connect(client.peer, server.peer)
    await until('the client is known', () => seenBy(server.peer, client)?.owner === client.id)
    expect(server.peer.admission().registry).toMatchObject({ speakers: 1 })
    await client.peer.stop()
    await until('the client has left', () => server.peer.admission().registry.speakers === 0)
    expect(server.peer.admission().owners).toMatchObject([{ peers: 0, open: 0 }])
    await server.peer.stop()
    expect(server.peer.admission().registry).toMatchObject({ speakers: 0, frames: 0 })
  })
})
