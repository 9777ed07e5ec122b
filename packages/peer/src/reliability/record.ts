import { messageOf } from '@shardswap/interface'
import { type Seal, sealed, unsealed } from './sealed.ts'

/** The layout that this code writes; others are not read. */
export const recordVersion = 1

const seal: Seal = { magic: 'shardrec', version: recordVersion }

/** What a stored record turned out to be. */
export type DecodedRecord =
  | { readonly kind: 'good'; readonly body: unknown }
  | {
      readonly kind: 'bad'
      /** What is wrong with it, for a person. */
      readonly reason: string
    }

/** A record's bytes: JSON under a checksum. */
export function encodeRecord(body: unknown): Uint8Array {
  return sealed(seal, new TextEncoder().encode(JSON.stringify(body)))
}

/** Reads what `encodeRecord` wrote. Anything else is `bad`, never an exception. */
export function decodeRecord(bytes: Uint8Array): DecodedRecord {
  const found = unsealed(seal, bytes)
  if (found.kind === 'bad') return found
  try {
    return { kind: 'good', body: JSON.parse(new TextDecoder().decode(found.body)) as unknown }
  } catch (error) {
    return { kind: 'bad', reason: `it is no JSON (${messageOf(error)})` }
  }
}
