/**
 * @packageDocumentation
 * Multihash functions by code: Node's native ones where it has them, noble's elsewhere.
 * Every digest of a block is computed through this package.
 */
import { hash as nativeHash } from 'node:crypto'
import { HashMismatchError, InvalidCidError, UnknownHashError, type BlockKey, blockKeyOfMultihash, type CID } from '@shardswap/interface'
import { blake2b } from '@noble/hashes/blake2.js'
import { blake3 } from '@noble/hashes/blake3.js'
import { keccak_256, keccak_512 } from '@noble/hashes/sha3.js'
import { create as createDigest, type Digest } from 'multiformats/hashes/digest'
import { from as hasherFrom } from 'multiformats/hashes/hasher'
import type { MultihashHasher } from 'multiformats/hashes/interface'

/** The multihash code of `identity`, whose "digest" is the data itself and so verifies nothing. */
export const identityCode = 0x00

/** The longest identity digest that is taken, in bytes: Kubo's bound. A longer one is data in disguise. */
export const identityBytesMax = 128

/** The shortest digest that counts as a proof, in bytes: Kubo refuses shorter ones. */
export const digestBytesMin = 20

/** A hash function: its multicodec name and code, its digest lengths in bytes. */
export interface HashFunction {
  readonly name: string
  readonly code: number
  readonly digestBytes: number
  /** Whether a longer digest may be asked for (BLAKE3 is extendable). */
  readonly digestBytesMax: number
  /** The digest of `bytes`, so many bytes long; only a function that is extendable gives other lengths than its own. */
  digest(bytes: Uint8Array, digestBytes: number): Uint8Array<ArrayBuffer>
}

const nativeNames = new Map<number, string>()

function native(name: string, code: number, algorithm: string, digestBytes: number): HashFunction {
  nativeNames.set(code, algorithm)
  // Copied out of Node's shared pool, so that a digest that is kept pins nothing else.
  const digest = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(nativeHash(algorithm, bytes, 'buffer'))
  return { name, code, digestBytes, digestBytesMax: digestBytes, digest }
}

function noble(
  name: string,
  code: number,
  digestBytes: number,
  digest: HashFunction['digest'],
  digestBytesMax = digestBytes
): HashFunction {
  return { name, code, digestBytes, digestBytesMax, digest }
}

const functions: readonly HashFunction[] = [
  native('sha1', 0x11, 'sha1', 20),
  native('sha2-256', 0x12, 'sha256', 32),
  native('sha2-512', 0x13, 'sha512', 64),
  native('sha3-512', 0x14, 'sha3-512', 64),
  native('sha3-384', 0x15, 'sha3-384', 48),
  native('sha3-256', 0x16, 'sha3-256', 32),
  native('sha3-224', 0x17, 'sha3-224', 28),
  noble('keccak-256', 0x1b, 32, (bytes) => keccak_256(bytes)),
  noble('keccak-512', 0x1d, 64, (bytes) => keccak_512(bytes)),
  noble('blake3', 0x1e, 32, (bytes, dkLen) => blake3(bytes, { dkLen }), 128),
  native('sha2-384', 0x20, 'sha384', 48),
  noble('blake2b-256', 0xb220, 32, (bytes) => blake2b(bytes, { dkLen: 32 })),
  native('blake2b-512', 0xb240, 'blake2b512', 64),
  native('blake2s-256', 0xb260, 'blake2s256', 32)
]

const byCode = new Map(functions.map((fn) => [fn.code, fn]))

/** Of Node's own functions: their names there, and the characters of a key ahead of the digest's, for one of full length. */
const nativeKeys = new Map(
  functions.flatMap((fn) => {
    const algorithm = nativeNames.get(fn.code)
    if (algorithm === undefined) return []
    const whole = blockKeyOfMultihash(createDigest(fn.code, new Uint8Array(fn.digestBytes)).bytes)
    return [[fn.code, { algorithm, digestBytes: fn.digestBytes, head: whole.slice(0, -fn.digestBytes) }] as const]
  })
)

/** The function of a multihash code, or undefined where none is registered. */
export function hashFunction(code: number): HashFunction | undefined {
  return byCode.get(code)
}

/** Every registered function, in order of code. */
export function hashFunctions(): readonly HashFunction[] {
  return functions
}

/** The function of a multicodec name such as `sha2-256`, or undefined. */
export function hashFunctionNamed(name: string): HashFunction | undefined {
  return functions.find((fn) => fn.name === name)
}

