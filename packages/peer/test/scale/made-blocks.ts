import { BaseBlockstore } from 'blockstore-core'
import { multihashOf } from '@shardswap/hashes'
import { type BlockKey, blockKey, CID, NotFoundError } from '@shardswap/interface'

const madeBytes = 64

/** Block number `index`. */
function bytesOf(index: number): Uint8Array {
  const bytes = new Uint8Array(madeBytes)
  new DataView(bytes.buffer).setUint32(0, index)
  return bytes
}

/** The CID of block number `index`. */
export function cidOf(index: number): CID {
  const digest = multihashOf(0x12, 32, bytesOf(index))
  if (digest === undefined) throw new Error('sha2-256 is always there')
  return CID.createV1(0x55, digest)
}

export function* cidsOf(from: number, count: number): Generator<CID> {
  for (let index = from; index < from + count; index++) yield cidOf(index)
}

/** A number from which on no provider has a block: wants for these stay open. */
export const absentFrom = 2 ** 31

/**
 * A store that makes the first `count` blocks anew at each read, and forgets
 * what is put into it: the memory of a process that has it is the exchange's.
 */
export class MadeBlockstore extends BaseBlockstore {
  readonly #indexes = new Map<BlockKey, number>()

  constructor(count = 0) {
    super()
    for (let index = 0; index < count; index++) this.#indexes.set(blockKey(cidOf(index)), index)
  }

  override has(cid: CID): boolean {
    return this.#indexes.has(blockKey(cid))
  }

  override put(cid: CID): CID {
    return cid
  }

  override *get(cid: CID): Generator<Uint8Array> {
    const index = this.#indexes.get(blockKey(cid))
    if (index === undefined) throw new NotFoundError(`no block ${cid.toString()}`)
    yield bytesOf(index)
  }
}
