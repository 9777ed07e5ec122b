import type { BitswapVersion } from './types.ts'

/**
 * The protocol ids that we speak, in the order in which we offer them when we
 * dial. A handler is registered for each.
 */
export const protocolIds = ['/ipfs/bitswap/1.2.0', '/ipfs/bitswap/1.1.0', '/ipfs/bitswap/1.0.0', '/ipfs/bitswap'] as const

const versions: ReadonlyMap<string, BitswapVersion> = new Map([
  ['/ipfs/bitswap/1.2.0', '1.2.0'],
  ['/ipfs/bitswap/1.1.0', '1.1.0'],
  ['/ipfs/bitswap/1.0.0', '1.0.0'],
  ['/ipfs/bitswap', 'unversioned']
])

/** The version of a negotiated protocol id, or undefined where it is not Bitswap's. */
export function versionOf(protocolId: string): BitswapVersion | undefined {
  return versions.get(protocolId)
}

/** Whether a peer on this version understands want-have, HAVE and DONT_HAVE. */
export function supportsHave(version: BitswapVersion): boolean {
  return version === '1.2.0'
}

/** Whether messages of this version carry blocks with a prefix, presences and pending bytes (as Go writes them). */
export function hasPayload(version: BitswapVersion): boolean {
  return version === '1.2.0' || version === '1.1.0'
}
