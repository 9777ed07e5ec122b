import { CID } from '@shardswap/interface'
import { create as createDigest } from 'multiformats/hashes/digest'

/** Bytes of text in hex; spaces are for the eye. */
export function hex(text: string): Uint8Array {
  const digits = text.replaceAll(/\s/g, '')
  return Uint8Array.from({ length: digits.length / 2 }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16))
}

/** The sha2-256 multihash whose digest repeats one byte. */
function digestOf(byte: number): ReturnType<typeof createDigest> {
  return createDigest(0x12, new Uint8Array(32).fill(byte))
}

/** A CIDv1, raw unless said otherwise, whose digest repeats one byte. */
export function cidV1(byte: number, codec = 0x55): CID {
  return CID.createV1(codec, digestOf(byte))
}

export function cidV0(byte: number): CID {
  return CID.createV0(digestOf(byte) as Parameters<typeof CID.createV0>[0])
}

/** `byte` as two hex digits, thirty-two times: the digest of `cidV1(byte)`. */
export function digestHex(byte: number): string {
  return byte.toString(16).padStart(2, '0').repeat(32)
}
