import { type CID, TooLargeError } from '@shardswap/interface'

/** Why a caller who takes so many bytes at most does not get this block. */
export function tooLarge(cid: CID, bytes: Uint8Array, maxBytes: number): TooLargeError {
  return new TooLargeError(`block ${cid.toString()} has ${bytes.byteLength} bytes; its caller takes ${maxBytes} at most`)
}
