import { identityBytesMax, isIdentity } from '@shardswap/hashes'
import { type AbortOptions, AbortError, type BlockSource, type CID, InvalidCidError } from '@shardswap/interface'

/** The bytes that an identity CID carries. Errors: InvalidCidError where it carries more than Kubo takes. */
export function identityBytes(cid: CID): Uint8Array {
  const { digest, size } = cid.multihash
  if (size > identityBytesMax) {
    throw new InvalidCidError(`identity CID of ${size} bytes is over the bound of ${identityBytesMax} (identityBytesMax)`)
  }
  return digest
}

/** Throws AbortError if the caller has given up. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new AbortError(undefined, { cause: signal.reason })
}

/** One block: from within its CID if it is there, else from the source. */
export async function getBlock(source: BlockSource, cid: CID, options?: AbortOptions): Promise<Uint8Array> {
  if (isIdentity(cid)) return identityBytes(cid)
  throwIfAborted(options?.signal)
  return await source.get(cid, options)
}
