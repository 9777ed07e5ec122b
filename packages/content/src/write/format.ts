import { hashFunctionNamed, identityCode, multihashOf } from '@shardswap/hashes'
import { assert, CID, InvalidParametersError } from '@shardswap/interface'
import type { AddOptions, UnixTime } from '../types.ts'

/** How blocks of one `add` are made into CIDs. */
export interface Format {
  readonly cidVersion: 0 | 1
  readonly rawLeaves: boolean
  /** Undefined for sha2-256. */
  readonly hash: { readonly code: number; readonly bytes: number } | undefined
}

/** Mode and time of a file or directory. */
export interface Attributes {
  readonly mode?: number | undefined
  readonly mtime?: UnixTime | undefined
}

/** What a directory keeps of what is in it. */
export interface Child {
  readonly cid: CID
  /** Bytes of all blocks from here down. */
  readonly dagBytes: number
}

/** The CIDs' format that options ask for, with Kubo's rules of what implies what. Errors: InvalidParametersError. */
export function formatOf(options: AddOptions): Format {
  const name = options.hash ?? 'sha2-256'
  const hash = hashFunctionNamed(name)
  if (hash === undefined || hash.code === identityCode) throw new InvalidParametersError(`unsupported hash "${name}"`)
  const isDefault = name === 'sha2-256'
  const cidVersion = options.cidVersion ?? (isDefault ? 0 : 1)
  if (cidVersion !== 0 && cidVersion !== 1) throw new InvalidParametersError(`there is no CID version ${String(cidVersion)}`)
  if (cidVersion === 0 && !isDefault) throw new InvalidParametersError(`CID version 0 has no hash but sha2-256, not ${name}`)
  return {
    cidVersion,
    rawLeaves: options.rawLeaves ?? cidVersion === 1,
    hash: isDefault ? undefined : { code: hash.code, bytes: hash.digestBytes }
  }
}

const sha256 = { code: 0x12, bytes: 32 }

/** The CID of a block. */
export function cidOf(version: 0 | 1, code: number, block: Uint8Array, hash: Format['hash'] = sha256): CID {
  const digest = multihashOf(hash.code, hash.bytes, block)
  assert(digest !== undefined, 'the hash function is registered')
  return CID.create(version, code, digest)
}
