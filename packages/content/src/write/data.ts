import { assert } from '@shardswap/interface'
import type { Node } from 'ipfs-unixfs'
import { writer } from 'protons-runtime'

/** The data of a UnixFS node, as the library decodes it. */
export type Data = Omit<NonNullable<Node['data']>, 'type'> & { readonly type?: unknown }

/** In the order of their numbers. */
const types = ['RAW', 'DIRECTORY', 'FILE', 'METADATA', 'SYMLINK', 'HAMT_SHARD']

/** A field's number and its wire type: 0 for a varint, 2 for bytes, 5 for four bytes. */
function tag(field: number, wireType: 0 | 2 | 5): number {
  return (field << 3) | wireType
}

/**
 * UnixFS data to bytes. The library's own encoder leaves four bytes unwritten
 * of each number from 2 ** 31 to 2 ** 32 - 1 (protons-runtime takes its lower
 * half for negative): sizes of files of 2 to 4 GiB, times from 2038 on. The
 * writer's methods for plain numbers are sound.
 */
export function encodeData(data: Data): Uint8Array {
  const out = writer()
  const type = types.indexOf(String(data.type))
  assert(type >= 0, 'the library decodes these types only')
  out.uint32(tag(1, 0)).uint32(type)
  if (data.data !== undefined) out.uint32(tag(2, 2)).bytes(data.data)
  if (data.fileSize !== undefined) out.uint32(tag(3, 0)).uint64Number(Number(data.fileSize))
  for (const size of data.blockSizes) out.uint32(tag(4, 0)).uint64Number(Number(size))
  if (data.hashType !== undefined) out.uint32(tag(5, 0)).uint64Number(Number(data.hashType))
  if (data.fanOut !== undefined) out.uint32(tag(6, 0)).uint64Number(Number(data.fanOut))
  if (data.mode !== undefined) out.uint32(tag(7, 0)).uint32(data.mode)
  if (data.mtime !== undefined) {
    const { seconds, fractionalNanoseconds } = data.mtime
    out.uint32(tag(8, 2)).fork()
    if (seconds !== undefined) {
      out.uint32(tag(1, 0))
      // Below zero all 64 bits are written, which the runtime does right.
      if (seconds < 0n) out.int64(seconds)
      else out.uint64Number(Number(seconds))
    }
    if (fractionalNanoseconds !== undefined) out.uint32(tag(2, 5)).fixed32(fractionalNanoseconds)
    out.ldelim()
  }
  return out.finish()
}
