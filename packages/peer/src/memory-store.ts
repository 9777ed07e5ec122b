import { type AbortOptions, type BlockKey, blockKey, CID, joinBytes, NotFoundError } from '@shardswap/interface'
import { BaseBlockstore } from 'blockstore-core'
import type { Pair } from 'interface-blockstore'
import { decode } from 'multiformats/hashes/digest'

const rawCode = 0x55

/**
 * The store of a peer that was given none: blocks in a map, by multihash. It answers within the call, which
 * spares a promise for each block, and its keys are made of bytes as they are: the store of blockstore-core
 * writes a multihash as base32 each time, which took a tenth of all processor time where blocks are small.
 */
export class MemoryStore extends BaseBlockstore {
  readonly #blocks = new Map<BlockKey, Uint8Array>()

  override put(cid: CID, bytes: Uint8Array, options?: AbortOptions): CID
  override put(cid: CID, bytes: Parts, options?: AbortOptions): CID | Promise<CID>
  override put(cid: CID, bytes: Parts, options?: AbortOptions): CID | Promise<CID> {
    options?.signal?.throwIfAborted()
    if (!(bytes instanceof Uint8Array)) return this.#gather(cid, bytes, options)
    this.keep(blockKey(cid), bytes)
    return cid
  }

  override *get(cid: CID, options?: AbortOptions): Generator<Uint8Array> {
    options?.signal?.throwIfAborted()
    const bytes = this.#blocks.get(blockKey(cid))
    if (bytes === undefined) throw new NotFoundError(`${cid.toString()} is not in this store`)
    yield bytes
  }

  /** A block's bytes by its key; undefined where it is not here. */
  find(key: BlockKey): Uint8Array | undefined {
    return this.#blocks.get(key)
  }

  /** Keeps a block by its key. */
  keep(key: BlockKey, bytes: Uint8Array): void {
    this.#blocks.set(key, bytes)
  }

  /** A block's size in bytes; undefined where it is not here. */
  size(cid: CID): number | undefined {
    return this.find(blockKey(cid))?.byteLength
  }

  override has(cid: CID, options?: AbortOptions): boolean {
    options?.signal?.throwIfAborted()
    return this.#blocks.has(blockKey(cid))
  }

  override delete(cid: CID, options?: AbortOptions): void {
    options?.signal?.throwIfAborted()
    this.#blocks.delete(blockKey(cid))
  }

  override async *getAll(options?: AbortOptions): AsyncGenerator<Pair> {
    for (const [key, bytes] of this.#blocks) {
      options?.signal?.throwIfAborted()
      yield { cid: CID.createV1(rawCode, decode(Buffer.from(key, 'latin1'))), bytes: only(bytes) }
    }
  }

  async #gather(cid: CID, bytes: Exclude<Parts, Uint8Array>, options?: AbortOptions): Promise<CID> {
    const parts: Uint8Array[] = []
    for await (const part of bytes) parts.push(part)
    return this.put(cid, joinBytes(parts), options)
  }
}

type Parts = Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>

function* only(bytes: Uint8Array): Generator<Uint8Array> {
  yield bytes
}
