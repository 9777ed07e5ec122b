import { hashFunctions } from '@shardswap/hashes'
import { InvalidParametersError } from '@shardswap/interface'

/** Codec names of `block put --cid-codec`, as in the multicodec table. */
const codecs: Readonly<Record<string, number>> = {
  raw: 0x55,
  'dag-pb': 0x70,
  protobuf: 0x70,
  'dag-cbor': 0x71,
  'libp2p-key': 0x72,
  'git-raw': 0x78,
  'dag-jose': 0x85,
  'dag-json': 0x0129,
  cbor: 0x51,
  json: 0x0200
}

/** Code of a codec's name. Errors: InvalidParametersError lists the names. */
export function codecNamed(name: string): number {
  const code = Object.hasOwn(codecs, name) ? codecs[name] : undefined
  if (code !== undefined) return code
  throw new InvalidParametersError(`unknown codec "${name}": use one of ${codecNames().join(', ')}`)
}

/** The names that `codecNamed` knows. */
export function codecNames(): readonly string[] {
  return Object.keys(codecs)
}

/** Names of the hash functions that blocks can have. */
export function hashNames(): readonly string[] {
  return hashFunctions().map((fn) => fn.name)
}
