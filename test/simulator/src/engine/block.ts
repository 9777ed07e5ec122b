import { type BlockKey, blockKey } from '@shardswap/interface'
import { CID } from 'multiformats/cid'
import { create } from 'multiformats/hashes/digest'

/** A block of the simulated world: a name and a size. Its bytes never exist. */
export interface SimulatedBlock {
  readonly index: number
  readonly cid: CID
  readonly key: BlockKey
  readonly bytes: number
}

const rawCodec = 0x55
const dagPbCodec = 0x70
const sha256Code = 0x12
const digestBytes = 32

/** Blocks 0 to count − 1; `bytesOf` says how large each is. The first `innerNodes` are inner nodes of a DAG, the others raw leaves. */
export function makeBlocks(count: number, bytesOf: (index: number) => number, innerNodes = 0): SimulatedBlock[] {
  return Array.from({ length: count }, (_, index) => {
    const digest = new Uint8Array(digestBytes)
    new DataView(digest.buffer).setUint32(0, index)
    const cid = CID.createV1(index < innerNodes ? dagPbCodec : rawCodec, create(sha256Code, digest))
    return { index, cid, key: blockKey(cid), bytes: bytesOf(index) }
  })
}
