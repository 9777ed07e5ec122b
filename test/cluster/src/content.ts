/** Content that every process of a cluster makes alike from a few numbers. */
import { createCipheriv, createHash } from 'node:crypto'
import { add } from '@shardswap/content'
import type { Block, BlockSink } from '@shardswap/interface'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'

const MiB = 1024 * 1024

/** A UnixFS file of pseudo-random bytes: CIDv1, raw leaves. Files of different seeds share no leaf. */
export interface FileSpec {
  readonly seed: number
  readonly bytes: number
  /** Bytes of a leaf; 256 KiB by default. */
  readonly leafBytes?: number
}

/** Raw blocks of pseudo-random bytes, by their numbers from `from` (0 by default) on. */
export interface BlocksSpec {
  readonly seed: number
  readonly count: number
  readonly blockBytes: number
  readonly from?: number
}

/** Where a file's bytes hash to, and how many blocks it has. */
export interface AddedFile {
  readonly root: string
  readonly sha256: string
  readonly blocks: number
}

// Key and counter are of two seeds' making, so that no two streams overlap.
function* bytesOf(seed: number, bytes: number): Generator<Uint8Array> {
  const key = createHash('sha256').update(`shardswap cluster ${seed}`).digest().subarray(0, 16)
  const cipher = createCipheriv('aes-128-ctr', key, Buffer.alloc(16))
  const zeros = Buffer.alloc(Math.min(bytes, MiB))
  for (let left = bytes; left > 0; left -= zeros.byteLength) {
    yield cipher.update(left < zeros.byteLength ? zeros.subarray(0, left) : zeros)
  }
}

/** Adds a file to a sink. */
export async function addFile(spec: FileSpec, sink: BlockSink): Promise<AddedFile> {
  const hash = createHash('sha256')
  let blocks = 0
  const counting: BlockSink = {
    put: async (cid, bytes, options) => {
      blocks += 1
      await sink.put(cid, bytes, options)
    }
  }
  async function* content(): AsyncGenerator<Uint8Array> {
    for (const part of bytesOf(spec.seed, spec.bytes)) {
      hash.update(part)
      yield part
    }
  }
  const options = { cidVersion: 1, rawLeaves: true, chunker: `size-${spec.leafBytes ?? 256 * 1024}` } as const
  let root = ''
  for await (const entry of add([{ path: 'file', content: content() }], counting, options)) root = entry.cid.toString()
  return { root, sha256: hash.digest('hex'), blocks }
}

/** Blocks one by one. */
export function* blocksOf({ seed, count, blockBytes, from = 0 }: BlocksSpec): Generator<Block> {
  for (let number = from; number < from + count; number++) {
    const bytes = new Uint8Array(Buffer.concat([...bytesOf(seed * 0x1_00_00_00 + number, blockBytes)]))
    yield { cid: rawCid(bytes), bytes }
  }
}

/** The CIDs of blocks, in order. */
export function cidsOf(spec: BlocksSpec): CID[] {
  return Array.from(blocksOf(spec), ({ cid }) => cid)
}

function rawCid(bytes: Uint8Array): CID {
  return CID.createV1(0x55, createDigest(0x12, createHash('sha256').update(bytes).digest()))
}
