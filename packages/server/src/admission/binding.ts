import type { PeerKey } from '@shardswap/interface'
import type { RegistryLimits } from './limits.ts'

declare const ownerKeyBrand: unique symbol
declare const clientKeyBrand: unique symbol

/** Who runs servers: the text form of the PeerId of the owner's key. */
export type OwnerKey = string & { readonly [ownerKeyBrand]: true }

/** The identity under which requests are made: the text form of a PeerId, by default the client's own. */
export type ClientKey = string & { readonly [clientKeyBrand]: true }

/** The key of an owner, given anything whose text form is its PeerId. */
export function ownerKey(owner: { toString(): string }): OwnerKey {
  return owner.toString() as OwnerKey
}

/** The client key of a peer that makes its requests under its own identity, or of any other PeerId. */
export function clientKey(client: { toString(): string }): ClientKey {
  return client.toString() as ClientKey
}

/** What bindings and revocations have in common. */
interface Statement {
  readonly client: ClientKey
  readonly owner: OwnerKey
  /** When it ends, in milliseconds since 1970. */
  readonly expiresMs: number
  /** Counts the statements about one client key: the highest holds. */
  readonly sequence: number
}

/** [I3] The client key belongs to a server of the owner's. */
export interface Binding extends Statement {
  readonly kind: 'binding'
  readonly server: PeerKey
}

/** [I3] No binding of the client key to the owner, up to this sequence, holds any more. */
export interface Revocation extends Statement {
  readonly kind: 'revocation'
}

/** [I16] What a registry keeps. Its signatures are the shell's. */
export type BindingRecord = Binding | Revocation

/** [I3] A client key lets a peer make requests under it. */
export interface Delegation {
  readonly client: ClientKey
  /** The only identity that may use it: that of the connection on which it is shown. */
  readonly peer: PeerKey
  /** When it ends, in milliseconds since 1970. */
  readonly expiresMs: number
}

/** Why a record is not taken. None of them harms anybody: it is counted, and all stays as it was. */
export type RecordFault =
  /** Longer than `bindingBytesMax`, or a key longer than `keyCharactersMax`. */
  | 'oversized'
  /** A number that cannot be, or an empty key. */
  | 'malformed'
  /** It had ended when it came. */
  | 'expired'
  /** It would hold for longer than `bindingLifetimeMaxMs`. */
  | 'too-long'
  /** Not above the sequence that is known of the client key. */
  | 'replayed'
  /** It revokes what is not known, or was bound by somebody else; or another owner has the server. */
  | 'other-owner'
  /** There is no room, or the owner has its part. */
  | 'full'
  /** A signature is wrong. */
  | 'forged'

/**
 * [I3] What is wrong with a record by itself, at a time of the wall; undefined: nothing but perhaps its signatures.
 * `bytes`: its length as it came, signatures included.
 */
export function recordFault(record: BindingRecord, bytes: number, wallMs: number, limits: RegistryLimits): RecordFault | undefined {
  if (bytes > limits.bindingBytesMax) return 'oversized'
  const keys: readonly string[] = record.kind === 'binding' ? [record.client, record.owner, record.server] : [record.client, record.owner]
  if (keys.some((key) => key.length > limits.keyCharactersMax)) return 'oversized'
  if (keys.some((key) => key.length === 0)) return 'malformed'
  if (!Number.isSafeInteger(record.sequence) || record.sequence < 0 || !Number.isSafeInteger(record.expiresMs)) return 'malformed'
  if (record.expiresMs <= wallMs) return 'expired'
  return record.expiresMs - wallMs > limits.bindingLifetimeMaxMs ? 'too-long' : undefined
}

/** [I3] Whether a peer may use a client key on a connection with it, at a time of the wall; signatures apart. */
export function mayUse(client: ClientKey, remote: PeerKey, delegation: Delegation | undefined, wallMs: number): boolean {
  const own: string = remote
  if (client === own) return true
  return delegation !== undefined && delegation.client === client && delegation.peer === remote && delegation.expiresMs > wallMs
}
