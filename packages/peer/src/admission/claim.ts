import { InvalidParametersError, messageOf, peerKey, type PeerKey } from '@shardswap/interface'
import { clientKey, type Delegation, ownerKey, type OwnerKey } from '@shardswap/server'
import type { PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { fromText, readEnvelope, sealEnvelope, toText } from './envelope.ts'
import { numberAt, textAt } from './signed-record.ts'

/** What begins a claim's text, so that nobody takes one for a delegation. */
const claimPrefix = 'shardswap-claim.'
const delegationPrefix = 'shardswap-delegation.'

/** The longest text of either. */
const wordCharactersMax = 4096

/** [I3] A server's word that it belongs to an owner. */
export interface ServerClaim {
  readonly server: PeerKey
  readonly owner: OwnerKey
  /** When it ends, in milliseconds since 1970. */
  readonly expiresMs: number
  readonly bytes: Uint8Array
}

/** A delegation that was read, and its text. */
export interface SignedDelegation extends Delegation {
  readonly text: string
}

/** A claim as text. */
export async function signClaim(server: PrivateKey, owner: OwnerKey, expiresMs: number): Promise<string> {
  return claimPrefix + toText(await sealEnvelope('claim', { owner, expiresMs }, server))
}

/** Reads a claim that holds now. Errors: InvalidParametersError. */
export async function readClaim(text: string, wallMs: number): Promise<ServerClaim> {
  try {
    const bytes = wordIn(text, claimPrefix)
    const claim = readEnvelope(bytes)
    if (claim.kind !== 'claim') throw new Error(`it is a ${claim.kind}`)
    const [owner, expiresMs] = [ownerKey(textAt(claim.fields, 'owner')), numberAt(claim.fields, 'expiresMs')]
    if (expiresMs <= wallMs) throw new Error('it has expired')
    if (!(await claim.isSigned())) throw new Error('the server has not signed it')
    return { server: peerKey(claim.signer), owner, expiresMs, bytes }
  } catch (cause) {
    throw new InvalidParametersError(`this is no server's claim that holds: ${messageOf(cause)}`, { cause })
  }
}

/** A delegation as text. */
export async function signDelegation(client: PrivateKey, peer: PeerKey, expiresMs: number): Promise<string> {
  const said = { client: clientKey(peerIdFromPrivateKey(client)), peer, expiresMs }
  return delegationPrefix + toText(await sealEnvelope('delegation', said, client))
}

/** Reads a delegation; whether it holds for a peer is `mayUse`'s business. Errors: MalformedError, and Error for a forged one. */
export async function readDelegation(text: string): Promise<SignedDelegation> {
  const delegation = readEnvelope(wordIn(text, delegationPrefix))
  if (delegation.kind !== 'delegation') throw new Error(`it is a ${delegation.kind}`)
  const { fields, signer } = delegation
  const client = clientKey(textAt(fields, 'client'))
  if (signer !== (client as string) || !(await delegation.isSigned())) throw new Error('the client key has not signed it')
  return { client, peer: peerKey(textAt(fields, 'peer')), expiresMs: numberAt(fields, 'expiresMs'), text }
}

function wordIn(text: string, prefix: string): Uint8Array {
  const trimmed = text.trim()
  if (trimmed.length > wordCharactersMax) throw new Error(`it is longer than ${wordCharactersMax} characters`)
  if (!trimmed.startsWith(prefix)) throw new Error(`it does not begin with "${prefix}"`)
  return fromText(trimmed.slice(prefix.length))
}
