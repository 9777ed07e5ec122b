import { CID, InvalidCidError, MalformedError } from '@shardswap/interface'
import type { Reader } from 'protons-runtime'
import type { Slab } from './slab.ts'
import type { CidPrefix } from './types.ts'
import { readMultiformatsVarint } from './varint.ts'

const dagPbCode = 0x70
const sha2256Code = 0x12
const identityCode = 0x00
const sha2256Bytes = 32
const digestBytesMaxGo = 0x7fffffff

/** What a CIDv0 says of itself; every block of Bitswap 1.0.0 is taken to have it. */
export const v0Prefix: CidPrefix = { version: 0, codec: dagPbCode, hashCode: sha2256Code, digestBytes: sha2256Bytes }

const v0PrefixBytes = Uint8Array.of(0, dagPbCode, sha2256Code, sha2256Bytes)

/**
 * Reads the CID that fills the reader from its position to its end, by the
 * rules of go-cid. The CID's bytes are copied to the slab, so that it pins
 * nothing of the message. Undefined where the CID is well-formed and not for us: identity,
 * longer than `bytesMax`, or with a code that a number cannot hold. Errors:
 * MalformedError.
 */
export function readCid(reader: Reader, bytesMax: number, slab: Slab): CID | undefined {
  const start = reader.pos
  const end = reader.len
  const { buf } = reader
  if (end === start) throw new MalformedError('a CID is missing')
  if (end - start > 2 && buf[start] === sha2256Code && buf[start + 1] === sha2256Bytes) {
    if (end - start !== 34) throw new MalformedError('a CIDv0 has a wrong length')
    return cidOfBytes(slab.copy(buf, start, end, buf.byteLength - start), 0, dagPbCode, sha2256Code, 0, 2)
  }
  const version = readMultiformatsVarint(reader)
  if (version !== 1) throw new MalformedError('a CID has an unknown version')
  const codec = readMultiformatsVarint(reader)
  const multihashAt = reader.pos
  const hashCode = readMultiformatsVarint(reader)
  const digestBytes = readMultiformatsVarint(reader)
  const digestAt = reader.pos
  if (digestBytes > digestBytesMaxGo || digestAt + digestBytes !== end) throw new MalformedError('a CID has a wrong length')
  if (end - start > bytesMax || hashCode === identityCode) return undefined
  if (!Number.isSafeInteger(codec) || !Number.isSafeInteger(hashCode)) return undefined
  return cidOfBytes(slab.copy(buf, start, end, buf.byteLength - start), 1, codec, hashCode, multihashAt - start, digestAt - start)
}

function cidOfBytes(bytes: Uint8Array, version: 0 | 1, codec: number, hashCode: number, multihashAt: number, digestAt: number): CID {
  const multihashBytes = multihashAt === 0 ? bytes : bytes.subarray(multihashAt)
  const digest = bytes.subarray(digestAt)
  const multihash = { code: hashCode, size: digest.byteLength, digest, bytes: multihashBytes } as CID['multihash']
  return new CID(version, codec, multihash, bytes)
}

/**
 * Reads a block's prefix by the rules of go-cid: what follows the four numbers
 * is ignored, and so is a version 0's codec. Undefined where a number does not
 * fit. Errors: MalformedError where Go could make no CID of it whatever the hash.
 */
export function readPrefix(reader: Reader): CidPrefix | undefined {
  const version = readMultiformatsVarint(reader)
  const codec = readMultiformatsVarint(reader)
  const hashCode = readMultiformatsVarint(reader)
  const digestBytes = readMultiformatsVarint(reader)
  if (version === 0) {
    if (hashCode !== sha2256Code || digestBytes !== sha2256Bytes) throw new MalformedError('a prefix of version 0 is not sha2-256')
    return v0Prefix
  }
  if (version !== 1) throw new MalformedError('a prefix has an unknown version')
  if (!Number.isSafeInteger(codec) || !Number.isSafeInteger(hashCode) || !Number.isSafeInteger(digestBytes)) return undefined
  return { version, codec, hashCode, digestBytes }
}

/** What a block under this CID says of it on the wire. */
export function prefixOf(cid: CID): CidPrefix {
  if (cid.version === 0) return v0Prefix
  return { version: 1, codec: cid.code, hashCode: cid.multihash.code, digestBytes: cid.multihash.size }
}

/** The prefix of a CID in bytes, as `payload` carries it. */
export function prefixBytesOf(cid: CID): Uint8Array {
  if (cid.version === 0) return v0PrefixBytes
  // A CIDv1 is its prefix and then its digest.
  return cid.bytes.subarray(0, cid.bytes.byteLength - cid.multihash.size)
}

/**
 * The CID of a block, from its prefix and the multihash of its bytes, that has
 * the prefix's function and length. Errors: InvalidCidError where it has not.
 */
export function cidOfPrefix(prefix: CidPrefix, multihash: CID['multihash']): CID {
  if (multihash.code !== prefix.hashCode || multihash.size !== prefix.digestBytes) {
    throw new InvalidCidError('the multihash is not of the function and length that the prefix names')
  }
  return prefix.version === 0 ? CID.createV0(multihash as { code: 0x12 } & CID['multihash']) : CID.createV1(prefix.codec, multihash)
}
