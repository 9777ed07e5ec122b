import { MalformedError, messageBytesMax, TooLargeError } from '@shardswap/interface'
import { lengthPrefixBytesMax, smallArrivalBytes } from './limits.ts'
import { varintBytes } from './varint.ts'
import { Writer } from './writer.ts'

const nothing = new Uint8Array(0)

/** A message behind its length, as it stands on a stream. */
export function encodeFrame(message: Uint8Array): Uint8Array {
  return new Writer(varintBytes(message.byteLength) + message.byteLength).bytes(message).take()
}

/** What may arrive: bytes, or a list of them as libp2p's streams give. */
export type Arrival = Uint8Array | Iterable<Uint8Array>

/**
 * Takes what arrives on a stream and gives whole messages, without their
 * length prefixes. Pure: it reads when asked, and holds what arrived and
 * nothing for what a prefix merely claims.
 *
 * A message that lies within one arrival is a slice of it; any other is copied
 * once, into a buffer of its own size.
 */
export class FrameDecoder {
  readonly #messageBytesMax: number
  readonly #onSpent: ((arrival: Uint8Array) => void) | undefined
  /** Arrivals not yet read; the first is read up to `#offset`. */
  #arrivals: Uint8Array[] = []
  #first = 0
  #offset = 0
  /** A message that was given out is a slice of the first arrival. */
  #isLent = false
  #bufferedBytes = 0
  /** Free space behind the last arrival, where that is ours to append to. */
  #spare: Uint8Array | undefined
  /** The length of the message whose prefix is read, and whose bytes are not. */
  #length: number | undefined

  /**
   * `onSpent` is called with each arrival, whole as it came, once all of its bytes were copied: nothing that is given out
   * lies in it.
   */
  constructor(init: { readonly messageBytesMax?: number; readonly onSpent?: (arrival: Uint8Array) => void } = {}) {
    this.#messageBytesMax = init.messageBytesMax ?? messageBytesMax
    this.#onSpent = init.onSpent
  }

  /** Bytes that arrived and are not yet given out. */
  get bufferedBytes(): number {
    return this.#bufferedBytes
  }

  /** Whether the stream may end here: no message is half read. */
  get atBorder(): boolean {
    return this.#bufferedBytes === 0 && this.#length === undefined
  }

  /** Takes what arrived; the decoder keeps a reference, so the caller must not write to it again. */
  push(arrival: Arrival): void {
    if (arrival instanceof Uint8Array) this.#append(arrival)
    else for (const bytes of arrival) this.#append(bytes)
  }

  /**
   * The messages that are complete. Stop whenever you like and ask again later.
   * Errors, after the messages before them: TooLargeError as soon as a prefix
   * claims more than the limit; MalformedError for a prefix that is longer than
   * needed or than five bytes. The stream is beyond repair then.
   */
  *frames(): Generator<Uint8Array> {
    for (;;) {
      this.#length ??= this.#readLength()
      if (this.#length === undefined || this.#length > this.#bufferedBytes) return
      const frame = this.#take(this.#length)
      this.#length = undefined
      yield frame
    }
  }

  #append(bytes: Uint8Array): void {
    const length = bytes.byteLength
    if (length === 0) return
    this.#bufferedBytes += length
    const last = this.#arrivals.length - 1
    const spare = this.#spare
    if (spare !== undefined && length <= spare.byteLength) {
      const tail = this.#arrivals[last] as Uint8Array
      spare.set(bytes)
      this.#arrivals[last] = new Uint8Array(tail.buffer, tail.byteOffset, tail.byteLength + length)
      this.#spare = spare.subarray(length)
      return
    }
    this.#spare = undefined
    const tail = last < this.#first ? undefined : this.#arrivals[last]
    if (tail === undefined || tail.byteLength + length > smallArrivalBytes) {
      this.#arrivals.push(bytes)
      return
    }
    // Two small ones in a row: from here on they are gathered, else each would cost an object and pin its buffer.
    const gathered = new Uint8Array(2 * smallArrivalBytes)
    gathered.set(tail)
    gathered.set(bytes, tail.byteLength)
    this.#arrivals[last] = gathered.subarray(0, tail.byteLength + length)
    this.#spare = gathered.subarray(tail.byteLength + length)
  }

  /** The next message's length, once its prefix is complete. */
  #readLength(): number | undefined {
    let value = 0
    let at = this.#first
    let offset = this.#offset
    for (let i = 0; i < this.#bufferedBytes; i++) {
      if (i === lengthPrefixBytesMax) throw new MalformedError('a length prefix has more than five bytes')
      const arrival = this.#arrivals[at] as Uint8Array
      const byte = arrival[offset] as number
      value += (byte & 0x7f) * 128 ** i
      if (++offset === arrival.byteLength) {
        at++
        offset = 0
      }
      if (byte < 0x80) {
        if (byte === 0 && i > 0) throw new MalformedError('a length prefix is longer than needed')
        if (value > this.#messageBytesMax) throw new TooLargeError(`a message of ${value} bytes is over the limit`)
        this.#skip(i + 1)
        return value
      }
    }
    return undefined
  }

  /** The next `length` bytes: a slice where they lie in one arrival, else a copy. */
  #take(length: number): Uint8Array {
    if (length === 0) return nothing
    const first = this.#arrivals[this.#first] as Uint8Array
    if (first.byteLength - this.#offset >= length) {
      const slice = first.subarray(this.#offset, this.#offset + length)
      this.#isLent = true
      this.#skip(length)
      return slice
    }
    const frame = new Uint8Array(length)
    let filled = 0
    while (filled < length) {
      const arrival = this.#arrivals[this.#first] as Uint8Array
      const bytes = Math.min(arrival.byteLength - this.#offset, length - filled)
      frame.set(arrival.subarray(this.#offset, this.#offset + bytes), filled)
      filled += bytes
      this.#skip(bytes)
    }
    return frame
  }

  /** Lets go of the next `bytes` bytes. */
  #skip(bytes: number): void {
    this.#bufferedBytes -= bytes
    let left = bytes
    while (left > 0) {
      const arrival = this.#arrivals[this.#first] as Uint8Array
      const rest = arrival.byteLength - this.#offset
      if (left < rest) {
        this.#offset += left
        return
      }
      left -= rest
      this.#offset = 0
      this.#arrivals[this.#first++] = nothing
      if (!this.#isLent) this.#onSpent?.(arrival)
      this.#isLent = false
    }
    if (this.#first === this.#arrivals.length) {
      this.#arrivals = []
      this.#first = 0
      this.#spare = undefined
    } else if (this.#first > 64 && this.#first * 2 > this.#arrivals.length) {
      this.#arrivals.splice(0, this.#first)
      this.#first = 0
    }
  }
}
