import { InvalidParametersError } from '@shardswap/interface'
import * as limits from '../limits.ts'
import { shardPrefix } from '../read/node.ts'
import { nameHash, positionAt } from '../read/shard.ts'
import { type Attributes, type Format, makeDirectory, makeShard, type Made, type Named } from './encode.ts'
import type { BoundedSink } from './sink.ts'

const encoder = new TextEncoder()
const shardBits = Math.log2(limits.shardFanout)

/** What Kubo counts against its bound: the bytes of each name and of its CID. */
function directoryBytes(entries: readonly Named[]): number {
  let bytes = 0
  for (const { name, cid } of entries) bytes += encoder.encode(name).byteLength + cid.byteLength
  return bytes
}

/** Writes a directory, sharded where Kubo would shard it. Errors: the sink's. */
export async function putDirectory(sink: BoundedSink, format: Format, entries: readonly Named[], attributes: Attributes): Promise<Made> {
  if (directoryBytes(entries) > limits.directoryBytesMax) {
    return await putShard(
      sink,
      format,
      entries.map((entry) => ({ entry, hash: nameHash(entry.name) })),
      0,
      attributes
    )
  }
  const made = makeDirectory(format, entries, attributes)
  await sink.put(made.cid, made.block)
  return made
}

interface Hashed {
  readonly entry: Named
  readonly hash: Uint8Array
}

/** Eight levels at most: then the hash is used up. */
async function putShard(
  sink: BoundedSink,
  format: Format,
  entries: readonly Hashed[],
  depth: number,
  attributes: Attributes
): Promise<Made> {
  const places = new Map<number, Hashed[]>()
  for (const hashed of entries) {
    const position = positionAt(hashed.hash, depth, shardBits)
    if (position === undefined) throw new InvalidParametersError(`too many names with the hash of "${hashed.entry.name}"`)
    const place = places.get(position)
    if (place === undefined) places.set(position, [hashed])
    else place.push(hashed)
  }
  const links: Named[] = []
  for (const position of [...places.keys()].sort((a, b) => a - b)) {
    const place = places.get(position) ?? []
    const prefix = shardPrefix(position, limits.shardFanout)
    const only = place.length === 1 ? place[0]?.entry : undefined
    if (only === undefined) {
      const { cid, dagBytes } = await putShard(sink, format, place, depth + 1, {})
      links.push({ name: prefix, cid, dagBytes })
    } else links.push({ ...only, name: prefix + only.name })
  }
  const made = makeShard(format, links, bitField(places.keys()), limits.shardFanout, attributes)
  await sink.put(made.cid, made.block)
  return made
}

/** A bit for each position, big-endian, without leading zero bytes. */
function bitField(positions: Iterable<number>): Uint8Array {
  const field = new Uint8Array(limits.shardFanout / 8)
  for (const position of positions) {
    const at = field.byteLength - 1 - (position >> 3)
    field[at] = (field[at] ?? 0) | (1 << (position & 7))
  }
  return field.subarray(field.findIndex((byte) => byte !== 0))
}
