import { assert } from '@shardswap/interface'

/**
 * Writes protobuf fields one behind the other into memory of a size that was reckoned beforehand. protons-runtime's
 * writer notes each number and each run of bytes as an operation of its own and carries them out at the end, which
 * cost more than all else about a message of small blocks.
 */
export class Writer {
  readonly #bytes: Uint8Array
  #at = 0
  #taken = 0

  constructor(bytes: number) {
    this.#bytes = new Uint8Array(bytes)
  }

  /** A number of 32 bits without a sign: a length, a tag, a bool. */
  uint32(value: number): this {
    const bytes = this.#bytes
    let rest = value
    while (rest >= 0x80) {
      bytes[this.#at++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    bytes[this.#at++] = rest
    return this
  }

  /** An int32: a negative one takes ten bytes, as one of 64 bits. */
  int32(value: number): this {
    if (value >= 0) return this.uint32(value)
    const bytes = this.#bytes
    for (let shift = 0; shift < 28; shift += 7) bytes[this.#at++] = ((value >>> shift) & 0x7f) | 0x80
    bytes[this.#at++] = (value >>> 28) | 0xf0
    for (let i = 0; i < 4; i++) bytes[this.#at++] = 0xff
    bytes[this.#at++] = 1
    return this
  }

  /** A length and what is so long. */
  bytes(value: Uint8Array): this {
    this.uint32(value.byteLength)
    this.#bytes.set(value, this.#at)
    this.#at += value.byteLength
    return this
  }

  /** What was written since the last time. */
  take(): Uint8Array {
    assert(this.#at <= this.#bytes.byteLength, 'no more is written than was reckoned')
    const taken = this.#bytes.subarray(this.#taken, this.#at)
    this.#taken = this.#at
    return taken
  }
}
