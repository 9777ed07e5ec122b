/**
 * One direction of a link, as a schedule: bytes go in when they were read, and come out when they are due.
 * It reads no clock and touches no socket: `nowMs` and `random` are arguments.
 */

/** What a direction does to the bytes that pass it. */
export interface Shape {
  /** How long each byte is on its way, in milliseconds. */
  readonly delayMs: number
  /** What is added to the delay of each read, at random from 0 to this, in milliseconds. Bytes keep their order: a read never overtakes the one before. */
  readonly jitterMs: number
  /** Bytes a second; Infinity: no limit. */
  readonly bytesPerS: number
  /** Bytes that are held at most; above it nothing is read, so that the sender feels it. */
  readonly heldBytesMax: number
}

/**
 * No limit. Held are 32 MiB at most: what 1.3 GB/s put into 25 ms, and twice what a Yamux
 * stream's window lets be on its way.
 */
export const openShape: Shape = { delayMs: 0, jitterMs: 0, bytesPerS: Number.POSITIVE_INFINITY, heldBytesMax: 32 * 1024 * 1024 }

/**
 * How much a limited rate may have waiting before it, in milliseconds of that rate: a router's queue, and what
 * keeps the line full while a busy machine lets the relay wait. Nothing is read above it.
 */
export const queueMsMax = 50

/** Below this much waiting, reading goes on, in milliseconds. */
const queueMsLow = 25

/** At a limited rate bytes leave in parts of so many milliseconds of that rate, not in whole reads: a smooth flow. */
const partMs = 2
const partBytesMin = 1024
const partBytesMax = 64 * 1024

/** Reads and parts that are held at most, however small each is. */
const heldPartsMax = 65_536

/** A line of a bounded rate that passes one byte after another; several lanes may share one. */
export class Line {
  #bytesPerS: number
  #freeMs = Number.NEGATIVE_INFINITY

  constructor(bytesPerS: number) {
    this.#bytesPerS = bytesPerS
  }

  get bytesPerS(): number {
    return this.#bytesPerS
  }

  /** From now on at this rate; what has been given to the line keeps its time. */
  setRate(bytesPerS: number): void {
    this.#bytesPerS = bytesPerS
  }

  /** When the last of `bytes` bytes that arrive at `nowMs` has passed. */
  pass(bytes: number, nowMs: number): number {
    if (this.#bytesPerS === Number.POSITIVE_INFINITY) return Math.max(nowMs, this.#freeMs)
    this.#freeMs = Math.max(nowMs, this.#freeMs) + (bytes / this.#bytesPerS) * 1000
    return this.#freeMs
  }

  /** When all that was given to it will have passed. */
  get freeMs(): number {
    return this.#freeMs
  }
}

interface Held {
  readonly bytes: Uint8Array
  readonly dueMs: number
}

/** First in, first out: lines, then the delay, then the way out. */
export class Lane {
  #shape: Shape
  readonly #own: Line
  readonly #shared: Line | undefined
  #held: (Held | undefined)[] = []
  #head = 0
  #heldBytes = 0
  #lastDueMs = Number.NEGATIVE_INFINITY
  #full = false
  #stalled = false

  constructor(shape: Shape, shared?: Line) {
    this.#shape = shape
    this.#own = new Line(shape.bytesPerS)
    this.#shared = shared
  }

  /** Bytes that went in and did not come out. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  get empty(): boolean {
    return this.#head === this.#held.length
  }

  /** Another shape for what comes in from now on. A shorter delay lets nothing overtake. */
  reshape(shape: Shape): void {
    this.#shape = shape
    this.#own.setRate(shape.bytesPerS)
  }

  /** Lets nothing out until `stall(false)`; what fell due meanwhile comes out then. */
  stall(stalled: boolean): void {
    this.#stalled = stalled
  }

  /** Takes what was read at `nowMs`; keeps the bytes without a copy. `random` is uniform in [0, 1). */
  put(bytes: Uint8Array, nowMs: number, random: number): void {
    const { delayMs, jitterMs } = this.#shape
    const wayMs = delayMs + jitterMs * random
    const partBytes = this.#partBytes()
    for (let from = 0; from < bytes.byteLength; from += partBytes) {
      const part = bytes.byteLength <= partBytes ? bytes : bytes.subarray(from, from + partBytes)
      const passedMs = Math.max(this.#shared?.pass(part.byteLength, nowMs) ?? nowMs, this.#own.pass(part.byteLength, nowMs))
      this.#lastDueMs = Math.max(this.#lastDueMs, passedMs + wayMs)
      this.#held.push({ bytes: part, dueMs: this.#lastDueMs })
    }
    this.#heldBytes += bytes.byteLength
  }

  #partBytes(): number {
    const bytesPerS = Math.min(this.#own.bytesPerS, this.#shared?.bytesPerS ?? Number.POSITIVE_INFINITY)
    if (bytesPerS === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY
    return Math.min(partBytesMax, Math.max(partBytesMin, Math.round((bytesPerS * partMs) / 1000)))
  }

  /** What is due at `nowMs`, in order, until it is at least `bytesMax` bytes. */
  take(nowMs: number, bytesMax: number): Uint8Array[] {
    const parts: Uint8Array[] = []
    let bytes = 0
    while (!this.#stalled && bytes < bytesMax) {
      const next = this.#held[this.#head]
      if (next === undefined || next.dueMs > nowMs) break
      parts.push(next.bytes)
      bytes += next.bytes.byteLength
      // What was taken shall not be kept alive by the list.
      this.#held[this.#head] = undefined
      this.#head += 1
    }
    this.#heldBytes -= bytes
    this.#compact()
    return parts
  }

  #compact(): void {
    if (this.empty) {
      this.#held = []
      this.#head = 0
    } else if (this.#head >= 64 && this.#head * 2 >= this.#held.length) {
      this.#held = this.#held.slice(this.#head)
      this.#head = 0
    }
  }

  /** When the next bytes are due; Infinity: none are, or it is stalled. */
  get dueMs(): number {
    return this.#stalled ? Number.POSITIVE_INFINITY : (this.#held[this.#head]?.dueMs ?? Number.POSITIVE_INFINITY)
  }

  /** Whether the source may be read now. `waitingBytes` came out and are not yet sent on. */
  mayRead(nowMs: number, waitingBytes: number): boolean {
    const heldBytes = this.#heldBytes + waitingBytes
    const heldParts = this.#held.length - this.#head
    const { heldBytesMax } = this.#shape
    if (heldBytes >= heldBytesMax || heldParts >= heldPartsMax || this.#waitMs(nowMs) > queueMsMax) this.#full = true
    else if (heldBytes <= heldBytesMax / 2 && heldParts <= heldPartsMax / 2 && this.readMs <= nowMs) this.#full = false
    return !this.#full
  }

  /** When the lines have passed enough of what waits before them for the source to be read again. */
  get readMs(): number {
    // Others keep a shared line at its bound: whoever waited for less would wait for them.
    return Math.max(this.#own.freeMs - queueMsLow, (this.#shared?.freeMs ?? Number.NEGATIVE_INFINITY) - queueMsMax)
  }

  #waitMs(nowMs: number): number {
    return Math.max(this.#own.freeMs, this.#shared?.freeMs ?? Number.NEGATIVE_INFINITY) - nowMs
  }

  /** Forgets what it holds; gives how many bytes that were. */
  clear(): number {
    const bytes = this.#heldBytes
    this.#held = []
    this.#head = 0
    this.#heldBytes = 0
    return bytes
  }
}
