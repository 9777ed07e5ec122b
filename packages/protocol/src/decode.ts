import { TooLargeError, type CID } from '@shardswap/interface'
import { reader as createReader, type Reader } from 'protons-runtime'
import { readCid, readPrefix, v0Prefix } from './cids.ts'
import { defaultDecodeLimits } from './limits.ts'
import { Merge } from './merge.ts'
import { Slab } from './slab.ts'
import type { DecodedMessage, DecodeLimits, WireBlock } from './types.ts'
import { readBool, readEnd, readInt32, readTag, skipField } from './varint.ts'

// A field's number times eight, plus its wire type: 0 a varint, 2 bytes with a length.
const messageWantlist = 0x0a
const messageBlocks = 0x12
const messagePayload = 0x1a
const messagePresences = 0x22
const messagePendingBytes = 0x28
const wantlistEntries = 0x0a
const wantlistFull = 0x10
const entryCid = 0x0a
const entryPriority = 0x10
const entryCancel = 0x18
const entryWantType = 0x20
const entrySendDontHave = 0x28
const blockPrefix = 0x0a
const blockData = 0x12
const presenceCid = 0x0a
const presenceType = 0x10

/** What is read so far. */
interface Draft {
  readonly reader: Reader
  readonly limits: DecodeLimits
  readonly merge: Merge
  readonly slab: Slab
  readonly rawBlocks: WireBlock[]
  readonly payload: WireBlock[]
  full: boolean
  pendingBytes: number
  skippedBlocks: number
}

/**
 * One message of a peer, without its length prefix, merged by Go's rules
 * (docs/wire-protocol.md). Block data are slices of `bytes`: pass them through
 * `keep` before they outlive it; CIDs are copies. What a limit cuts off is
 * counted in `skipped`.
 *
 * Errors, each where Go too loses the whole message: TooLargeError above
 * `messageBytesMax`; MalformedError for broken protobuf, for an entry or a
 * presence without a CID or with an undecodable one, for an undecodable prefix.
 */
export function decodeMessage(bytes: Uint8Array, limits?: Partial<DecodeLimits>): DecodedMessage {
  const all = limits === undefined ? defaultDecodeLimits : { ...defaultDecodeLimits, ...limits }
  if (bytes.byteLength > all.messageBytesMax) throw new TooLargeError(`a message of ${bytes.byteLength} bytes is over the limit`)
  const draft: Draft = {
    reader: createReader(plain(bytes)),
    limits: all,
    merge: new Merge(all),
    slab: new Slab(),
    rawBlocks: [],
    payload: [],
    full: false,
    pendingBytes: 0,
    skippedBlocks: 0
  }
  readMessage(draft)
  const { merge, rawBlocks, payload } = draft
  return {
    full: draft.full,
    entries: merge.entries(),
    blocks: rawBlocks.length === 0 ? payload : rawBlocks.concat(payload),
    presences: merge.presences(),
    pendingBytes: Math.max(0, draft.pendingBytes),
    skipped: { entries: merge.skippedEntries, presences: merge.skippedPresences, blocks: draft.skippedBlocks }
  }
}

