/**
 * Bitswap messages written and read by hand, from the protocol's text, so that
 * these tests do not share a mistake with our codec.
 */
import { createHash } from 'node:crypto'

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts))
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

/** An unsigned varint; negative int32s take ten bytes, as protobuf writes them. */
export function varint(value: number): Uint8Array {
  let rest = BigInt.asUintN(64, BigInt(value))
  const out: number[] = []
  while (rest >= 0x80n) {
    out.push(Number(rest & 0x7fn) | 0x80)
    rest >>= 7n
  }
  out.push(Number(rest))
  return Uint8Array.from(out)
}

function numberField(field: number, value: number): Uint8Array {
  return concat(varint(field << 3), varint(value))
}

function bytesField(field: number, bytes: Uint8Array): Uint8Array {
  return concat(varint((field << 3) | 2), varint(bytes.length), bytes)
}

/** Length prefix and message. */
export function framed(message: Uint8Array): Uint8Array {
  return concat(varint(message.length), message)
}

export function sha256(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash('sha256').update(bytes).digest())
}

/** Bytes that differ for each seed and each size, and compress badly. */
export function seeded(seed: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  let state = (seed * 2654435761 + size) >>> 0 || 1
  for (let at = 0; at < size; at++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    bytes[at] = state
  }
  return bytes
}

/** CIDv1, raw, sha2-256. */
export function rawCid(bytes: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(0x01, 0x55, 0x12, 0x20), sha256(bytes))
}

/** CIDv0: a bare sha2-256 multihash. */
export function v0Cid(bytes: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(0x12, 0x20), sha256(bytes))
}

export interface Entry {
  readonly cid: Uint8Array
  readonly priority?: number
  readonly cancel?: boolean
  readonly have?: boolean
  readonly sendDontHave?: boolean
}

/** A wantlist entry, fields at their defaults left out as Go does. */
function entryBytes(entry: Entry): Uint8Array {
  return concat(
    bytesField(1, entry.cid),
    numberField(2, entry.priority ?? 1),
    entry.cancel ? numberField(3, 1) : new Uint8Array(0),
    entry.have ? numberField(4, 1) : new Uint8Array(0),
    entry.sendDontHave ? numberField(5, 1) : new Uint8Array(0)
  )
}

/** A framed message that holds a wantlist only. */
export function wantlist(entries: readonly Entry[], full = false): Uint8Array {
  const list = concat(...entries.map((entry) => bytesField(1, entryBytes(entry))), full ? numberField(2, 1) : new Uint8Array(0))
  return framed(bytesField(1, list))
}

/**
 * A framed wantlist of `count` wants for blocks that do not exist, from number
 * `from` on; written in one go, since floods are made of these.
 */
export function wantlistOfNothing(from: number, count: number, over: { have: boolean; sendDontHave: boolean }): Uint8Array {
  // An entry: CID (38 bytes with tag and length), priority (6), wantType (2), sendDontHave (2).
  const entry = Buffer.alloc(50)
  entry.set([0x0a, 48, 0x0a, 36, 0x01, 0x55, 0x12, 0x20])
  entry.set([0x10, 0x80, 0x80, 0x80, 0x80, 0x01], 40)
  entry.set([0x20, over.have ? 1 : 0, 0x28, over.sendDontHave ? 1 : 0], 46)
  const list = Buffer.alloc(entry.length * count)
  for (let index = 0; index < count; index++) {
    entry.copy(list, index * entry.length)
    list.writeUInt32BE(from + index + 1, index * entry.length + 8)
  }
  return framed(bytesField(1, list))
}

/** A framed message of blocks: each a prefix and its data. */
export function payload(blocks: readonly { prefix: Uint8Array; data: Uint8Array }[]): Uint8Array {
  const parts = blocks.map(({ prefix, data }) => bytesField(3, concat(bytesField(1, prefix), bytesField(2, data))))
  return framed(concat(bytesField(1, new Uint8Array(0)), ...parts))
}

/** The prefix of `rawCid`. */
export const rawPrefix = Uint8Array.of(0x01, 0x55, 0x12, 0x20)

