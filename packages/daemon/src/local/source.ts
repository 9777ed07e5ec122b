/** Where a local node's reads find blocks. */
import { hashFunction, identityCode, isIdentity, isVerifiable } from '@shardswap/hashes'
import { type BlockSource, type CID, InvalidCidError, isNotFound, NotFoundError, readBlock, UnknownHashError } from '@shardswap/interface'
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

/** No block can prove to be this one, so it need not be looked for. */
function unverifiable(cid: CID): Error {
  const { code, size } = cid.multihash
  if (code !== identityCode && hashFunction(code) === undefined) return new UnknownHashError(code)
  return new InvalidCidError(`a digest of ${size} bytes under hash 0x${code.toString(16)} proves nothing: ${cid.toString()}`)
}
