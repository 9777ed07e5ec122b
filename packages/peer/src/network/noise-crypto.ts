import { createSecretKey, getCiphers } from 'node:crypto'
import { asCrypto, defaultCrypto, nodeCrypto } from '@chainsafe/libp2p-noise/crypto'

/** From so many bytes on Node's cipher is faster than the one in WebAssembly, which has less to set up. */
const nativeBytesMin = 512

/** They live as long as a connection's cipher state, which holds the bytes. */
const prepared = new WeakMap<Uint8Array, Uint8Array>()

/**
 * A key as Node takes it without examining it each time. For a key in bytes it tries first whether it is an object,
 * by throwing and catching: deep in a stack of calls that takes as long as to decrypt 20 KB. Noise hands keys through.
 */
function ready(key: Uint8Array): Uint8Array {
  let object = prepared.get(key)
  if (object === undefined) {
    object = createSecretKey(key) as unknown as Uint8Array
    prepared.set(key, object)
  }
  return object
}

const ciphers: Pick<typeof defaultCrypto, 'chaCha20Poly1305Encrypt' | 'chaCha20Poly1305Decrypt'> = {
  chaCha20Poly1305Encrypt: (plaintext, nonce, ad, key) =>
    plaintext.byteLength < nativeBytesMin
      ? asCrypto.chaCha20Poly1305Encrypt(plaintext, nonce, ad, key)
      : nodeCrypto.chaCha20Poly1305Encrypt(plaintext, nonce, ad, ready(key)),
  chaCha20Poly1305Decrypt: (ciphertext, nonce, ad, key, into) =>
    ciphertext.byteLength < nativeBytesMin
      ? asCrypto.chaCha20Poly1305Decrypt(ciphertext, nonce, ad, key, into)
      : nodeCrypto.chaCha20Poly1305Decrypt(ciphertext, nonce, ad, ready(key))
}

/** Noise's own cryptography, but that the keys of a connection are made ready once and not for each frame. */
export const noiseCrypto: typeof defaultCrypto = {
  ...defaultCrypto,
  // Not every build of Node has this cipher; Electron's has not.
  ...(getCiphers().includes('chacha20-poly1305') ? ciphers : {})
}
