import { type BlockKey, type CID, isNotFound, readBlock } from '@shardswap/interface'
import type { Blockstore } from 'interface-blockstore'
import { MemoryStore } from './memory-store.ts'
import type { LocalBlocks } from './serve/types.ts'
import type { PeerInit } from './types.ts'

/** The local store as the exchange uses it: it never asks the network, and a miss is a value. */
export interface LocalStore extends LocalBlocks {
  has(cid: CID): Promise<boolean>
  /** As `get`, for blocks that are likely not here. A store in memory says so at once. */
  find(cid: CID, key: BlockKey): Uint8Array | undefined | Promise<Uint8Array | undefined>
  /** Resolves once the block is as durable as the store promises; a store in memory answers at once. */
  put(cid: CID, bytes: Uint8Array, key: BlockKey): void | Promise<void>
}

/** What somebody else's store answers: their promises may be of any kind. */
function settled<T>(value: T | PromiseLike<T>): T | Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value ? Promise.resolve(value) : value
}

/** Fits any interface-blockstore; one with `size(cid)` is asked for sizes instead of reading blocks. */
export function localStore(store: Blockstore & NonNullable<PeerInit['blockstore']>): LocalStore {
  if (store instanceof MemoryStore) return inMemory(store)
  const has = async (cid: CID): Promise<boolean> => await store.has(cid)
  const get = async (cid: CID): Promise<Uint8Array | undefined> => {
    try {
      return await readBlock(store, cid)
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }
  const sizeByReading = async (cid: CID): Promise<number | undefined> => (await get(cid))?.byteLength
  return {
    get,
    has,
    // Asking first is cheaper than the error that a miss costs, where a miss is likely.
    find: (cid) => {
      const here = store.has(cid)
      if (typeof here === 'boolean') return here ? get(cid) : undefined
      return here.then(async (isHere) => (isHere ? await get(cid) : undefined))
    },
    size: (cid) => (store.size === undefined ? sizeByReading(cid) : settled(store.size(cid))),
    put: (cid, bytes) => {
      const stored = settled(store.put(cid, bytes))
      return stored instanceof Promise ? stored.then(() => undefined) : undefined
    }
  }
}

function inMemory(store: MemoryStore): LocalStore {
  const find = (_cid: CID, key: BlockKey): Uint8Array | undefined => store.find(key)
  return {
    get: find,
    find,
    has: async (cid) => store.has(cid),
    size: (_cid, key) => store.find(key)?.byteLength,
    put: (_cid, bytes, key) => {
      store.keep(key, bytes)
    }
  }
}
