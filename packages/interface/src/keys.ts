import type { CID } from 'multiformats/cid'

declare const blockKeyBrand: unique symbol
declare const peerKeyBrand: unique symbol

/**
 * What a block is filed under: its multihash, one character a byte. Two CIDs
 * that differ only in version or codec name one block, so they share a key.
 */
export type BlockKey = string & { readonly [blockKeyBrand]: true }

/** A remote peer: the text form of its PeerId. */
export type PeerKey = string & { readonly [peerKeyBrand]: true }

/** The key of a multihash (code, length and digest, as in a CID). */
export function blockKeyOfMultihash(multihash: Uint8Array): BlockKey {
  // A multihash is at most a few hundred bytes, far below the argument limit.
  return String.fromCharCode.apply(null, multihash as unknown as number[]) as BlockKey
}

/** The key of the block that `cid` names. */
export function blockKey(cid: CID): BlockKey {
  return blockKeyOfMultihash(cid.multihash.bytes)
}

/** The key of a peer, given anything whose text form is its PeerId. */
export function peerKey(peer: { toString(): string }): PeerKey {
  return peer.toString() as PeerKey
}
