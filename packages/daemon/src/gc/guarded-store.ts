import type { AbortOptions, CID } from '@shardswap/interface'
import type { SizedBlockstore } from '@shardswap/repo'

export interface Guard {
  /** Runs the write of a block of so many bytes; what it does at once is done before the store knows of the block. */
  put(cid: CID, bytes: number, write: () => Promise<CID>, options?: AbortOptions): Promise<CID>
}

/** A store that has each block that is written through it written by the guard. All else goes to the store as it is. */
export function guardedStore(blocks: SizedBlockstore, guard: Guard): SizedBlockstore {
  const put: SizedBlockstore['put'] = async (cid, bytes, options) => {
    const length = bytes instanceof Uint8Array ? bytes.byteLength : 0
    return await guard.put(cid, length, async () => await blocks.put(cid, bytes, options), options)
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
