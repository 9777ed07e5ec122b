/** The block commands on an open repo. */
import { hashFunctionNamed, hashFunctions, multihashOf, digestBytesMin } from '@shardswap/hashes'
import { type AbortOptions, blockBytesMax, CID, InvalidParametersError, TooLargeError } from '@shardswap/interface'
import { codecNamed } from '../codecs.ts'
import type { BlockKeeper } from '../gc/keeper.ts'
import { bigBlockBytesMax } from '../limits.ts'
import type { BlockPutOptions, BlockRemoved } from '../node.ts'

const mebibyte = 1024 * 1024

export interface RemoveOptions extends AbortOptions {
  readonly force?: boolean
}

/** Throws TooLargeError for a block that may not be stored. */
export function checkBlockSize(bytes: number, allowBigBlock: boolean): void {
  if (bytes > bigBlockBytesMax) {
    throw new TooLargeError(
      `a block of ${bytes} bytes is too large: the most that --allow-big-block takes is ${bigBlockBytesMax / mebibyte} MiB`
    )
  }
  if (bytes <= blockBytesMax || allowBigBlock) return
  throw new TooLargeError(
    `a block of ${bytes} bytes is larger than the ${blockBytesMax / mebibyte} MiB that every peer can fetch: ` +
      'add it as a file instead, or store it anyway with --allow-big-block'
  )
}

/** The CID of a block under the options of `block put`. Errors: InvalidParametersError. */
export function cidForBlock(bytes: Uint8Array, options: BlockPutOptions): CID {
  const mhtype = options.mhtype ?? 'sha2-256'
  const fn = hashFunctionNamed(mhtype)
  if (fn === undefined) {
    const names = hashFunctions().map((known) => known.name)
    throw new InvalidParametersError(`unknown hash function "${mhtype}": use one of ${names.join(', ')}`)
  }
  const length = options.mhlen === undefined || options.mhlen === -1 ? fn.digestBytes : options.mhlen
  const multihash = multihashOf(fn.code, length, bytes)
  if (multihash === undefined) {
    throw new InvalidParametersError(
      `a ${mhtype} digest of ${length} bytes is not possible: use ${digestBytesMin} to ${fn.digestBytesMax} bytes`
    )
  }
  if (options.codec !== 'v0') return CID.createV1(codecNamed(options.codec ?? 'raw'), multihash)
  if (mhtype !== 'sha2-256' || length !== 32) throw new InvalidParametersError('a CIDv0 takes sha2-256 only')
  return CID.createV1(codecNamed('dag-pb'), multihash).toV0()
}

/** Removes blocks one by one; with `force` one that is not there counts as removed. Pinned ones are refused in Kubo's words. */
export async function* removeBlocks(keeper: BlockKeeper, cids: readonly CID[], options: RemoveOptions): AsyncGenerator<BlockRemoved> {
  for await (const removed of keeper.remove(cids, options)) {
    const { cid } = removed
    if ('pinned' in removed) yield { cid, error: removed.pinned }
    else if (removed.outcome === 'removed' || (removed.outcome === 'absent' && options.force === true)) yield { cid }
    else if (removed.outcome === 'in-use') yield { cid, error: 'an add or a pin that is under way needs it' }
    else yield { cid, error: `block ${cid.toString()} is not in the repo` }
  }
}
