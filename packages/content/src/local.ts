import { isIdentity, isVerifiable, unverifiable } from '@shardswap/hashes'
import { AbortError, type BlockSource, type CID, type GetBlockOptions, ShardswapError, TimeoutError } from '@shardswap/interface'

/** The bytes that an identity CID carries. Errors: InvalidCidError where it carries more than Kubo takes. */
export function identityBytes(cid: CID): Uint8Array {
  if (!isVerifiable(cid)) throw unverifiable(cid)
  return cid.multihash.digest
}

/**
 * Throws if the caller has given up: the reason where it is an error of ours,
 * TimeoutError where a deadline was the reason, else AbortError.
 */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return
  const reason: unknown = signal.reason
  if (reason instanceof ShardswapError) throw reason
  if (reason instanceof Error && reason.name === 'TimeoutError') throw new TimeoutError('the deadline passed', { cause: reason })
  throw new AbortError(undefined, { cause: reason })
}

/** One block: from within its CID if it is there, else from the source. */
export async function getBlock(source: BlockSource, cid: CID, options?: GetBlockOptions): Promise<Uint8Array> {
  if (isIdentity(cid)) return identityBytes(cid)
  throwIfAborted(options?.signal)
  return await source.get(cid, options)
}
