import { createHash } from 'node:crypto'
import { joinBytes, messageOf } from '@shardswap/interface'

/** The layout that this code writes; others are not read. */
export const recordVersion = 1

const magic = new TextEncoder().encode('shardrec')
const versionAt = magic.byteLength
const digestAt = versionAt + 4
const bodyAt = digestAt + 32

/** What a stored record turned out to be. */
export type DecodedRecord =
  | { readonly kind: 'good'; readonly body: unknown }
  | {
      readonly kind: 'bad'
      /** What is wrong with it, for a person. */
      readonly reason: string
    }

/** A record's bytes: `shardrec`, its version (four bytes), the SHA-256 of what is around that digest, JSON. */
export function encodeRecord(body: unknown): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(body))
  const bytes = new Uint8Array(bodyAt + json.byteLength)
  bytes.set(magic)
  new DataView(bytes.buffer).setUint32(versionAt, recordVersion)
  bytes.set(json, bodyAt)
  bytes.set(digestOf(bytes), digestAt)
  return bytes
}

/** Reads what `encodeRecord` wrote. Anything else is `bad`, never an exception. */
export function decodeRecord(bytes: Uint8Array): DecodedRecord {
  if (bytes.byteLength === 0) return bad('it is empty')
  if (!magic.every((byte, at) => bytes[at] === byte)) return bad('it does not begin as a record does')
  if (bytes.byteLength < bodyAt) return bad('it is cut off')
  const version = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(versionAt)
  if (version !== recordVersion) {
    return bad(`it says that it is of version ${version}, and this program knows version ${recordVersion} only`)
  }
  const digest = digestOf(bytes)
  if (!digest.every((byte, at) => bytes[digestAt + at] === byte)) return bad('its checksum does not match: it is damaged or cut off')
  try {
    return { kind: 'good', body: JSON.parse(new TextDecoder().decode(bytes.subarray(bodyAt))) as unknown }
  } catch (error) {
    return bad(`it is no JSON (${messageOf(error)})`)
  }
}

function bad(reason: string): DecodedRecord {
  return { kind: 'bad', reason }
}

function digestOf(bytes: Uint8Array): Uint8Array {
  return createHash('sha256')
    .update(joinBytes([bytes.subarray(0, digestAt), bytes.subarray(bodyAt)]))
    .digest()
}
