/** How pins look at blocks: what leads where, and whether it is here. */
import { isIdentity } from '@shardswap/hashes'
import { type AbortOptions, type BlockSource, type CID } from '@shardswap/interface'
import type { SizedBlockstore } from '@shardswap/repo'
import { hasLinks, linkedCids } from '../gc/links.ts'

export interface Met {
  readonly links: readonly CID[]
  readonly bytes: number
}

export interface MeetOptions extends AbortOptions {
  /** False: the block alone counts, and need not be one that can be read. */
  readonly withLinks?: boolean
}

/** Gets a block from the source unless nothing is to be read in it and it is here. Errors: the source's, UnsupportedCodecError, MalformedError. */
export async function meet(cid: CID, blocks: SizedBlockstore, source: BlockSource, options: MeetOptions): Promise<Met> {
  const { withLinks = true } = options
  const linksIn = (bytes: Uint8Array): readonly CID[] => (withLinks ? linkedCids(cid, bytes) : [])
  if (isIdentity(cid)) return { links: linksIn(cid.multihash.digest), bytes: 0 }
  if (!withLinks || !hasLinks(cid)) {
    const size = await blocks.size(cid, options)
    if (size !== undefined) return { links: [], bytes: size }
  }
  const bytes = await source.get(cid, options)
  return { links: linksIn(bytes), bytes: bytes.byteLength }
}
