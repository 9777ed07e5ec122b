import { MalformedError } from '@shardswap/interface'

/** A number up to 2^53 takes so many bytes at most, seven bits in each. */
export const varintBytesMax = 8
/** Many that write little must not take much. */
const firstBytes = 1024

/** Writes numbers and texts of one byte a character, up to a size; memory is taken as it is filled. */
export class ByteWriter {
  readonly #bytesMax: number
  #bytes: Uint8Array
  #length = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
    this.#bytes = new Uint8Array(Math.min(bytesMax, firstBytes))
  }

  get length(): number {
    return this.#length
  }

  fits(bytes: number): boolean {
    return this.#length + bytes <= this.#bytesMax
  }

  /** Begins anew, in the same memory unless that had to be more than is meant. */
  clear(): void {
    this.#length = 0
    if (this.#bytes.length > this.#bytesMax) this.#bytes = new Uint8Array(this.#bytesMax)
  }

  /** Makes room for so many bytes, which are to be written now, whether they fit or not. */
  reserve(bytes: number): void {
    const need = this.#length + bytes
    if (need <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(need, Math.min(this.#bytesMax, 2 * this.#bytes.length)))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }

  byte(value: number): void {
    this.#bytes[this.#length++] = value
  }

  varint(value: number): void {
    const bytes = this.#bytes
    let at = this.#length
    let rest = value
    while (rest >= 128) {
      bytes[at++] = (rest % 128) | 128
      rest = Math.floor(rest / 128)
    }
    bytes[at++] = rest
    this.#length = at
  }

  text(value: string): void {
    this.varint(value.length)
    const bytes = this.#bytes
    let at = this.#length
    for (let index = 0; index < value.length; index++) bytes[at++] = value.charCodeAt(index)
    this.#length = at
  }

  written(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
  }
}

/** Reads what ByteWriter wrote. Every step throws MalformedError where the bytes are something else. */
export class ByteReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  byte(): number {
    const value = this.#bytes[this.#at++]
    if (value === undefined) throw new MalformedError('bytes end in the middle of an entry')
    return value
  }

  varint(): number {
    let value = 0
    let factor = 1
    for (let read = 0; read < varintBytesMax; read++) {
      const byte = this.byte()
      value += (byte & 127) * factor
      if (byte < 128) {
        if (!Number.isSafeInteger(value)) break
        return value
      }
      factor *= 128
    }
    throw new MalformedError('a number above 2^53')
  }

  text(): string {
    const length = this.varint()
    if (length > this.#bytes.length - this.#at) throw new MalformedError('a text that is longer than what is there')
    let text = ''
    for (let index = 0; index < length; index++) text += String.fromCharCode(this.#bytes[this.#at++] as number)
    return text
  }
}
