/** The links of a block, for pins and for collections: what a pin protects is what this finds. */
import { linksOf } from '@shardswap/content'
import type { CID } from '@shardswap/interface'
import { linkCodecs } from './core.ts'

/** Codecs whose blocks link to nothing: raw, cbor, json, libp2p-key. */
const leafCodecs: ReadonlySet<number> = new Set([0x55, 0x51, 0x0200, 0x72])

/** Whether a block may have links, so that it must be read to know what is below it. A codec that is not known counts as such. */
export function hasLinks(cid: CID): boolean {
  return !leafCodecs.has(cid.code)
}

/** Where a block leads. Errors: UnsupportedCodecError, MalformedError. */
export function linkedCids(cid: CID, bytes: Uint8Array): readonly CID[] {
  return hasLinks(cid) ? linksOf(cid, bytes).map((link) => link.cid) : []
}

/** The tag under which a CID is told apart from others of its multihash: its codec where that gives it links, else 0. */
export function tagOf(cid: CID): number {
  return linkCodecs.includes(cid.code) ? cid.code : 0
}
