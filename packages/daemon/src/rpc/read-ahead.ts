/**
 * How far calls may read ahead of clients that read slowly, all together: what a client does not take is held here, and
 * a hundred such clients would each hold what one may.
 */
export class ReadAhead {
  #freeBytes: number
  readonly #leastBytes: number

  /** Bytes in all; and what a call has where the others have taken nearly all. */
  constructor(bytesMax: number, leastBytes: number) {
    this.#freeBytes = bytesMax
    this.#leastBytes = leastBytes
  }

  /** Half of what is free: the first reader has the most, and there is always some for the next. */
  take(): ReadAheadShare {
    const bytes = Math.max(this.#leastBytes, Math.floor(this.#freeBytes / 2))
    this.#freeBytes -= bytes
    let isTaken = true
    return {
      bytes,
      release: () => {
        if (isTaken) this.#freeBytes += bytes
        isTaken = false
      }
    }
  }
}

/** What one call may read ahead, until it is given back. */
export interface ReadAheadShare {
  readonly bytes: number
  release(): void
}
