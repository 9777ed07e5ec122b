import { assert } from '@shardswap/interface'
import { Uint8ArrayList } from 'uint8arraylist'
import { prefixBytesOf } from './cids.ts'
import { referencedBytesMin } from './limits.ts'
import { blockBodyBytes, entryBodyBytes, presenceBodyBytes } from './sizes.ts'
import { split, type EncodeOptions, type Part } from './split.ts'
import type { BitswapVersion, OutgoingBlock, OutgoingMessage, WantlistEntry } from './types.ts'
import { hasPayload } from './versions.ts'
import { Writer } from './writer.ts'

/**
 * The frames, each with its length prefix, that say `message` to a peer on
 * `version`, made when the frame is asked for. Entries come first, then
 * presences, then blocks, as they stand in the message, which holds at most one
 * entry and one presence per CID.
 *
 * No frame is over 4 MiB, none is empty, and only the first carries `full`.
 * `pendingBytes` of each counts the blocks of the frames behind it too. Before
 * 1.1.0 there are no presences and no pending bytes, and blocks go without
 * their prefix: a receiver takes them for CIDv0.
 *
 * A large block is not copied: its bytes stand in the list as they are, and
 * must not change until the frame is written.
 *
 * Errors, thrown before any frame: TooLargeError for a block that fits into no
 * message; AssertionError for a priority or pending bytes outside an int32.
 */
export function encodeMessageLists(message: OutgoingMessage, version: BitswapVersion, options?: EncodeOptions): Generator<Uint8ArrayList> {
  return frames(split(message, version, options), hasPayload(version))
}

/** As `encodeMessageLists`, each frame in one piece of its own. */
export function encodeMessages(message: OutgoingMessage, version: BitswapVersion, options?: EncodeOptions): Generator<Uint8Array> {
  return joined(encodeMessageLists(message, version, options))
}

function* joined(lists: Iterable<Uint8ArrayList>): Generator<Uint8Array> {
  for (const list of lists) yield list.subarray()
}

function* frames(parts: readonly Part[], payload: boolean): Generator<Uint8ArrayList> {
  for (const part of parts) yield frame(part, payload)
}

function frame(part: Part, payload: boolean): Uint8ArrayList {
  const list = new Uint8ArrayList()
  let copiedBytes = part.frameBytes
  for (const { bytes } of part.blocks) if (isReferenced(bytes)) copiedBytes -= bytes.byteLength
  const writer = new Writer(copiedBytes)
  writer.uint32(part.bytes)
  writer.uint32(0x0a).uint32(part.wantlistBytes)
  for (const entry of part.entries) writeEntry(writer, entry)
  if (part.full) writer.uint32(0x10).uint32(1)
  for (const block of part.blocks) {
    const { bytes } = block
    if (payload) writeBlockHead(writer, block)
    if (!isReferenced(bytes)) {
      if (!payload || bytes.byteLength > 0) writer.uint32(0x12).bytes(bytes)
      continue
    }
    list.append(writer.uint32(0x12).uint32(bytes.byteLength).take())
    list.append(bytes)
  }
  for (const { cid, presence } of part.presences) {
    writer.uint32(0x22).uint32(presenceBodyBytes(cid, presence))
    writer.uint32(0x0a).bytes(cid.bytes)
    if (presence === 'dont-have') writer.uint32(0x10).uint32(1)
  }
  if (part.pendingBytes > 0) writer.uint32(0x28).int32(part.pendingBytes)
  const rest = writer.take()
  if (rest.byteLength > 0) list.append(rest)
  assert(list.byteLength === part.frameBytes, 'a frame has the size that was reckoned for it')
  return list
}

function isReferenced(bytes: Uint8Array): boolean {
  return bytes.byteLength >= referencedBytesMin
}

function writeEntry(writer: Writer, entry: WantlistEntry): void {
  writer.uint32(0x0a).uint32(entryBodyBytes(entry))
  writer.uint32(0x0a).bytes(entry.cid.bytes)
  if (entry.priority !== 0) writer.uint32(0x10).int32(entry.priority)
  if (entry.cancel) writer.uint32(0x18).uint32(1)
  if (entry.wantType === 'have') writer.uint32(0x20).uint32(1)
  if (entry.sendDontHave) writer.uint32(0x28).uint32(1)
}

/** What stands before a block's bytes in `payload`; the same field number holds the bytes themselves in `blocks`. */
function writeBlockHead(writer: Writer, block: OutgoingBlock): void {
  writer.uint32(0x1a).uint32(blockBodyBytes(block))
  writer.uint32(0x0a).bytes(prefixBytesOf(block.cid))
}
