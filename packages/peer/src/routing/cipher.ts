/** XSalsa20 over a stream of bytes. */
import { xsalsa20 } from '@noble/ciphers/salsa.js'

/** Bytes that one count of the cipher covers. */
const blockBytes = 64

/** Enciphers, or deciphers, which is the same, bytes that come in parts of any size. */
export class StreamCipher {
  readonly #key: Uint8Array
  readonly #nonce: Uint8Array
  /** The next block that is not begun. */
  #counter = 0
  /** What is left of the key stream of the block that is. */
  #left: Uint8Array = new Uint8Array()

  /** `key` of 32 bytes, `nonce` of 24, which is used once. */
  constructor(key: Uint8Array, nonce: Uint8Array) {
    this.#key = key
    this.#nonce = nonce
  }

  /** The next bytes. Errors: the library's, once the counter of 32 bits is used up, after 256 GiB. */
  next(bytes: Uint8Array): Uint8Array {
    const result = new Uint8Array(bytes.byteLength)
    const begun = Math.min(this.#left.byteLength, bytes.byteLength)
    for (let at = 0; at < begun; at++) result[at] = (bytes[at] as number) ^ (this.#left[at] as number)
    this.#left = this.#left.subarray(begun)
    const whole = Math.floor((bytes.byteLength - begun) / blockBytes) * blockBytes
    if (whole > 0) {
      // In memory of its own, which begins at a whole word: elsewhere the library goes byte by byte.
      const aligned = bytes.slice(begun, begun + whole)
      result.set(xsalsa20(this.#key, this.#nonce, aligned, aligned, this.#counter), begun)
      this.#counter += whole / blockBytes
    }
    const rest = begun + whole
    if (rest === bytes.byteLength) return result
    const block = xsalsa20(this.#key, this.#nonce, new Uint8Array(blockBytes), undefined, this.#counter)
    this.#counter += 1
    for (let at = rest; at < bytes.byteLength; at++) result[at] = (bytes[at] as number) ^ (block[at - rest] as number)
    this.#left = block.subarray(bytes.byteLength - rest)
    return result
  }
}
