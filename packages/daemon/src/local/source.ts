/** Where a local node's reads find blocks. */
import { isIdentity } from '@shardswap/hashes'
import { type BlockSource, NotFoundError, readBlock } from '@shardswap/interface'
import type { Repo } from '@shardswap/repo'

/** The repo alone: what is not there is NotFoundError at once, with a message that says what would help. */
export function offlineSource(repo: Repo): BlockSource {
  return {
    get: async (cid, options) => {
      if (isIdentity(cid)) return cid.multihash.digest
      try {
        return await readBlock(repo.blocks, cid, options)
      } catch (error) {
        if (!(error instanceof Error) || error.name !== 'NotFoundError') throw error
        throw new NotFoundError(`block ${cid.toString()} was not found locally (offline)`, { cause: error })
      }
    }
  }
}
