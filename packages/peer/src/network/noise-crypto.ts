import { createDecipheriv, createSecretKey, getCiphers } from 'node:crypto'
import { asCrypto, defaultCrypto, nodeCrypto } from '@chainsafe/libp2p-noise/crypto'
import { keepArrived, noteCiphered, spendArrived, spendLent } from './spent-memory.ts'

/** From so many bytes on Node's cipher is faster than the one in WebAssembly, which has less to set up. */
const nativeBytesMin = 512
/** What Poly1305 adds to a ciphertext. */
const tagBytes = 16

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

type Decrypt = typeof defaultCrypto.chaCha20Poly1305Decrypt
type Bytes = Parameters<Decrypt>[0]

function* partsOf(bytes: Bytes): Generator<Uint8Array> {
  if (bytes instanceof Uint8Array) yield bytes
  else yield* bytes
}

const encrypt: typeof defaultCrypto.chaCha20Poly1305Encrypt = (plaintext, nonce, ad, key) => {
  if (plaintext.byteLength < nativeBytesMin) return asCrypto.chaCha20Poly1305Encrypt(plaintext, nonce, ad, key)
  const ciphertext = nodeCrypto.chaCha20Poly1305Encrypt(plaintext, nonce, ad, ready(key))
  for (const part of partsOf(ciphertext)) noteCiphered(part)
  return ciphertext
}

/**
 * `into` is memory that Noise lends: the ciphertext's own where the text lies in one piece, else a copy of it. Either way
 * nobody needs the ciphertext any more. Node's cipher cannot write there, but the copy is worth something: deciphered
 * at once it gives one piece, not two.
 */
const decrypt: Decrypt = (ciphertext, nonce, ad, key, into) => {
  const textBytes = ciphertext.byteLength - tagBytes
  const [first] = partsOf(ciphertext)
  const isInPlace = into !== undefined && into.buffer === first?.buffer
  if (ciphertext.byteLength < nativeBytesMin) {
    const small = asCrypto.chaCha20Poly1305Decrypt(ciphertext, nonce, ad, key, into)
    // It lies where it came, and is held by whoever reads it.
    if (isInPlace) keepArrived(into)
    if (into !== undefined) spendArrived(partsOf(ciphertext))
    return small
  }
  const lent = isInPlace || into?.byteLength !== textBytes ? undefined : into
  const decipher = createDecipheriv('chacha20-poly1305', ready(key), nonce, { authTagLength: tagBytes })
  decipher.setAAD(ad, { plaintextLength: textBytes })
  decipher.setAuthTag(ciphertext.subarray(textBytes))
  const plaintext = decipher.update(lent ?? ciphertext.subarray(0, textBytes))
  decipher.final()
  noteCiphered(plaintext)
  if (into !== undefined) spendArrived(partsOf(ciphertext))
  if (lent !== undefined) spendLent(lent)
  return plaintext
}

/** Noise's own cryptography, but that a connection's keys are made ready once and not for each frame, and that spent memory is given back. */
export const noiseCrypto: typeof defaultCrypto = {
  ...defaultCrypto,
  // Not every build of Node has this cipher; Electron's has not.
  ...(getCiphers().includes('chacha20-poly1305') ? { chaCha20Poly1305Encrypt: encrypt, chaCha20Poly1305Decrypt: decrypt } : {})
}
