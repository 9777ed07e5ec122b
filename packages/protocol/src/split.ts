import { assert, messageBytesMax, TooLargeError } from '@shardswap/interface'
import { blockBodyBytes, entryBodyBytes, fieldBytes, presenceBodyBytes } from './sizes.ts'
import type { BitswapVersion, OutgoingBlock, OutgoingMessage, WantlistEntry } from './types.ts'
import { varintBytes } from './varint.ts'
import { hasPayload } from './versions.ts'

const int32Max = 0x7fffffff
const fullBytes = 2

/** How messages are to be cut. */
export interface EncodeOptions {
  /**
   * Bytes of a message above which the rest goes into another; 4 MiB by
   * default and at most. A lone block may exceed it, up to 4 MiB.
   */
  readonly messageBytesTarget?: number
}

type OutgoingPresence = NonNullable<OutgoingMessage['presences']>[number]

/** One message of a split, with the sizes that its encoder needs. */
export interface Part {
  readonly full: boolean
  readonly entries: WantlistEntry[]
  readonly presences: OutgoingPresence[]
  readonly blocks: OutgoingBlock[]
  pendingBytes: number
  /** Bytes of the `wantlist` submessage, of the message, and of the message with its length prefix. */
  wantlistBytes: number
  bytes: number
  frameBytes: number
}

/** Deals a message out to parts in order, each as full as its limit allows. */
class Splitter {
  readonly parts: Part[] = []
  readonly #bytesTarget: number
  readonly #pending: boolean
  /** What is still unsent behind the last item that was added. */
  #pendingBytes: number
  #full: boolean
  #part: Part | undefined
  /** Bytes of the part's items outside its wantlist. */
  #otherBytes = 0

  constructor(bytesTarget: number, full: boolean, pendingBytes: number, pending: boolean) {
    this.#bytesTarget = bytesTarget
    this.#full = full
    this.#pendingBytes = pendingBytes
    this.#pending = pending
  }

  /** The part that takes an item of so many bytes in its wantlist or beside it. */
  partFor(wantlistBytes: number, otherBytes: number, blockBytes: number): Part {
    this.#pendingBytes -= blockBytes
    if (this.#part !== undefined) {
      const grown = this.#reckon(this.#part.wantlistBytes + wantlistBytes, this.#otherBytes + otherBytes)
      if (grown <= this.#bytesTarget) return this.#grow(this.#part, wantlistBytes, otherBytes, grown)
    }
    const part: Part = {
      full: this.#full,
      entries: [],
      presences: [],
      blocks: [],
      pendingBytes: 0,
      wantlistBytes: this.#full ? fullBytes : 0,
      bytes: 0,
      frameBytes: 0
    }
    this.#otherBytes = 0
    const alone = this.#reckon(part.wantlistBytes + wantlistBytes, otherBytes)
    if (alone > messageBytesMax) throw new TooLargeError(`a block of ${blockBytes} bytes fits into no Bitswap message`)
    this.#full = false
    this.#part = part
    this.parts.push(part)
    return this.#grow(part, wantlistBytes, otherBytes, alone)
  }

  #grow(part: Part, wantlistBytes: number, otherBytes: number, bytes: number): Part {
    this.#otherBytes += otherBytes
    part.wantlistBytes += wantlistBytes
    part.pendingBytes = this.#pendingValue()
    part.bytes = bytes
    part.frameBytes = varintBytes(bytes) + bytes
    return part
  }

  /** Bytes of a message. The wantlist is written even where it is empty: older Kubo panics without it. */
  #reckon(wantlistBytes: number, otherBytes: number): number {
    const pending = this.#pendingValue()
    return fieldBytes(wantlistBytes) + otherBytes + (pending === 0 ? 0 : 1 + varintBytes(pending))
  }

  #pendingValue(): number {
    return this.#pending ? Math.min(int32Max, this.#pendingBytes) : 0
  }
}

/** The parts of `message` for a peer on `version`; none where nothing is left to say. Errors: as `encodeMessages`. */
export function split(message: OutgoingMessage, version: BitswapVersion, options?: EncodeOptions): Part[] {
  const { full = false, entries = [], presences = [], blocks = [], pendingBytes = 0 } = message
  const payload = hasPayload(version)
  assert(pendingBytes >= 0 && (pendingBytes | 0) === pendingBytes, 'pendingBytes is an int32 that is not negative')
  const bytesTarget = Math.min(options?.messageBytesTarget ?? messageBytesMax, messageBytesMax)
  const blockBytes = blocks.reduce((sum, block) => sum + block.bytes.byteLength, 0)
  const splitter = new Splitter(bytesTarget, full, pendingBytes + blockBytes, payload)
  for (const entry of entries) {
    assert((entry.priority | 0) === entry.priority, 'a priority is an int32')
    splitter.partFor(fieldBytes(entryBodyBytes(entry)), 0, 0).entries.push(entry)
  }
  if (payload) {
    for (const presence of presences) {
      splitter.partFor(0, fieldBytes(presenceBodyBytes(presence.cid, presence.presence)), 0).presences.push(presence)
    }
  }
  for (const block of blocks) {
    const bytes = fieldBytes(payload ? blockBodyBytes(block) : block.bytes.byteLength)
    splitter.partFor(0, bytes, block.bytes.byteLength).blocks.push(block)
  }
  return splitter.parts
}
