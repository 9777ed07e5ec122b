import { murmur364 } from '@multiformats/murmur3'
import { assert } from '@shardswap/interface'

const encoder = new TextEncoder()

/** The 64 bits that place a name in a sharded directory: Murmur3 x64, most significant byte first. */
export function nameHash(name: string): Uint8Array {
  const hash = murmur364.encode(encoder.encode(name))
  assert(hash instanceof Uint8Array, 'murmur3 answers at once')
  return hash
}

/** The position of a hash at a depth, in a shard of `2 ** bits` places; undefined once the hash is used up. */
export function positionAt(hash: Uint8Array, depth: number, bits: number): number | undefined {
  const from = depth * bits
  if (from + bits > hash.byteLength * 8) return undefined
  let position = 0
  for (let bit = from; bit < from + bits; bit++) position = (position << 1) | (((hash[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1)
  return position
}
