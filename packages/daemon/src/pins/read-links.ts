/** How pins look at blocks: what leads where, and whether it is here. */
import { isIdentity } from '@shardswap/hashes'
import { type AbortOptions, type BlockSource, type CID } from '@shardswap/interface'
import type { SizedBlockstore } from '@shardswap/repo'
import { hasLinks, linkedCids } from '../gc/links.ts'

export interface Met {
  readonly links: readonly CID[]
  readonly bytes: number
}

/** Gets a block from the source unless nothing is to be read in it and it is here. Errors: the source's, UnsupportedCodecError, MalformedError. */
export async function meet(cid: CID, blocks: SizedBlockstore, source: BlockSource, options: AbortOptions): Promise<Met> {
  if (isIdentity(cid)) return { links: linkedCids(cid, cid.multihash.digest), bytes: 0 }
  if (!hasLinks(cid)) {
    const size = await blocks.size(cid, options)
    if (size !== undefined) return { links: [], bytes: size }
  }
  const bytes = await source.get(cid, options)
  return { links: linkedCids(cid, bytes), bytes: bytes.byteLength }
}
