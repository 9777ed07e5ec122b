/** Many small blocks under one dag-cbor root, and the archive of them. */
import * as dagCbor from '@ipld/dag-cbor'
import { exportCar } from '@shardswap/content'
import { blockSinkOf, blockSourceOf } from '@shardswap/interface'
import { MemoryBlockstore } from 'blockstore-core'
import type { CID } from 'multiformats/cid'
import { blockOf, bytesOf, type BlockSpec } from './content.ts'

/** Bytes of each small block. */
const smallBytes = 500

export interface ManyBlocks {
  readonly root: CID
  readonly blocks: readonly BlockSpec[]
  readonly car: Uint8Array
}

/** `count` raw blocks; those of seeds `count` apart differ. */
export async function manyBlocks(count: number, seed: number): Promise<ManyBlocks> {
  const store = new MemoryBlockstore()
  const sink = blockSinkOf(store)
  const blocks: BlockSpec[] = []
  for (let index = 0; index < count; index++) blocks.push(await blockOf(bytesOf(smallBytes, seed + index), 0x55))
  const root = await blockOf(dagCbor.encode(blocks.map(({ cid }) => cid)), dagCbor.code)
  for (const { cid, bytes } of [...blocks, root]) await sink.put(cid, bytes)
  const parts = await Array.fromAsync(exportCar(blockSourceOf(store), root.cid))
  return { root: root.cid, blocks, car: new Uint8Array(Buffer.concat(parts)) }
}
