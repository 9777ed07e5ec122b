import { InvalidParametersError, MalformedError, peerKey, type PeerKey } from '@shardswap/interface'
import { type BindingRecord, clientKey, type ClientKey, ownerKey, type OwnerKey } from '@shardswap/server'
import type { PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { type Fields, fromText, readEnvelope, type ReadEnvelope, sealEnvelope, toText } from './envelope.ts'

/** A record as it goes from peer to peer: the owner's envelope, with those of the client key and of the server in it. */
export type SignedRecord = BindingRecord & { readonly bytes: Uint8Array }

export interface BindingMaking {
  readonly owner: PrivateKey
  readonly client: PrivateKey
  readonly server: PeerKey
  /** The server's word; not needed where the server is the owner or the client. */
  readonly claim: Uint8Array | undefined
  readonly expiresMs: number
  readonly sequence: number
}

/**
 * Makes a binding. Who is the owner too does not sign twice: the owner's envelope names all three, and the client key's
 * names the server.
 */
export async function signBinding({ owner, client, server, claim, expiresMs, sequence }: BindingMaking): Promise<SignedRecord> {
  const [ownerId, clientId] = [ownerKey(peerIdFromPrivateKey(owner)), clientKey(peerIdFromPrivateKey(client))]
  const said = { client: clientId, server, owner: ownerId, expiresMs, sequence }
  const consent = isOne(clientId, ownerId) ? undefined : toText(await sealEnvelope('consent', said, client))
  const fields = { ...said, ...(consent === undefined ? {} : { consent }), ...(claim === undefined ? {} : { claim: toText(claim) }) }
  return { kind: 'binding', ...said, bytes: await sealEnvelope('binding', fields, owner) }
}

/** Revokes whatever the owner bound of a client key, up to a sequence. */
export async function signRevocation(
  owner: PrivateKey,
  { client, expiresMs, sequence }: { readonly client: ClientKey; readonly expiresMs: number; readonly sequence: number }
): Promise<SignedRecord> {
  const said = { client, owner: ownerKey(peerIdFromPrivateKey(owner)), expiresMs, sequence }
  return { kind: 'revocation', ...said, bytes: await sealEnvelope('revocation', said, owner) }
}

/** Reads a record; its signatures are not looked at. Errors: MalformedError where it is none. */
export function readRecord(bytes: Uint8Array): SignedRecord {
  const { kind, fields } = readEnvelope(bytes)
  const said = {
    client: clientKey(textAt(fields, 'client')),
    owner: ownerKey(textAt(fields, 'owner')),
    expiresMs: numberAt(fields, 'expiresMs'),
    sequence: numberAt(fields, 'sequence')
  }
  if (kind === 'revocation') return { kind, ...said, bytes }
  if (kind === 'binding') return { kind, ...said, server: peerKey(textAt(fields, 'server')), bytes }
  throw new MalformedError(`this is a ${kind}, and no record`)
}

/** [I3] Whether everybody has signed a record whose word it needs, and said the same. */
export async function isSignedRecord(record: SignedRecord): Promise<boolean> {
  const outer = readEnvelope(record.bytes)
  if (outer.signer !== record.owner || !(await outer.isSigned())) return false
  if (record.kind === 'revocation') return true
  const { client, server, owner } = record
  if (!isOne(client, owner) && !(await isConsent(innerOf(outer.fields, 'consent'), record))) return false
  return isOne(server, owner) || isOne(server, client) || (await isClaim(innerOf(outer.fields, 'claim'), record))
}

/** Texts of PeerIds of Ed25519 keys begin so. */
const quickKeyPrefix = '12D3KooW'
/** To look at a signature of secp256k1 takes as long as at those of two records of three Ed25519 keys. */
const slowKeyCost = 2

/** How long it takes to look at a record's signatures: 1 where all keys are Ed25519 keys. */
export function checkCost(record: SignedRecord): number {
  const keys = new Set<string>([record.owner, record.client, ...(record.kind === 'binding' ? [record.server] : [])])
  const slow = [...keys].filter((key) => !key.startsWith(quickKeyPrefix))
  return Math.max(1, slowKeyCost * slow.length)
}

/** Checks a record's length after it was made. Errors: InvalidParametersError. */
export function mustFit({ bytes }: SignedRecord, bytesMax: number): void {
  if (bytes.byteLength <= bytesMax) return
  throw new InvalidParametersError(`the record would have ${bytes.byteLength} bytes, and ${bytesMax} are allowed`)
}

async function isConsent(consent: ReadEnvelope | undefined, record: SignedRecord & { readonly kind: 'binding' }): Promise<boolean> {
  if (consent?.kind !== 'consent' || consent.signer !== record.client) return false
  const said = ['client', 'server', 'owner', 'expiresMs', 'sequence'] as const
  return said.every((name) => consent.fields[name] === record[name]) && (await consent.isSigned())
}

/** A claim must hold for as long as what is made of it. */
async function isClaim(claim: ReadEnvelope | undefined, record: SignedRecord & { readonly kind: 'binding' }): Promise<boolean> {
  if (claim?.kind !== 'claim' || claim.signer !== record.server) return false
  const { owner, expiresMs } = claim.fields
  return owner === record.owner && typeof expiresMs === 'number' && expiresMs >= record.expiresMs && (await claim.isSigned())
}

function innerOf(fields: Fields, name: 'consent' | 'claim'): ReadEnvelope | undefined {
  const text = fields[name]
  if (typeof text !== 'string') return undefined
  try {
    return readEnvelope(fromText(text))
  } catch {
    return undefined
  }
}

function isOne(client: ClientKey | PeerKey, owner: OwnerKey | ClientKey): boolean {
  const [one, other]: readonly string[] = [client, owner]
  return one === other
}

export function textAt(fields: Fields, name: string): string {
  const value = fields[name]
  if (typeof value !== 'string') throw new MalformedError(`"${name}" is no text`)
  return value
}

export function numberAt(fields: Fields, name: string): number {
  const value = fields[name]
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new MalformedError(`"${name}" is no number`)
  return value
}
