import { hashFunction, identityBytesMax } from '@shardswap/hashes'
import { type CID, HashMismatchError, TooLargeError, UnknownHashError } from '@shardswap/interface'

/** The block that is written in its own CID. Errors: HashMismatchError for one that is too long. */
export function identityBytes(cid: CID): Uint8Array {
  const { digest } = cid.multihash
  if (digest.byteLength > identityBytesMax) {
    throw new HashMismatchError(`identity CID holds ${digest.byteLength} bytes; more than ${identityBytesMax} are refused`)
  }
  return digest
}

/** Why no block can be proven to be the one that this CID names. */
export function unverifiable(cid: CID): Error {
  const { code, size } = cid.multihash
  if (hashFunction(code) === undefined) return new UnknownHashError(code)
  return new HashMismatchError(`a digest of ${size} bytes proves no block of ${cid.toString()}`)
}

/** Why a caller who takes so many bytes at most does not get this block. */
export function tooLarge(cid: CID, bytes: Uint8Array, maxBytes: number): TooLargeError {
  return new TooLargeError(`block ${cid.toString()} has ${bytes.byteLength} bytes; its caller takes ${maxBytes} at most`)
}
