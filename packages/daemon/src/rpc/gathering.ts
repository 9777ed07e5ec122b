import { readWhole } from '@shardswap/interface'
import { BusyError } from '../errors.ts'

/** Blocks that come with calls, each gathered whole before it is stored: a bound of bytes over all calls. */
export class Gathering {
  readonly #bytesMax: number
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Bytes that are held now. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Reads one block and hands it on; what it takes is free again once that ends. `check` is told how many bytes came so far.
   * Errors: BusyError where all calls together hold too much, what `check` and `use` throw, and the content's.
   */
  async run<T>(content: AsyncIterable<Uint8Array>, check: (bytes: number) => void, use: (bytes: Uint8Array) => Promise<T>): Promise<T> {
    let held = 0
    const hold = (bytes: number): void => {
      check(bytes)
      this.#bytes += bytes - held
      held = bytes
      if (this.#bytes > this.#bytesMax) throw new BusyError('too many blocks are being sent at once: try again, with fewer calls at a time')
    }
    try {
      return await use(await readWhole(content, hold))
    } finally {
      this.#bytes -= held
    }
  }
}
