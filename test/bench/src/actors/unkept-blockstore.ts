import { BaseBlockstore } from 'blockstore-core'
import { type BlockKey, blockKey, NotFoundError } from '@shardswap/interface'
import type { CID } from 'multiformats/cid'
import { blockBytesAt } from '../work.ts'

/**
 * A store that holds no block: what it promised it makes anew at each read, and
 * what is put into it is forgotten. So whatever memory a process takes beside it
 * is the exchange's own.
 */
export class UnkeptBlockstore extends BaseBlockstore {
  readonly #promised = new Map<BlockKey, { readonly index: number; readonly blockBytes: number }>()

  /** From now on `cid` reads as block `index` of a work. */
  promise(cid: CID, index: number, blockBytes: number): void {
    this.#promised.set(blockKey(cid), { index, blockBytes })
  }

  override has(cid: CID): boolean {
    return this.#promised.has(blockKey(cid))
  }

  /** Bytes of a promised block, without making it. */
  size(cid: CID): Promise<number | undefined> {
    return Promise.resolve(this.#promised.get(blockKey(cid))?.blockBytes)
  }

  override put(cid: CID): CID {
    return cid
  }

  override *get(cid: CID): Generator<Uint8Array> {
    const promised = this.#promised.get(blockKey(cid))
    if (promised === undefined) throw new NotFoundError(`no block was promised under ${cid.toString()}`)
    yield blockBytesAt(promised.index, promised.blockBytes)
  }
}
