import { type BlockSource, type CID, InvalidParametersError } from '@shardswap/interface'
import { NotAFileError, NotUnixFSError, SizeMismatchError } from '../errors.ts'
import type { ReadOptions } from '../types.ts'
import { type Planned, readAheadOf } from './ahead.ts'
import type { ByteBudget } from './budget.ts'
import { decodeNode, isUnixFSCodec, type UnixFSNode } from './node.ts'

/** Where a node's bytes lie within its file. */
interface Place {
  readonly start: number
  /** What its parent says it holds; undefined for the root. */
  readonly size: number | undefined
}

interface Range {
  readonly from: number
  readonly to: number
}

const nothing = new Uint8Array(0)

/**
 * The bytes of a file, in order, a part for each leaf. Blocks are asked for
 * ahead of the consumer within `readAheadBytesMax`; a range asks for the nodes
 * that cover it and no others. What nodes state of their sizes is checked
 * before a byte of theirs is given. `known` are the bytes of the root's
 * block, `budget` a bound that other readers share.
 * Errors: InvalidParametersError, thrown at once; NotAFileError, NotUnixFSError, SizeMismatchError, TooDeepError, the source's.
 */
export function readFile(
  source: BlockSource,
  root: CID,
  options: ReadOptions = {},
  known?: Uint8Array,
  budget?: ByteBudget
): AsyncGenerator<Uint8Array, void, undefined> {
  const range = rangeOf(options)
  const place: Place = { start: 0, size: undefined }
  const planned = { cid: root, span: 0, context: place, ...(known === undefined ? {} : { bytes: known }) }
  return readAheadOf<Place, Uint8Array, Uint8Array>(
    {
      source,
      // Of an empty range nothing need be read, the root neither.
      roots: range.to === range.from ? [] : [planned],
      open: (part, bytes) => openPart(part, bytes, range),
      signal: options.signal,
      patient: options.patient,
      readAheadBytesMax: options.readAheadBytesMax,
      budget,
      dagDepthMax: options.dagDepthMax
    },
    ({ value }) => (value.byteLength > 0 ? value : undefined)
  )
}

function rangeOf({ offset = 0, length }: ReadOptions): Range {
  if (!Number.isSafeInteger(offset) || offset < 0) throw new InvalidParametersError(`offset ${offset} is not a number of bytes`)
  if (length === undefined) return { from: offset, to: Number.MAX_SAFE_INTEGER }
  if (!Number.isSafeInteger(length) || length < 0) throw new InvalidParametersError(`length ${length} is not a number of bytes`)
  return { from: offset, to: Math.min(offset + length, Number.MAX_SAFE_INTEGER) }
}

function openPart(planned: Planned<Place>, bytes: Uint8Array, range: Range): { value: Uint8Array; children: Planned<Place>[] } {
  const { cid, context } = planned
  const node = partOf(cid, bytes, context)
  const children: Planned<Place>[] = []
  let start = context.start + node.data.byteLength
  for (const link of node.links) {
    const end = start + link.size
    // An empty part is read where it stands within the range, so that its claim is checked.
    if (end >= range.from && start < range.to && (end > range.from || link.size === 0)) {
      children.push({ cid: link.cid, span: Math.max(link.size, link.dagBytes), context: { start, size: link.size } })
    }
    start = end
  }
  return { value: cut(node.data, context.start, range), children }
}

function partOf(cid: CID, bytes: Uint8Array, place: Place): UnixFSNode & { kind: 'file' } {
  if (place.size !== undefined && !isUnixFSCodec(cid))
    throw new NotUnixFSError(`${cid.toString()} is within a file, but its codec is no part of UnixFS`)
  const node = decodeNode(cid, bytes)
  if (node.kind !== 'file') throw new NotAFileError(`${cid.toString()} is a ${node.kind === 'shard' ? 'directory' : node.kind}, not a file`)
  if (place.size !== undefined && node.size !== place.size) {
    throw new SizeMismatchError(`${cid.toString()} holds ${node.size} bytes of its file, but its parent states ${place.size}`)
  }
  return node
}

function cut(data: Uint8Array, start: number, { from, to }: Range): Uint8Array {
  const end = start + data.byteLength
  if (start >= from && end <= to) return data
  if (end <= from || start >= to) return nothing
  return data.subarray(Math.max(0, from - start), Math.min(data.byteLength, to - start))
}