/** A framed message of presences: 0 is HAVE, 1 is DONT_HAVE. */
export function presences(all: readonly { cid: Uint8Array; type: 0 | 1 }[]): Uint8Array {
  const parts = all.map(({ cid, type }) => bytesField(4, concat(bytesField(1, cid), type ? numberField(2, 1) : new Uint8Array(0))))
  return framed(concat(bytesField(1, new Uint8Array(0)), ...parts))
}

/** A message as it lies on the wire, fields in hex. */
export interface Parsed {
  readonly hasWantlist: boolean
  readonly entries: Entry[]
  readonly full: boolean
  /** Field 2: blocks without a prefix. */
  readonly oldBlocks: Uint8Array[]
  /** Field 3. */
  readonly payload: { prefix: string; data: Uint8Array }[]
  readonly presences: { cid: string; type: number }[]
  readonly pendingBytes: number | undefined
  readonly bytes: number
}

type Field = { readonly field: number; readonly number: number; readonly bytes: Uint8Array }

export function readVarint(bytes: Uint8Array, at: number): { value: number; next: number } | undefined {
  let value = 0
  for (let index = at; index < bytes.length; index++) {
    const byte = bytes[index] as number
    value += (byte & 0x7f) * 2 ** (7 * (index - at))
    if (byte < 0x80) return { value, next: index + 1 }
  }
  return undefined
}

function* fields(bytes: Uint8Array): Generator<Field> {
  let at = 0
  while (at < bytes.length) {
    const tag = readVarint(bytes, at)
    const value = tag && readVarint(bytes, tag.next)
    if (!tag || !value) throw new Error('a message that ends within a field')
    const field = tag.value >>> 3
    if ((tag.value & 7) === 2) {
      at = value.next + value.value
      if (at > bytes.length) throw new Error('a field that is longer than its message')
      yield { field, number: 0, bytes: bytes.subarray(value.next, at) }
    } else if ((tag.value & 7) === 0) {
      at = value.next
      yield { field, number: value.value, bytes: new Uint8Array(0) }
    } else throw new Error('a wire type that Bitswap does not use')
  }
}

function parseEntry(bytes: Uint8Array): Entry {
  const entry = { cid: new Uint8Array(0), priority: 0, cancel: false, have: false, sendDontHave: false }
  for (const { field, number, bytes: value } of fields(bytes)) {
    if (field === 1) entry.cid = Uint8Array.from(value)
    if (field === 2) entry.priority = number
    if (field === 3) entry.cancel = number === 1
    if (field === 4) entry.have = number === 1
    if (field === 5) entry.sendDontHave = number === 1
  }
  return entry
}

/** Reads a message without its length prefix. */
export function parse(message: Uint8Array): Parsed {
  const entries: Entry[] = []
  const oldBlocks: Uint8Array[] = []
  const payload: { prefix: string; data: Uint8Array }[] = []
  const presences: { cid: string; type: number }[] = []
  let hasWantlist = false
  let full = false
  let pendingBytes: number | undefined
  for (const { field, number, bytes } of fields(message)) {
    if (field === 1) {
      hasWantlist = true
      for (const inner of fields(bytes)) {
        if (inner.field === 1) entries.push(parseEntry(inner.bytes))
        if (inner.field === 2) full = inner.number === 1
      }
    } else if (field === 2) oldBlocks.push(bytes)
    else if (field === 3) {
      const [prefix, data] = pair(bytes)
      payload.push({ prefix: hex(prefix), data })
    } else if (field === 4) {
      const presence = { cid: '', type: 0 }
      for (const inner of fields(bytes)) {
        if (inner.field === 1) presence.cid = hex(inner.bytes)
        if (inner.field === 2) presence.type = inner.number
      }
      presences.push(presence)
    } else if (field === 5) pendingBytes = number
    else throw new Error(`field ${field}, which Bitswap does not have`)
  }
  return { hasWantlist, entries, full, oldBlocks, payload, presences, pendingBytes, bytes: message.length }
}

function pair(bytes: Uint8Array): [Uint8Array, Uint8Array] {
  const parts: [Uint8Array, Uint8Array] = [new Uint8Array(0), new Uint8Array(0)]
  for (const { field, bytes: value } of fields(bytes)) {
    if (field === 1) parts[0] = value
    if (field === 2) parts[1] = value
  }
  return parts
}
