import { MalformedError, TooLargeError } from '@shardswap/interface'

const nothing = new Uint8Array(0)

/**
 * Bytes of a stream for the CAR decoder, which asks for what comes next and
 * then goes on. Counts the offset, refuses lengths over a bound before anything
 * is allocated, and tells the end of the stream from a cut.
 */
export class BoundedReader {
  readonly #parts: AsyncIterator<Uint8Array> | Iterator<Uint8Array>
  /** The longest thing that is read at once. */
  bytesMax: number
  #chunks: Uint8Array[] = []
  #have = 0
  #pos = 0
  #ended = false
  #toDiscard = 0
  #failure: { readonly error: unknown } | undefined

  constructor(parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, bytesMax: number) {
    this.#parts = Symbol.asyncIterator in parts ? parts[Symbol.asyncIterator]() : parts[Symbol.iterator]()
    this.bytesMax = bytesMax
  }

  get pos(): number {
    return this.#pos
  }

  /** Whether this error came from the stream itself, and so is no fault of the archive. */
  isOfStream(error: unknown): boolean {
    return this.#failure !== undefined && this.#failure.error === error
  }

  /** At most `length` bytes: fewer only at the end. */
  async upTo(length: number): Promise<Uint8Array> {
    await this.#pull(length)
    return this.#peek(Math.min(length, this.#have))
  }

  /** Exactly `length` bytes. Errors: TooLargeError, MalformedError. */
  async exactly(length: number, seek = false): Promise<Uint8Array> {
    this.#check(length)
    await this.#pull(length)
    if (this.#have < length) {
      throw new MalformedError(
        `the archive ends in the middle of a section: ${length - this.#have} bytes are missing at byte offset ${this.#pos + this.#have}`
      )
    }
    const bytes = this.#peek(length)
    if (seek) this.#skip(length)
    return bytes
  }

  /** Goes on by bytes that need not be here yet; none of them is kept. */
  seek(length: number): void {
    if (length < 0) throw new MalformedError(`the archive points back into itself at byte offset ${this.#pos}`)
    const here = Math.min(length, this.#have)
    this.#skip(here)
    this.#pos += length - here
    this.#toDiscard += length - here
  }

  /** Gives up the rest of the stream. */
  async close(): Promise<void> {
    if (!this.#ended) await this.#parts.return?.()
    this.#ended = true
    this.#chunks = []
    this.#have = 0
  }

  #check(length: number): void {
    if (length < 0) throw new MalformedError(`a section is shorter than its own CID at byte offset ${this.#pos}`)
    if (length > this.bytesMax) {
      throw new TooLargeError(`a section of ${length} bytes at byte offset ${this.#pos} is over the bound of ${this.bytesMax} bytes`)
    }
  }

  async #pull(length: number): Promise<void> {
    while (this.#have < length && !this.#ended) {
      const { done, value } = await this.#next()
      if (done === true) this.#ended = true
      else this.#append(value)
    }
    if (this.#toDiscard > 0)
      throw new MalformedError(`the archive ends ${this.#toDiscard} bytes before byte offset ${this.#pos}, where its data begins`)
  }

  async #next(): Promise<IteratorResult<Uint8Array>> {
    try {
      return await this.#parts.next()
    } catch (error) {
      this.#failure = { error }
      throw error
    }
  }

  #append(chunk: Uint8Array): void {
    const discarded = Math.min(chunk.byteLength, this.#toDiscard)
    this.#toDiscard -= discarded
    if (discarded === chunk.byteLength) return
    this.#chunks.push(discarded === 0 ? chunk : chunk.subarray(discarded))
    this.#have += chunk.byteLength - discarded
  }

  #peek(length: number): Uint8Array {
    const first = this.#chunks[0] ?? nothing
    if (first.byteLength >= length) return first.subarray(0, length)
    const bytes = new Uint8Array(length)
    let at = 0
    for (const chunk of this.#chunks) {
      const part = chunk.subarray(0, length - at)
      bytes.set(part, at)
      at += part.byteLength
      if (at === length) break
    }
    return bytes
  }

  #skip(length: number): void {
    this.#pos += length
    this.#have -= length
    let rest = length
    while (rest > 0) {
      const first = this.#chunks[0] ?? nothing
      if (first.byteLength > rest) {
        this.#chunks[0] = first.subarray(rest)
        return
      }
      rest -= first.byteLength
      this.#chunks.shift()
    }
  }
}
