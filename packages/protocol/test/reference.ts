import { fromBinary } from '@bufbuild/protobuf'
import { MessageSchema, type Message } from './generated/bitswap_pb.js'

/*
 * What a message means, worked out a second time: bytes to fields by the
 * generated codec, then go-cid's and boxo's rules written as plainly as they
 * can be, on bigints and arrays. Nothing here is shared with the decoder.
 */

/** A message as text and numbers, for comparison. */
export interface Meaning {
  readonly full: boolean
  readonly entries: { cid: string; priority: number; cancel: boolean; wantType: string; sendDontHave: boolean }[]
  readonly blocks: { prefix: string; data: string }[]
  readonly presences: { cid: string; presence: string }[]
  readonly pendingBytes: number
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}

/** The varints at the head of `bytes` by multiformats' rules, and how many bytes they take; undefined where broken. */
function varints(bytes: Uint8Array, count: number): { values: bigint[]; end: number } | undefined {
  const values: bigint[] = []
  let at = 0
  for (let n = 0; n < count; n++) {
    const start = at
    let value = 0n
    for (;;) {
      const byte = bytes[at]
      if (byte === undefined || at - start === 9) return undefined
      value |= BigInt(byte & 0x7f) << BigInt(7 * (at - start))
      at++
      if (byte < 0x80) break
    }
    if (at - start > 1 && bytes[at - 1] === 0) return undefined
    values.push(value)
  }
  return { values, end: at }
}

type CidVerdict = 'broken' | 'skipped' | 'good'

function judgeCid(bytes: Uint8Array): CidVerdict {
  if (bytes.length > 2 && bytes[0] === 0x12 && bytes[1] === 32) return bytes.length === 34 ? 'good' : 'broken'
  const head = varints(bytes, 4)
  if (head === undefined) return 'broken'
  const [version = 0n, codec = 0n, hash = 0n, length = 0n] = head.values
  if (version !== 1n || BigInt(bytes.length - head.end) !== length) return 'broken'
  const fits = codec <= BigInt(Number.MAX_SAFE_INTEGER) && hash <= BigInt(Number.MAX_SAFE_INTEGER)
  return bytes.length > 168 || hash === 0n || !fits ? 'skipped' : 'good'
}

/** The four numbers of a prefix, 'broken', or undefined where they are too large for ours. */
function judgePrefix(bytes: Uint8Array): string | undefined {
  const head = varints(bytes, 4)
  if (head === undefined) return 'broken'
  const [version = 0n, codec = 0n, hash = 0n, length = 0n] = head.values
  if (version > 1n) return 'broken'
  if (version === 0n) return hash === 0x12n && length === 32n ? '0,112,18,32' : 'broken'
  if (head.values.some((value) => value > BigInt(Number.MAX_SAFE_INTEGER))) return undefined
  return [version, codec, hash, length].join(',')
}

function mergeEntries(message: Message): Meaning['entries'] | undefined {
  const merged: { cid: string; priority: number; cancel: boolean; type: number; sendDontHave: boolean }[] = []
  for (const { block, priority, cancel, wantType, sendDontHave } of message.wantlist?.entries ?? []) {
    const verdict = judgeCid(block)
    if (verdict === 'broken') return undefined
    if (verdict === 'skipped') continue
    const cid = toHex(block)
    const type: number = wantType
    const known = merged.find((entry) => entry.cid === cid)
    if (known === undefined) {
      merged.push({ cid, priority, cancel, type, sendDontHave })
      continue
    }
    if (known.type === type) known.priority = priority
    known.cancel ||= cancel
    known.sendDontHave ||= sendDontHave
    if (known.type === 1 && type === 0) known.type = 0
  }
  return merged.map(({ cid, priority, cancel, type, sendDontHave }) => {
    return { cid, priority, cancel, wantType: type === 0 ? 'block' : 'have', sendDontHave }
  })
}

function mergePresences(message: Message): Meaning['presences'] | undefined {
  const merged = new Map<string, number>()
  for (const { cid, type } of message.blockPresences) {
    const verdict = judgeCid(cid)
    if (verdict === 'broken') return undefined
    if (verdict === 'skipped') continue
    const known: number = type
    if (known === 0 || known === 1) merged.set(toHex(cid), known)
    else merged.delete(toHex(cid))
  }
  return Array.from(merged, ([cid, type]) => ({ cid, presence: type === 0 ? 'have' : 'dont-have' }))
}

