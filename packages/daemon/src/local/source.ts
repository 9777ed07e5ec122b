/** Where a local node's reads find blocks. */
import { isIdentity, isVerifiable, unverifiable } from '@shardswap/hashes'
import { type BlockSource, isNotFound, NotFoundError, readBlock } from '@shardswap/interface'
import type { Repo } from '@shardswap/repo'

/** The repo alone: what is not there is NotFoundError at once, with a message that says what would help. */
export function offlineSource(repo: Repo): BlockSource {
  return {
    get: async (cid, options) => {
      if (!isVerifiable(cid)) throw unverifiable(cid)
      if (isIdentity(cid)) return cid.multihash.digest
      try {
        return await readBlock(repo.blocks, cid, options)
      } catch (error) {
        if (!isNotFound(error)) throw error
        throw new NotFoundError(`block ${cid.toString()} was not found locally (offline)`, { cause: error })
      }
    }
  }
}