/** A Buffer's slices are Buffers, and their `slice` is a view where others expect a copy. */
function plain(bytes: Uint8Array): Uint8Array {
  return bytes.constructor === Uint8Array ? bytes : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function readMessage(draft: Draft): void {
  const { reader } = draft
  const end = reader.len
  while (reader.pos < end) {
    const tag = readTag(reader)
    switch (tag) {
      case messageWantlist:
        within(draft, readWantlist)
        break
      case messageBlocks:
        readRawBlock(draft)
        break
      case messagePayload:
        within(draft, readBlock)
        break
      case messagePresences:
        within(draft, readPresence)
        break
      case messagePendingBytes:
        draft.pendingBytes = readInt32(reader)
        break
      default:
        skipField(reader, tag)
    }
  }
}

/** Runs `read` with the reader narrowed to the submessage at its position, and leaves it behind that. */
function within(draft: Draft, read: (draft: Draft) => void): void {
  const { reader } = draft
  const outer = reader.len
  const end = readEnd(reader)
  reader.len = end
  read(draft)
  reader.pos = end
  reader.len = outer
}

function readWantlist(draft: Draft): void {
  const { reader } = draft
  const end = reader.len
  while (reader.pos < end) {
    const tag = readTag(reader)
    if (tag === wantlistEntries) within(draft, readEntry)
    else if (tag === wantlistFull) draft.full = readBool(reader)
    else skipField(reader, tag)
  }
}

function readEntry(draft: Draft): void {
  const { reader } = draft
  const end = reader.len
  let cidAt = end
  let cidEnd = end
  let priority = 0
  let cancel = false
  let wantType = 0
  let sendDontHave = false
  while (reader.pos < end) {
    const tag = readTag(reader)
    switch (tag) {
      case entryCid:
        cidEnd = readEnd(reader)
        cidAt = reader.pos
        reader.pos = cidEnd
        break
      case entryPriority:
        priority = readInt32(reader)
        break
      case entryCancel:
        cancel = readBool(reader)
        break
      case entryWantType:
        wantType = readInt32(reader)
        break
      case entrySendDontHave:
        sendDontHave = readBool(reader)
        break
      default:
        skipField(reader, tag)
    }
  }
  const cid = cidWithin(draft, cidAt, cidEnd)
  if (cid === undefined) draft.merge.skippedEntries++
  else draft.merge.addEntry(cid, priority, cancel, wantType, sendDontHave)
}

function cidWithin(draft: Draft, start: number, end: number): CID | undefined {
  const { reader } = draft
  reader.pos = start
  reader.len = end
  return readCid(reader, draft.limits.cidBytesMax, draft.slab)
}

function readRawBlock(draft: Draft): void {
  const { reader } = draft
  const end = readEnd(reader)
  addBlock(draft, draft.rawBlocks, { prefix: v0Prefix, data: reader.buf.subarray(reader.pos, end) })
  reader.pos = end
}

function readBlock(draft: Draft): void {
  const { reader } = draft
  const end = reader.len
  let prefixAt = end
  let prefixEnd = end
  let dataAt = end
  let dataEnd = end
  while (reader.pos < end) {
    const tag = readTag(reader)
    if (tag === blockPrefix) {
      prefixEnd = readEnd(reader)
      prefixAt = reader.pos
      reader.pos = prefixEnd
    } else if (tag === blockData) {
      dataEnd = readEnd(reader)
      dataAt = reader.pos
      reader.pos = dataEnd
    } else {
      skipField(reader, tag)
    }
  }
  reader.pos = prefixAt
  reader.len = prefixEnd
  const prefix = readPrefix(reader)
  if (prefix === undefined) draft.skippedBlocks++
  else addBlock(draft, draft.payload, { prefix, data: reader.buf.subarray(dataAt, dataEnd) })
}

function addBlock(draft: Draft, to: WireBlock[], block: WireBlock): void {
  if (draft.rawBlocks.length + draft.payload.length >= draft.limits.blocksMax) draft.skippedBlocks++
  else to.push(block)
}

function readPresence(draft: Draft): void {
  const { reader } = draft
  const end = reader.len
  let cidAt = end
  let cidEnd = end
  let type = 0
  while (reader.pos < end) {
    const tag = readTag(reader)
    if (tag === presenceCid) {
      cidEnd = readEnd(reader)
      cidAt = reader.pos
      reader.pos = cidEnd
    } else if (tag === presenceType) {
      type = readInt32(reader)
    } else {
      skipField(reader, tag)
    }
  }
  const cid = cidWithin(draft, cidAt, cidEnd)
  if (cid === undefined) draft.merge.skippedPresences++
  else draft.merge.addPresence(cid, type)
}