/** What boxo makes of a message that the generated codec has read; undefined where it refuses it. */
export function meaningOf(message: Message): Meaning | undefined {
  const entries = mergeEntries(message)
  const presences = mergePresences(message)
  if (entries === undefined || presences === undefined) return undefined
  const blocks = message.blocks.map((data) => ({ prefix: '0,112,18,32', data: toHex(data) }))
  for (const { prefix, data } of message.payload) {
    const judged = judgePrefix(prefix)
    if (judged === 'broken') return undefined
    if (judged !== undefined) blocks.push({ prefix: judged, data: toHex(data) })
  }
  return { full: message.wantlist?.full ?? false, entries, blocks, presences, pendingBytes: Math.max(0, message.pendingBytes) }
}

/** The known fields of each submessage by number: `v` a varint, `b` bytes, else the name of a submessage. */
const schema: Record<string, readonly string[]> = {
  message: ['', 'wantlist', 'b', 'block', 'presence', 'v'],
  wantlist: ['', 'entry', 'v'],
  entry: ['', 'b', 'v', 'v', 'v', 'v'],
  block: ['', 'b', 'b'],
  presence: ['', 'b', 'v'],
  unknown: []
}

class Broken extends Error {}

/**
 * Walks over the fields of a message by the rules of Go's protobuf, and says
 * whether each known one has the wire type of its kind. The generated codec is
 * no judge of the rest: it reads on where Go takes such a field for unknown,
 * and where a field runs past the end of what holds it, Go refuses all.
 * Throws Broken where Go does.
 */
class Walk {
  foreign = false
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** To the end of the bytes, or of the group with this number. */
  fields(kind: string, group?: bigint): void {
    while (this.#at < this.#bytes.length) {
      const tag = this.#varint()
      const field = tag >> 3n
      if (field < 1n || field >= 1n << 29n) throw new Broken()
      const wireType = Number(tag & 7n)
      if (wireType === 4) {
        if (field !== group) throw new Broken()
        return
      }
      const known = schema[kind]?.[Number(field)]
      if (known !== undefined && wireType !== (known === 'v' ? 0 : 2)) this.foreign = true
      this.#value(wireType, field, known)
    }
    if (group !== undefined) throw new Broken()
  }

  #value(wireType: number, field: bigint, known: string | undefined): void {
    if (wireType === 0) this.#varint()
    else if (wireType === 1) this.#take(8n)
    else if (wireType === 2) this.#submessage(this.#take(this.#varint()), known)
    else if (wireType === 3) this.fields('unknown', field)
    else if (wireType === 5) this.#take(4n)
    else throw new Broken()
  }

  #submessage(bytes: Uint8Array, known: string | undefined): void {
    if (known === undefined || known.length < 2) return
    const walk = new Walk(bytes)
    walk.fields(known)
    this.foreign ||= walk.foreign
  }

  #take(length: bigint): Uint8Array {
    if (length > BigInt(this.#bytes.length - this.#at)) throw new Broken()
    const taken = this.#bytes.subarray(this.#at, this.#at + Number(length))
    this.#at += Number(length)
    return taken
  }

  #varint(): bigint {
    let value = 0n
    for (let i = 0n; i < 10n; i++) {
      const byte = this.#take(1n)[0] ?? 0
      value |= BigInt(byte & 0x7f) << (7n * i)
      if (byte < 0x80) {
        if (value >= 1n << 64n) break
        return value
      }
    }
    throw new Broken()
  }
}

/** The meaning of bytes; `refused` as Go would; `unknown` where the generated codec is no judge. */
export function reference(bytes: Uint8Array): Meaning | 'refused' | 'unknown' {
  const walk = new Walk(bytes)
  try {
    walk.fields('message')
  } catch (error) {
    if (error instanceof Broken) return 'refused'
    throw error
  }
  if (walk.foreign) return 'unknown'
  let message: Message
  try {
    message = fromBinary(MessageSchema, bytes)
  } catch {
    // It refuses tags and lengths in more bytes than they need, and groups 100 deep; Go does not.
    return 'unknown'
  }
  return meaningOf(message) ?? 'refused'
}
