import { createHash, type Hash } from 'node:crypto'

/** What a line of the trace is about; the numbers are part of every hash that was ever printed. */
export const traceKinds = {
  send: 1,
  bytes: 2,
  message: 3,
  connect: 4,
  disconnect: 5,
  want: 6,
  delivered: 7,
  failed: 8,
  lost: 9,
  entry: 10,
  block: 11,
  presence: 12,
  fault: 13
} as const

export type TraceKind = (typeof traceKinds)[keyof typeof traceKinds]

const lineNumbers = 6
const bufferLines = 512

/**
 * SHA-256 over everything that happened, in order: six numbers a line, as 64-bit
 * floats, lowest byte first. Two runs with one hash did the same at the same times.
 */
export class Trace {
  readonly #hash: Hash = createHash('sha256')
  readonly #bytes = new Uint8Array(bufferLines * lineNumbers * 8)
  readonly #view = new DataView(this.#bytes.buffer)
  #offset = 0
  #lines = 0

  get lines(): number {
    return this.#lines
  }

  /** A line: what, when, from whom, to whom, and two numbers that say more. */
  add(kind: TraceKind, atMs: number, from: number, to: number, first: number, second: number): void {
    this.#write(kind)
    this.#write(atMs)
    this.#write(from)
    this.#write(to)
    this.#write(first)
    this.#write(second)
    this.#lines += 1
    if (this.#offset === this.#bytes.length) this.#flush()
  }

  /** The hash so far, in hex. */
  digest(): string {
    this.#flush()
    return this.#hash.copy().digest('hex')
  }

  #write(value: number): void {
    this.#view.setFloat64(this.#offset, value, true)
    this.#offset += 8
  }

  #flush(): void {
    this.#hash.update(this.#bytes.subarray(0, this.#offset))
    this.#offset = 0
  }
}
