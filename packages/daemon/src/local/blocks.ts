/** The block commands on an open repo. */
import { hashFunctionNamed, hashFunctions, multihashOf, digestBytesMin } from '@shardswap/hashes'
import { blockBytesMax, CID, InvalidParametersError, TooLargeError } from '@shardswap/interface'
import type { Repo } from '@shardswap/repo'
import { codecNamed } from '../codecs.ts'
import { bigBlockBytesMax } from '../limits.ts'
import type { BlockPutOptions, BlockRemoved } from '../node.ts'

const mebibyte = 1024 * 1024

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

/** Removes blocks one by one; with `force` one that is not there counts as removed. */
export async function* removeBlocks(repo: Repo, cids: readonly CID[], force: boolean): AsyncGenerator<BlockRemoved> {
  for (const cid of cids) {
    if ((await repo.blocks.size(cid)) === undefined) {
      if (!force) yield { cid, error: `block ${cid.toString()} is not in the repo` }
      continue
    }
    await repo.blocks.delete(cid)
    yield { cid }
  }
}
