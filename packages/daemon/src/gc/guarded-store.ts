import type { AbortOptions, CID } from '@shardswap/interface'
import type { SizedBlockstore } from '@shardswap/repo'

export interface Guard {
  /** Told of a block, of so many bytes, before it is written; what it does at once is done before the store knows of the block. */
  beforePut(cid: CID, bytes: number, options?: AbortOptions): Promise<void>
}

/** A store that tells of each block that is written through it. All else goes to the store as it is. */
export function guardedStore(blocks: SizedBlockstore, guard: Guard): SizedBlockstore {
  const put: SizedBlockstore['put'] = async (cid, bytes, options) => {
    await guard.beforePut(cid, bytes instanceof Uint8Array ? bytes.byteLength : 0, options)
    return await blocks.put(cid, bytes, options)
  }
  return {
    has: async (cid, options) => await blocks.has(cid, options),
    size: async (cid, options) => await blocks.size(cid, options),
    get: (cid, options) => blocks.get(cid, options),
    getMany: (cids, options) => blocks.getMany(cids, options),
    getAll: (options) => blocks.getAll(options),
    entries: (options) => blocks.entries(options),
    put,
    async *putMany(pairs, options) {
      for await (const { cid, bytes } of pairs) yield await put(cid, bytes, options)
    },
    delete: async (cid, options) => await blocks.delete(cid, options),
    deleteMany: (cids, options) => blocks.deleteMany(cids, options)
  }
}
