import { createHash, randomBytes } from 'node:crypto'
import { multihashOf } from '@shardswap/hashes'
import { type Block, CID } from '@shardswap/interface'

export const rawCode = 0x55

/** A raw block of these bytes, under its sha2-256. */
export function blockOf(bytes: Uint8Array): Block {
  const digest = multihashOf(0x12, 32, bytes)
  if (digest === undefined) throw new Error('sha2-256 is always here')
  return { cid: CID.createV1(rawCode, digest), bytes }
}

/** A block of so many random bytes. */
export function randomBlock(length: number): Block {
  return blockOf(new Uint8Array(randomBytes(length)))
}

/** A block that follows from `seed`: half of them small, the others up to 300 KiB. */
export function seededBlock(seed: string): Block {
  const digest = createHash('sha256').update(seed).digest()
  const length = (digest[0] ?? 0) < 128 ? digest.readUInt16LE(2) % 2_000 : digest.readUInt32LE(4) % (300 * 1024)
  const bytes = new Uint8Array(length)
  for (let offset = 0; offset < length; offset += digest.byteLength) bytes.set(digest.subarray(0, length - offset), offset)
  return blockOf(bytes)
}

/** Everything that a source yields. */
export async function collect<T>(source: Iterable<T> | AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of source) all.push(item)
  return all
}
