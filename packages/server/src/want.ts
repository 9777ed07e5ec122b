import { type BlockKey, CID } from '@shardswap/interface'
import type { Ledger } from './ledger.ts'
import type { Pool } from './memory.ts'
import type { Presence, WantType } from './types.ts'

declare const cidKeyBrand: unique symbol

/** A whole CID, one character a byte: what a peer's wants are filed under. */
export type CidKey = string & { readonly [cidKeyBrand]: true }

/** The key of `cid`. Fine up to the length that a wantlist may carry. */
export function cidKey(cid: CID): CidKey {
  return String.fromCharCode.apply(null, cid.bytes as unknown as number[]) as CidKey
}

/** The key of the block that `cid` names, cut out of `key`: a CID ends in its multihash. */
function blockKeyIn(key: CidKey, cid: CID): BlockKey {
  const blockKey: string = key.slice(cid.bytes.length - cid.multihash.bytes.length)
  return blockKey as BlockKey
}

/**
 * Where a want is.
 * - `arrived`: its size is not known yet; not in the ledger.
 * - `missing`: we lack the block; the want stands until it comes.
 * - `queued`: a block or a HAVE waits to be put into an envelope.
 * - `reading`: in an envelope, not handed to the link; a cancel still stops it.
 * - `sending`: handed to the link, not known to be written.
 * - `gone`: answered, cancelled or replaced.
 */
export type WantState = 'arrived' | 'missing' | 'queued' | 'reading' | 'sending' | 'gone'

/** The wants that came in one message; they are answered together where that is possible. */
export interface Batch {
  left: number
}

/** One want of one peer, from its arrival to its end. */
export class Want {
  readonly ledger: Ledger
  readonly key: CidKey
  readonly blockKey: BlockKey
  readonly priority: number
  readonly order: number
  readonly batch: Batch
  type: WantType
  sendDontHave: boolean
  state: WantState = 'arrived'
  /** Bytes of the block; undefined while unknown or missing. */
  sizeBytes: number | undefined = undefined
  /** Undefined while the want only stands: made anew it costs a microsecond, kept it is half of what a want takes in memory. */
  #cid: CID | undefined

  constructor(
    ledger: Ledger,
    cid: CID,
    key: CidKey,
    asked: { priority: number; wantType: WantType; sendDontHave: boolean },
    order: number,
    batch: Batch
  ) {
    this.ledger = ledger
    this.#cid = cid
    this.key = key
    this.blockKey = blockKeyIn(key, cid)
    this.priority = asked.priority
    this.order = order
    this.batch = batch
    this.type = asked.wantType
    this.sendDontHave = asked.sendDontHave
  }

  /** The CID that the client named, or one that is made of the key. */
  get cid(): CID {
    return this.#cid ?? CID.decode(Uint8Array.from(this.key, (character) => character.charCodeAt(0)))
  }

  /** Its block is missing, and it may stand for long. */
  rest(): void {
    this.state = 'missing'
    this.#cid = undefined
  }
}

/** A HAVE or DONT_HAVE that waits; a HAVE belongs to a want, a DONT_HAVE may outlive its. */
export interface Announcement {
  readonly cid: CID
  readonly key: CidKey
  readonly presence: Presence
  readonly want: Want | undefined
}

/** One message on its way to one peer: blocks that are read first, and what is announced with them. */
export interface Envelope {
  readonly ledger: Ledger
  wants: readonly Want[]
  /** The bytes of each want's block, once read; undefined where it turned out to be missing. */
  blocks: (Uint8Array | undefined)[]
  /** What it counts against `responseBytesMax`, and in which part of it. */
  bytes: number
  pool: Pool
  /** What it was admitted for: a request for each want that it was made of, whatever became of those since. */
  requests: number
  /** It is being written for longer than `sendSlowMs`. */
  isLate: boolean
  /** No proven owner stands behind its peer. */
  readonly isStrangers: boolean
  /** All blocks are read. */
  ready: boolean
  /** Given up before it was sent: its blocks are let go as soon as they are read. */
  discarded: boolean
  /** Its bytes count no more. */
  released: boolean
  /** Set when it is handed to the link. */
  announcements: readonly Announcement[]
  blocksSent: number
  bytesSent: number
  startedMs: number
}

/** Wants in the order in which they are served: priority, highest first, then first come. Holds ≤ wantsPerPeerMax. */
export class WantQueue {
  readonly #wants: Want[] = []
  #bytes = 0

  get length(): number {
    return this.#wants.length
  }

  /** Bytes of all blocks in it. */
  get bytes(): number {
    return this.#bytes
  }

  first(): Want | undefined {
    return this.#wants[0]
  }

  last(): Want | undefined {
    return this.#wants.at(-1)
  }

  add(want: Want): void {
    this.#wants.splice(this.#indexOf(want), 0, want)
    this.#bytes += want.sizeBytes ?? 0
  }

  remove(want: Want): void {
    const index = this.#indexOf(want)
    if (this.#wants[index] !== want) return
    this.#wants.splice(index, 1)
    this.#bytes -= want.sizeBytes ?? 0
  }

  /** Takes from the front what fits into `bytesMax` and `wantsMax`, at least one. */
  take(bytesMax: number, wantsMax: number): Want[] {
    let bytes = 0
    let count = 0
    for (const want of this.#wants) {
      const size = want.sizeBytes ?? 0
      if (count > 0 && (bytes + size > bytesMax || count >= wantsMax)) break
      bytes += size
      count++
    }
    this.#bytes -= bytes
    return this.#wants.splice(0, count)
  }

  clear(): void {
    this.#wants.length = 0
    this.#bytes = 0
  }

  /** Where `want` is, or belongs. */
  #indexOf(want: Want): number {
    let low = 0
    let high = this.#wants.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.#wants[middle] as Want
      const before = other.priority - want.priority || want.order - other.order
      if (before > 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Bytes of the blocks that these wants ask for, as far as their sizes are known. */
export function bytesOf(wants: readonly Want[]): number {
  let bytes = 0
  for (const want of wants) bytes += want.sizeBytes ?? 0
  return bytes
}
