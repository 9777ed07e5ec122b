import { readHeader } from '@ipld/car/decoder'
import { identityBytesMax, isIdentity, verify } from '@shardswap/hashes'
import {
  type AbortOptions,
  type BlockKey,
  blockKey,
  type BlockSink,
  CID,
  HashMismatchError,
  MalformedError,
  messageOf,
  ShardswapError,
  TooLargeError
} from '@shardswap/interface'
import * as limits from '../limits.ts'
import { throwIfAborted } from '../local.ts'
import type { CarImportResult } from '../types.ts'
import { BoundedSink } from '../write/sink.ts'
import { BoundedReader } from './reader.ts'

/** How an archive is read. */
export interface CarImportOptions extends AbortOptions {
  /** Whether the sink has a block already: asked for roots that the archive does not hold. */
  readonly has?: (cid: CID) => boolean | Promise<boolean>
  /** Blocks and bytes of blocks so far. */
  readonly onProgress?: (blocks: number, bytes: number) => void
  /** Bytes of the longest section, a CID and a block; a limit with a default. */
  readonly carSectionBytesMax?: number
  /** Bytes of the longest header; a limit with a default. */
  readonly carHeaderBytesMax?: number
}

interface Section {
  readonly cid: CID
  readonly bytes: Uint8Array
  readonly offset: number
}

/**
 * Reads a CAR, version 1 or 2, as it streams in, verifies each block and puts
 * it into the sink. Blocks before an error stay there. Identity blocks are
 * verified and counted, but live in their CIDs and are not stored.
 * Errors, each with the byte offset: MalformedError (a cut included),
 * TooLargeError, HashMismatchError, UnknownHashError; those of the stream and of the sink as they are, AbortError.
 */
export async function importCar(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  sink: BlockSink,
  options: CarImportOptions = {}
): Promise<CarImportResult> {
  const reader = new BoundedReader(chunks, options.carHeaderBytesMax ?? limits.carHeaderBytesMax)
  const out = new BoundedSink(sink, options)
  try {
    const { roots, end } = await readStart(reader)
    reader.bytesMax = options.carSectionBytesMax ?? limits.carSectionBytesMax
    const missing = new Map<BlockKey, CID>(roots.map((root) => [blockKey(root), root]))
    let blocks = 0
    let bytes = 0
    while (await hasMore(reader, end)) {
      throwIfAborted(options.signal)
      const section = await readSection(reader, end)
      check(section, blocks)
      if (!isIdentity(section.cid)) await out.put(section.cid, section.bytes)
      missing.delete(blockKey(section.cid))
      blocks++
      bytes += section.bytes.byteLength
      options.onProgress?.(blocks, bytes)
    }
    await out.drain()
    return { roots, blocks, bytes, missingRoots: await missingOf(missing, options) }
  } finally {
    await out.settle()
    await reader.close()
  }
}

async function missingOf(missing: Map<BlockKey, CID>, options: CarImportOptions): Promise<CID[]> {
  const found: CID[] = []
  for (const cid of missing.values()) {
    if (isIdentity(cid) || (await options.has?.(cid)) === true) continue
    found.push(cid)
  }
  return found
}

interface Start {
  readonly roots: CID[]
  /** Where the blocks end in a version 2, undefined in a version 1. */
  readonly end: number | undefined
}

async function readStart(reader: BoundedReader): Promise<Start> {
  const header = await located(reader, 0, 'header', () => readHeader(reader))
  if (header.version === 1) return { roots: header.roots, end: undefined }
  const end = header.dataOffset + header.dataSize
  if (!Number.isSafeInteger(end) || end < reader.pos) {
    throw new MalformedError(
      `the archive's header states ${header.dataSize} bytes of data at byte offset ${header.dataOffset}: less than the header in them`
    )
  }
  return { roots: header.roots, end }
}

async function hasMore(reader: BoundedReader, end: number | undefined): Promise<boolean> {
  if (end !== undefined && reader.pos >= end) return false
  if ((await reader.upTo(1)).byteLength > 0) return true
  if (end !== undefined) throw new MalformedError(`the archive ends at byte offset ${reader.pos}, but its header states data up to ${end}`)
  return false
}

async function readSection(reader: BoundedReader, end: number | undefined): Promise<Section> {
  const offset = reader.pos
  return await located(reader, offset, 'section', async () => {
    const length = await readLength(reader)
    if (length === 0) throw new MalformedError(`an empty section at byte offset ${offset} of the archive`)
    if (end !== undefined && reader.pos + length > end) {
      throw new MalformedError(`the section at byte offset ${offset} goes beyond the data's end at ${end}`)
    }
    const [cid, bytes] = CID.decodeFirst(await reader.exactly(length, true))
    return { cid, bytes: owned(bytes), offset }
  })
}

/** A section's length: a varint of at most 7 bytes, as more would be beyond any block. */
async function readLength(reader: BoundedReader): Promise<number> {
  const bytes = await reader.upTo(7)
  let length = 0
  for (const [i, byte] of bytes.entries()) {
    length += (byte & 0x7f) * 2 ** (7 * i)
    if ((byte & 0x80) !== 0) continue
    reader.seek(i + 1)
    return length
  }
  if (bytes.byteLength === 7) throw new TooLargeError(`a section of more than 2^49 bytes at byte offset ${reader.pos}`)
  throw new MalformedError(`the archive ends in the middle of a section's length at byte offset ${reader.pos + bytes.byteLength}`)
}

/** A block that is a small part of a large chunk would keep all of it in memory. */
function owned(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength * 2 < bytes.buffer.byteLength ? bytes.slice() : bytes
}

/** Runs a step of the decoder, whose own errors name neither the place nor the kind. */
async function located<T>(reader: BoundedReader, offset: number, what: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (cause) {
    if (cause instanceof ShardswapError || reader.isOfStream(cause)) throw cause
    throw new MalformedError(`invalid ${what} at byte offset ${offset} of the archive: ${messageOf(cause)}`, { cause })
  }
}

function check({ cid, bytes, offset }: Section, index: number): void {
  if (isIdentity(cid) && cid.multihash.size > identityBytesMax) {
    throw new TooLargeError(
      `identity CID of ${cid.multihash.size} bytes at byte offset ${offset} is over the bound of ${identityBytesMax} (identityBytesMax)`
    )
  }
  try {
    verify(cid, bytes)
  } catch (error) {
    const place = `block ${index + 1} of the archive, at byte offset ${offset}`
    if (error instanceof HashMismatchError) throw new HashMismatchError(`${place}: ${error.message}`, { cause: error })
    if (error instanceof Error) error.message += ` (${place})`
    throw error
  }
}
