import { generateKeyPair } from '@libp2p/crypto/keys'
import type { PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { peerKey } from '@shardswap/interface'
import { MemoryDatastore } from 'datastore-core'
import { describe, expect, it } from 'vitest'
import { fromText } from '../../src/admission/envelope.ts'
import { isSignedRecord, readRecord, signBinding } from '../../src/admission/signed-record.ts'
import { type AdmissionSettings, openAdmission, type StoredAdmission } from '../../src/index.ts'

const dayMs = 24 * 3_600_000

async function node(
  key?: PrivateKey,
  settings: AdmissionSettings = {}
): Promise<{ readonly shell: StoredAdmission; readonly id: string; readonly key: PrivateKey }> {
  const privateKey = key ?? (await generateKeyPair('Ed25519'))
  const shell = await openAdmission({ datastore: new MemoryDatastore(), privateKey, settings })
  return { shell, id: peerIdFromPrivateKey(privateKey).toString(), key: privateKey }
}

describe('a record', () => {
  it('[I16] is read as it was made, and is signed by all three or not at all', async () => {
    const [owner, client, server] = [await generateKeyPair('Ed25519'), await generateKeyPair('Ed25519'), await node()]
    const text = await server.shell.serverClaim(peerIdFromPrivateKey(owner))
    const claim = fromText(text.slice(text.indexOf('.') + 1))
    const making = { owner, client, server: peerKey(server.id), claim, expiresMs: Date.now() + dayMs, sequence: 7 }
    const made = await signBinding(making)
    expect(made.bytes.byteLength).toBeLessThan(1500)
    const read = readRecord(made.bytes)
    expect(read).toEqual(made)
    expect(await isSignedRecord(read)).toBe(true)
    expect(await isSignedRecord({ ...read, sequence: 8 })).toBe(false)
    expect(await isSignedRecord(await signBinding({ ...making, claim: undefined }))).toBe(false)
    // The claim ends before the binding.
    expect(await isSignedRecord(await signBinding({ ...making, expiresMs: Date.now() + 31 * dayMs }))).toBe(false)
    const other = await node()
    expect(await isSignedRecord(await signBinding({ ...making, server: peerKey(other.id) }))).toBe(false)
  })

  it('[I16] is no record once a byte of it is another', async () => {
    const owner = await generateKeyPair('Ed25519')
    const making = { owner, client: owner, server: peerKey(peerIdFromPrivateKey(owner)), claim: undefined }
    const { bytes } = await signBinding({ ...making, expiresMs: Date.now() + dayMs, sequence: 7 })
    for (let at = 0; at < bytes.byteLength; at++) {
      const changed = Uint8Array.from(bytes)
      changed[at] = (changed[at] as number) ^ 1
      expect(await isGood(changed), `with byte ${at} changed`).toBe(false)
    }
  })
})

describe('what a node says of itself in the registry', () => {
  it('[I3] registers a node that is its own owner with one call, and revokes it with another', async () => {
    const { shell, id } = await node()
    const binding = await shell.register()
    expect(binding).toMatchObject({ kind: 'binding', client: id, server: id, owner: id, isRenewed: true })
    expect(binding.expiresMs - Date.now()).toBeCloseTo(7 * dayMs, -5)
    expect(shell.admission()).toMatchObject({ registry: { records: 1, servers: 1 }, own: { client: id, bindings: [binding] } })
    const revoked = await shell.unregister()
    expect(revoked).toMatchObject([{ kind: 'revocation', client: id, owner: id }])
    expect(revoked[0]?.sequence).toBeGreaterThan(binding.sequence)
    expect(shell.admission()).toMatchObject({ registry: { servers: 0 }, own: { bindings: [] } })
    expect(await shell.unregister()).toEqual([])
    expect((await shell.register()).sequence).toBeGreaterThan(revoked[0]?.sequence ?? Number.POSITIVE_INFINITY)
  })

  it('[I3] does what is asked for at once in turn: none of it is taken for a replay of another', async () => {
    const { shell } = await node()
    const calls = Array.from({ length: 10 }, async (_, at) => (at % 3 === 2 ? await shell.unregister() : await shell.register()))
    await Promise.all(calls)
    expect(shell.admission().own.bindings).toMatchObject([{ isRenewed: true }])
  })

  it("[I3] binds a client node to a server of the same owner on another machine, by the server's claim", async () => {
    const [server, client] = [await node(), await node()]
    const owner = await generateKeyPair('Ed25519')
    const ownerId = peerIdFromPrivateKey(owner).toString()
    const serverClaim = await server.shell.serverClaim(ownerId)
    const binding = await client.shell.register({ ownerKey: owner, serverClaim })
    expect(binding).toMatchObject({ client: client.id, server: server.id, owner: ownerId, isRenewed: false })
    expect(await client.shell.unregister({ ownerKey: owner, client: client.id })).toHaveLength(1)
  })

  it('[I3] refuses a claim for another owner, an expired or changed one, and terms that cannot be', async () => {
    const [server, client] = [await node(), await node()]
    const [owner, other] = [await generateKeyPair('Ed25519'), await generateKeyPair('Ed25519')]
    const serverClaim = await server.shell.serverClaim(peerIdFromPrivateKey(owner))
    const invalid = { code: 'ERR_INVALID_PARAMETERS' }
    await expect(client.shell.register({ ownerKey: other, serverClaim })).rejects.toMatchObject(invalid)
    const changed = `${serverClaim.slice(0, -9)}AAAAAAAAA`
    await expect(client.shell.register({ ownerKey: owner, serverClaim: changed })).rejects.toMatchObject(invalid)
    await expect(client.shell.register({ ownerKey: owner, serverClaim: 'nothing' })).rejects.toMatchObject(invalid)
    await expect(client.shell.register({ lifetimeMs: 0 })).rejects.toMatchObject(invalid)
    await expect(client.shell.register({ lifetimeMs: 31 * dayMs })).rejects.toMatchObject(invalid)
    expect(client.shell.admission().registry).toMatchObject({ records: 0, servers: 0 })
  })

  it('[I3] says who has to do what where a server has another owner already, and how long a term may be', async () => {
    const { shell, id } = await node()
    await shell.register()
    const [owner, client] = [await generateKeyPair('Ed25519'), await generateKeyPair('Ed25519')]
    const serverClaim = await shell.serverClaim(peerIdFromPrivateKey(owner))
    const registered = shell.register({ ownerKey: owner, clientKey: client, serverClaim })
    await expect(registered).rejects.toThrow(/other-owner, for the server has another owner already, who has to unregister it first/)
    await expect(shell.register({ lifetimeMs: 31 * dayMs })).rejects.toThrow(/at most 2592000000 ms \(30 days\), not 2678400000/)
    expect(shell.admission().own.bindings).toMatchObject([{ server: id, owner: id }])
  })

  it('[I3] says that RSA keys are not taken', async () => {
    const { shell } = await node()
    const [ownerKey, clientKey] = [await generateKeyPair('RSA', 2048), await generateKeyPair('RSA', 2048)]
    for (const keys of [{ ownerKey }, { clientKey }]) {
      await expect(shell.register(keys)).rejects.toThrow(/Ed25519 or secp256k1 keys, not RSA/u)
    }
    await expect(shell.delegate(shell.admission().own.peer, { clientKey })).rejects.toMatchObject({ code: 'ERR_INVALID_PARAMETERS' })
    await expect(shell.serverClaim(peerIdFromPrivateKey(ownerKey))).rejects.toThrow(/not made with RSA keys/u)
    const [secpOwner, secpClient] = [await generateKeyPair('secp256k1'), await generateKeyPair('secp256k1')]
    expect(await shell.register({ ownerKey: secpOwner, clientKey: secpClient })).toMatchObject({ kind: 'binding' })
  })

  it('[I3] makes requests under a shared client key by its delegation, and only by one that is for us', async () => {
    const [holder, user, stranger] = [await node(), await node(), await node()]
    const delegation = await holder.shell.delegate(user.id)
    expect(await user.shell.useDelegation(delegation)).toMatchObject({ peer: user.id, client: holder.id })
    await expect(stranger.shell.useDelegation(delegation)).rejects.toMatchObject({ code: 'ERR_INVALID_PARAMETERS' })
    expect(stranger.shell.admission().own).toMatchObject({ client: stranger.id })
    expect(await user.shell.useDelegation(undefined)).toMatchObject({ peer: user.id, client: user.id })
  })
})

async function isGood(bytes: Uint8Array): Promise<boolean> {
  try {
    return await isSignedRecord(readRecord(bytes))
  } catch {
    return false
  }
}
