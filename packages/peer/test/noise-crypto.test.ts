import { randomBytes } from 'node:crypto'
import { defaultCrypto, pureJsCrypto } from '@chainsafe/libp2p-noise/crypto'
import { Uint8ArrayList } from 'uint8arraylist'
import { describe, expect, it } from 'vitest'
import { noiseCrypto } from '../src/network/noise-crypto.ts'
import { noteArrived, spendArrived } from '../src/network/spent-memory.ts'

/** libp2p makes lists of another version of the package than the one that Noise was compiled with. */
type Ciphertext = Parameters<typeof noiseCrypto.chaCha20Poly1305Decrypt>[0]

describe('the cryptography of connections', () => {
  const nonce = Uint8Array.from(randomBytes(12))
  const ad = Uint8Array.from(randomBytes(32))

  it.each([0, 1, 511, 512, 1199, 1200, 65_519])('reads and writes %i bytes as other implementations do', (length) => {
    const plaintext = Uint8Array.from(randomBytes(length))
    const key = Uint8Array.from(randomBytes(32))
    // The second time the key is known.
    for (const _ of [1, 2]) {
      const expected = pureJsCrypto.chaCha20Poly1305Encrypt(plaintext, nonce, ad, key).subarray()
      expect(Buffer.compare(noiseCrypto.chaCha20Poly1305Encrypt(plaintext, nonce, ad, key).subarray(), expected)).toBe(0)
      const decrypted = noiseCrypto.chaCha20Poly1305Decrypt(expected.slice(), nonce, ad, key).subarray()
      expect(Buffer.compare(decrypted, plaintext)).toBe(0)
    }
  })

  it.each([100, 1000, 65_000])('refuses %i bytes of which one was changed, and those of another key', (length) => {
    const [key, other] = [Uint8Array.from(randomBytes(32)), Uint8Array.from(randomBytes(32))]
    const ciphertext = Uint8Array.from(noiseCrypto.chaCha20Poly1305Encrypt(new Uint8Array(length), nonce, ad, key).subarray())
    const changed = ciphertext.slice()
    changed[length >> 1] = (changed[length >> 1] as number) ^ 1
    expect(() => noiseCrypto.chaCha20Poly1305Decrypt(changed, nonce, ad, key)).toThrow(/decrypt|authenticate/)
    expect(() => noiseCrypto.chaCha20Poly1305Decrypt(ciphertext.slice(), nonce, ad, other)).toThrow(/decrypt|authenticate/)
    expect(noiseCrypto.chaCha20Poly1305Decrypt(ciphertext, nonce, ad, key).byteLength).toBe(length)
  })

  it.each([0, 1, 400, 511, 512, 40_000, 65_519])('reads %i bytes that came in two parts, in memory that Noise lends', (length) => {
    const key = Uint8Array.from(randomBytes(32))
    const plaintext = Uint8Array.from(randomBytes(length))
    const ciphertext = Uint8Array.from(noiseCrypto.chaCha20Poly1305Encrypt(plaintext, nonce, ad, key).subarray())
    const cuts = [1, length >> 1, length - 1, length, length + 1, length + 15].filter((at) => at > 0 && at < ciphertext.byteLength)
    for (const cut of cuts) {
      // The frame is at the end of one read and at the beginning of the next, which hold other frames too.
      const reads = [new Uint8Array(20_000 + cut), new Uint8Array(20_000 + ciphertext.byteLength - cut)] as const
      reads.forEach(noteArrived)
      spendArrived([reads[0].subarray(0, 20_000)])
      reads[0].set(ciphertext.subarray(0, cut), 20_000)
      reads[1].set(ciphertext.subarray(cut))
      const list = new Uint8ArrayList(reads[0].subarray(20_000), reads[1].subarray(0, ciphertext.byteLength - cut))
      const decrypted = noiseCrypto.chaCha20Poly1305Decrypt(list as unknown as Ciphertext, nonce, ad, key, list.subarray(0, length))
      spendArrived([reads[1].subarray(ciphertext.byteLength - cut)])
      expect(Buffer.compare(decrypted.subarray(), plaintext)).toBe(0)
      // Nobody needs what was read any more, but for a small frame that was deciphered where it lay.
      const isHeld = length > 0 && ciphertext.byteLength < 512 && cut >= length
      expect(reads.map((read) => read.byteLength === 0)).toEqual([!isHeld, true])
    }
  })

  it('is the default one in all else', () => {
    const own = { chaCha20Poly1305Encrypt: expect.any(Function), chaCha20Poly1305Decrypt: expect.any(Function) }
    expect(noiseCrypto).toEqual({ ...defaultCrypto, ...own })
  })
})
