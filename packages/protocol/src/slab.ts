import { slabBytesMax } from './limits.ts'

/**
 * Copies of small things of one message, many to a buffer: a buffer each would
 * cost more than what is in it. None pins more than `slabBytesMax`, and a
 * message of few pins no more than itself.
 */
export class Slab {
  #free: Uint8Array = new Uint8Array(0)

  /** A copy of `bytes[start, end)`; `left` is how many bytes of copies may still come, this one included. */
  copy(bytes: Uint8Array, start: number, end: number, left: number): Uint8Array {
    const length = end - start
    if (this.#free.byteLength < length) this.#free = new Uint8Array(Math.max(length, Math.min(slabBytesMax, left)))
    const copy = this.#free.subarray(0, length)
    copy.set(bytes.subarray(start, end))
    this.#free = this.#free.subarray(length)
    return copy
  }
}
