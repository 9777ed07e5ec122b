import { randomBytes } from 'node:crypto'
import { defaultCrypto, pureJsCrypto } from '@chainsafe/libp2p-noise/crypto'
import { describe, expect, it } from 'vitest'
import { noiseCrypto } from '../src/network/noise-crypto.ts'

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

  it('is the default one in all else', () => {
    const own = { chaCha20Poly1305Encrypt: expect.any(Function), chaCha20Poly1305Decrypt: expect.any(Function) }
    expect(noiseCrypto).toEqual({ ...defaultCrypto, ...own })
  })
})
