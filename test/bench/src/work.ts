import { createHash } from 'node:crypto'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'

/** A UnixFS file to be moved: raw leaves of `leafBytes` under CIDv1. */
export interface FileWork {
  readonly kind: 'file'
  readonly bytes: number
  readonly leafBytes: number
}

/** Raw blocks to be moved, `window` of them asked for at a time. */
export interface BlocksWork {
  readonly kind: 'blocks'
  readonly blocks: number
  readonly blockBytes: number
  readonly window: number
  /** So many blocks are fetched before the clock starts. */
  readonly warmUpBlocks?: number
  /** Both ends keep no block: the provider makes each anew, the downloader forgets it. Fetched by `getMany`. */
  readonly unkept?: boolean
}

export type Work = FileWork | BlocksWork

/** What a provider offers: the root of a file, or the CIDs of blocks, as text. */
export interface Offer {
  readonly root?: string
  readonly cids?: readonly string[]
}

/** What a downloader got, and how long it took. */
export interface Fetched {
  readonly bytes: number
  readonly seconds: number
  /** Of each block of a work with a window of one, in milliseconds. */
  readonly latenciesMs?: readonly number[]
  /** Bytes of blocks that came again, where the downloader can tell. */
  readonly duplicateBytes?: number
}

const patternBytes = 1024 * 1024

/** A megabyte that no compressor shortens, the same in every process: hashes of a counter. */
const pattern: Buffer = Buffer.concat(
  Array.from({ length: patternBytes / 32 }, (_, index) => createHash('sha256').update(`shardswap bench ${index}`).digest())
)

/** The bytes of block `index`, in `bytes`; no two blocks are alike. */
export function blockBytesAt(index: number, blockBytes: number, bytes = new Uint8Array(blockBytes)): Uint8Array {
  for (let offset = 0; offset < blockBytes; offset += patternBytes) {
    bytes.set(pattern.subarray(0, Math.min(patternBytes, blockBytes - offset)), offset)
  }
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, index)
  return bytes
}

/** The content of a file, a megabyte at a time, each of which begins with its number. */
export function* fileContent(bytes: number): Generator<Uint8Array> {
  for (let index = 0, left = bytes; left > 0; index += 1, left -= patternBytes) {
    yield fileSlice(index, Math.min(left, patternBytes))
  }
}

// Every kibibyte bears its place, so that no two leaves of a file are one block, whatever their size.
function fileSlice(index: number, bytes: number): Uint8Array {
  const slice = Uint8Array.from(pattern.subarray(0, bytes))
  const view = new DataView(slice.buffer)
  for (let offset = 0; offset + 4 <= bytes; offset += 1024) view.setUint32(offset, index * 1024 + offset / 1024)
  return slice
}

/** The CIDv1 of a raw block under sha2-256. */
export function rawCid(bytes: Uint8Array): CID {
  return CID.createV1(0x55, createDigest(0x12, createHash('sha256').update(bytes).digest()))
}

/**
 * The CIDs of a work's blocks, in order, one at a time, and the blocks made in one place: what grows with the work would
 * be measured with the exchange.
 */
export function* blockCids(work: BlocksWork): Generator<CID> {
  const bytes = new Uint8Array(work.blockBytes)
  for (let index = 0; index < work.blocks; index += 1) yield rawCid(blockBytesAt(index, work.blockBytes, bytes))
}

/** The CIDs of a file's leaves, in order, as text. */
export function leafCids({ bytes, leafBytes }: FileWork): string[] {
  const cids: string[] = []
  let rest: Uint8Array = new Uint8Array(0)
  for (const slice of fileContent(bytes)) {
    rest = rest.byteLength === 0 ? slice : Buffer.concat([rest, slice])
    while (rest.byteLength >= leafBytes) {
      cids.push(rawCid(rest.subarray(0, leafBytes)).toString())
      rest = rest.subarray(leafBytes)
    }
  }
  return cids
}

/** Bytes that a work moves. */
export function workBytes(work: Work): number {
  return work.kind === 'file' ? work.bytes : work.blocks * work.blockBytes
}
