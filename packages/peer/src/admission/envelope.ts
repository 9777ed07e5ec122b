import { InvalidParametersError, MalformedError, messageOf } from '@shardswap/interface'
import type { PrivateKey, Record as SealedRecord } from '@libp2p/interface'
import { peerIdFromPublicKey } from '@libp2p/peer-id'
import { RecordEnvelope } from '@libp2p/peer-record'

/** What signatures are made for: nothing that was signed for another purpose passes for ours. */
const domain = 'shardswap-registry'

/**
 * What an envelope says, and so who signs it: of a binding or a revocation the owner; a client key's consent to its
 * binding, and its delegation, the client key; a claim the server.
 */
export type EnvelopeKind = 'binding' | 'revocation' | 'consent' | 'claim' | 'delegation'

const kinds: readonly EnvelopeKind[] = ['binding', 'revocation', 'consent', 'claim', 'delegation']

/** Fields out of somebody else's JSON. */
export type Fields = Readonly<Record<string, unknown>>

/** An envelope that was read, its signature not yet looked at. */
export interface ReadEnvelope {
  readonly kind: EnvelopeKind
  /** The text of the PeerId of the key in it. */
  readonly signer: string
  readonly fields: Fields
  /** Looks at the signature. */
  isSigned(): Promise<boolean>
}

/** Keys of RSA are long, and whoever makes one decides how long others take to look at its signatures. */
const keyTypes: ReadonlySet<string> = new Set(['Ed25519', 'secp256k1'])

/**
 * Signs fields: a libp2p envelope with the public key, the JSON and the signature.
 * Errors: InvalidParametersError for a key that nobody takes.
 */
export async function sealEnvelope(kind: EnvelopeKind, fields: Fields, key: PrivateKey): Promise<Uint8Array> {
  if (!keyTypes.has(key.type)) throw new InvalidParametersError(`bindings are made with Ed25519 or secp256k1 keys, not ${key.type}`)
  const record: SealedRecord = {
    domain,
    codec: typeOf(kind),
    marshal: () => new TextEncoder().encode(JSON.stringify(fields)),
    equals: (other) => other === record
  }
  return (await RecordEnvelope.seal(record, key)).marshal()
}

/** Reads an envelope, whoever handed it on. Errors: MalformedError where it is none of ours. */
export function readEnvelope(bytes: Uint8Array): ReadEnvelope {
  try {
    const envelope = RecordEnvelope.createFromProtobuf(bytes)
    // Protobuf has many ways to write one thing; ours is one, so that a record has one form and one length.
    if (Buffer.compare(envelope.marshal(), bytes) !== 0) throw new MalformedError('it is written in another way than ours')
    if (!keyTypes.has(envelope.publicKey.type)) throw new MalformedError(`it is signed with a key of ${envelope.publicKey.type}`)
    const type = new TextDecoder().decode(envelope.payloadType)
    const kind = kinds.find((each) => payloadType(each) === type)
    if (kind === undefined) throw new MalformedError('it holds something else')
    const fields = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(envelope.payload)) as unknown
    if (typeof fields !== 'object' || fields === null) throw new MalformedError('it holds no object')
    return {
      kind,
      signer: peerIdFromPublicKey(envelope.publicKey).toString(),
      fields: fields as Fields,
      isSigned: async () => await isSigned(envelope)
    }
  } catch (cause) {
    throw new MalformedError(`this is no envelope of the registry: ${messageOf(cause)}`, { cause })
  }
}

/** Whether the bytes begin as an envelope with an Ed25519 key does: to read a key of secp256k1 takes ten times as long. */
export function isQuickToRead(bytes: Uint8Array): boolean {
  // Its first field is the key, whose first field is its type.
  return bytes[2] === 8 && bytes[3] === 1
}

/** Text in a frame or in somebody's hands. */
export function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url')
}

/** What `toText` gave. Errors: MalformedError for other letters than it has. */
export function fromText(text: string): Uint8Array {
  if (!/^[\w-]+$/u.test(text)) throw new MalformedError('this is no base64url')
  return new Uint8Array(Buffer.from(text, 'base64url'))
}

/** A signature that makes its library throw is as wrong as another. */
async function isSigned(envelope: RecordEnvelope): Promise<boolean> {
  try {
    return await envelope.validate(domain)
  } catch {
    return false
  }
}

function payloadType(kind: EnvelopeKind): string {
  return `/shardswap/registry/${kind}/1`
}

function typeOf(kind: EnvelopeKind): Uint8Array {
  return new TextEncoder().encode(payloadType(kind))
}