/**
 * The multihash of `bytes` under a function and a digest length, as a block's
 * prefix names them. Undefined where that would prove nothing: identity, an
 * unknown function, a digest that is too short or longer than the function's.
 */
export function multihashOf(code: number, digestBytes: number, bytes: Uint8Array): Digest<number, number> | undefined {
  const fn = byCode.get(code)
  if (fn === undefined || digestBytes < digestBytesMin || digestBytes > fn.digestBytesMax) return undefined
  const full = fn.digest(bytes, Math.max(digestBytes, fn.digestBytes))
  return createDigest(code, full.byteLength === digestBytes ? full : full.slice(0, digestBytes))
}

/** As `multihashOf`, given as the key that the block is filed under. */
export function blockKeyFor(code: number, digestBytes: number, bytes: Uint8Array): BlockKey | undefined {
  const native = nativeKeys.get(code)
  if (native?.digestBytes === digestBytes) {
    // `binary` is one character a byte, as keys are: the digest needs no bytes of its own.
    const key: string = native.head + nativeHash(native.algorithm, bytes, 'binary')
    return key as BlockKey
  }
  const digest = multihashOf(code, digestBytes, bytes)
  return digest === undefined ? undefined : blockKeyOfMultihash(digest.bytes)
}

/** Whether the block's bytes are within the CID itself. */
export function isIdentity(cid: CID): boolean {
  return cid.multihash.code === identityCode
}

/** Whether the digest of `cid` could prove a block here: a known function, a length that it gives. */
export function isVerifiable(cid: CID): boolean {
  const { code, size } = cid.multihash
  if (code === identityCode) return size <= identityBytesMax
  const fn = byCode.get(code)
  return fn !== undefined && size >= digestBytesMin && size <= fn.digestBytesMax
}

/** Why no block can be proven to be the one that this CID names, which is not verifiable: UnknownHashError or InvalidCidError. */
export function unverifiable(cid: CID): UnknownHashError | InvalidCidError {
  const { code, size } = cid.multihash
  if (code === identityCode) {
    return new InvalidCidError(`an identity CID of ${size} bytes is over the bound of ${identityBytesMax} (identityBytesMax)`)
  }
  if (!byCode.has(code)) return new UnknownHashError(code)
  return new InvalidCidError(`a digest of ${size} bytes proves nothing: ${cid.toString().slice(0, 200)}`)
}

const emptyDigests = new Map<string, Uint8Array | undefined>()

/** Whether `cid` names the block of no bytes, which nobody need be asked for. */
export function isEmptyBlock(cid: CID): boolean {
  const { code, size, digest } = cid.multihash
  // One entry for each function and length of digest: a few hundred at most.
  if (!isVerifiable(cid) || code === identityCode) return false
  const name = `${code}:${size}`
  if (!emptyDigests.has(name)) emptyDigests.set(name, multihashOf(code, size, new Uint8Array(0))?.digest)
  const empty = emptyDigests.get(name)
  return empty !== undefined && sameBytes(empty, digest)
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.byteLength !== b.byteLength) return false
  for (let i = 0; i < a.byteLength; i++) if (a[i] !== b[i]) return false
  return true
}

/** Whether `bytes` hash to `cid`. Throws UnknownHashError where no function is registered for it. */
export function matches(cid: CID, bytes: Uint8Array): boolean {
  const { code, size, digest } = cid.multihash
  if (code === identityCode) return size <= identityBytesMax && sameBytes(digest, bytes)
  if (!byCode.has(code)) throw new UnknownHashError(code)
  const actual = multihashOf(code, size, bytes)
  return actual !== undefined && sameBytes(actual.digest, digest)
}

/** Throws HashMismatchError unless `bytes` hash to `cid`; UnknownHashError where nobody could tell. */
export function verify(cid: CID, bytes: Uint8Array): void {
  if (matches(cid, bytes)) return
  const { code, size } = cid.multihash
  const actual = multihashOf(code, size, bytes)
  const found = actual === undefined ? 'a digest of a length that proves nothing' : `multihash 0x${hex(actual.bytes)}`
  throw new HashMismatchError(`block does not match its CID ${cid.toString()}: its ${bytes.byteLength} bytes give ${found}`)
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** A hasher for libraries that take multiformats' own. Errors: UnknownHashError. */
export function multihashHasher(code: number): MultihashHasher {
  const fn = byCode.get(code)
  if (fn === undefined) throw new UnknownHashError(code)
  return hasherFrom({ name: fn.name, code, encode: (bytes) => fn.digest(bytes, fn.digestBytes) })
}
