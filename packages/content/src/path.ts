import { CID, InvalidCidError } from '@shardswap/interface'
import { base16 } from 'multiformats/bases/base16'
import { base32 } from 'multiformats/bases/base32'
import { base36 } from 'multiformats/bases/base36'
import { base58btc } from 'multiformats/bases/base58'
import { base64url } from 'multiformats/bases/base64'

/** The forms of a CID that a path can hold, as Kubo takes them; base64 itself has slashes. CIDv0 is told by its length. */
const bases = base32.decoder.or(base58btc.decoder).or(base36.decoder).or(base16.decoder).or(base64url.decoder)

/** A root, and the names below it. */
export interface ContentPath {
  readonly root: CID
  readonly segments: string[]
}

function parseCid(text: string): CID {
  try {
    return CID.parse(text, bases)
  } catch (cause) {
    throw new InvalidCidError(`"${text.slice(0, 200)}" is not a CID`, { cause })
  }
}

/**
 * Reads `CID`, `CID/path`, `/ipfs/CID/path` and `ipfs://CID/path`. Names are taken as they
 * are, without percent-decoding; empty ones are skipped, and `..` is a name
 * like others, so a path never leaves its root. Errors: InvalidCidError.
 */
export function parsePath(text: string): ContentPath {
  const bare = text.startsWith('/ipfs/') ? text.slice(6) : text.startsWith('ipfs://') ? text.slice(7) : text
  const [root, ...rest] = bare.split('/')
  if (root === undefined || root === '') throw new InvalidCidError(`"${text.slice(0, 200)}" does not begin with a CID`)
  return { root: parseCid(root), segments: rest.filter((segment) => segment !== '') }
}

const ipldPrefix = '/ipld/'

/** As `parsePath`, and `/ipld/CID/path`: then it goes by the fields of dag-pb. Errors: InvalidCidError. */
export function parseDagPath(text: string): ContentPath & { readonly byFields: boolean } {
  const byFields = text.startsWith(ipldPrefix)
  return { ...parsePath(byFields ? text.slice(ipldPrefix.length) : text), byFields }
}

/** The text form of a path, for messages. */
export function formatPath(root: CID, segments: readonly string[]): string {
  return [root.toString(), ...segments].join('/')
}
