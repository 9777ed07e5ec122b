import { createHash } from 'node:crypto'

/** What begins all values of one kind in the datastore. */
export interface Seal {
  /** Eight letters. */
  readonly magic: string
  /** The layout that this code writes; others are not read. */
  readonly version: number
}

const versionAt = 8
const digestAt = versionAt + 4
const bodyAt = digestAt + 32

/** What sealed bytes turned out to be. */
export type Unsealed =
  | { readonly kind: 'good'; readonly body: Uint8Array }
  | {
      readonly kind: 'bad'
      /** What is wrong with them, for a person. */
      readonly reason: string
    }

/** The magic, the version (four bytes), the SHA-256 of what is around that digest, the body. */
export function sealed({ magic, version }: Seal, body: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(bodyAt + body.byteLength)
  new TextEncoder().encodeInto(magic, bytes)
  new DataView(bytes.buffer).setUint32(versionAt, version)
  bytes.set(body, bodyAt)
  bytes.set(digestOf(bytes), digestAt)
  return bytes
}

/** The body of what `sealed` gave. Anything else is `bad`, never an exception. */
export function unsealed({ magic, version }: Seal, bytes: Uint8Array): Unsealed {
  if (bytes.byteLength === 0) return bad('it is empty')
  if (!new TextEncoder().encode(magic).every((byte, at) => bytes[at] === byte)) return bad('it does not begin as it should')
  if (bytes.byteLength < bodyAt) return bad('it is cut off')
  const found = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(versionAt)
  if (found !== version) return bad(`it says that it is of version ${found}, and this program knows version ${version} only`)
  const digest = digestOf(bytes)
  if (!digest.every((byte, at) => bytes[digestAt + at] === byte)) return bad('its checksum does not match: it is damaged or cut off')
  return { kind: 'good', body: bytes.subarray(bodyAt) }
}

function bad(reason: string): Unsealed {
  return { kind: 'bad', reason }
}

function digestOf(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes.subarray(0, digestAt)).update(bytes.subarray(bodyAt)).digest()
}
