import { CID, peerKey } from '@shardswap/interface'
import type { MultihashDigest } from 'multiformats'
import { identity } from 'multiformats/hashes/identity'
import { sha256 } from 'multiformats/hashes/sha2'
import type { AskedEntry } from '../src/types.ts'

export interface TestBlock {
  readonly cid: CID
  readonly bytes: Uint8Array
}

/** A block of `size` bytes that differs for each `seed`. */
export async function block(seed: number, size = 64): Promise<TestBlock> {
  const bytes = new Uint8Array(size)
  const view = new DataView(bytes.buffer)
  if (size >= 4) view.setUint32(0, seed)
  return { cid: CID.createV1(0x55, await sha256.digest(bytes)), bytes }
}

export async function blocks(count: number, size = 64, from = 0): Promise<TestBlock[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => block(from + index, size)))
}

/** The CIDv0 of a sha2-256 block. */
export function cidV0(cid: CID): CID {
  return CID.createV0(cid.multihash as MultihashDigest<0x12>)
}

export function identityCid(text: string): CID {
  return CID.createV1(0x55, identity.digest(new TextEncoder().encode(text)))
}

export function want(cid: CID, over: Partial<AskedEntry> = {}): AskedEntry {
  return { cid, priority: 1, cancel: false, wantType: 'block', sendDontHave: false, ...over }
}

export function wantHave(cid: CID, over: Partial<AskedEntry> = {}): AskedEntry {
  return want(cid, { wantType: 'have', ...over })
}

export function cancel(cid: CID): AskedEntry {
  return want(cid, { cancel: true, priority: 0 })
}

/** Want-blocks of all of them, that ask for DONT_HAVE. */
export function asks(all: readonly TestBlock[]): AskedEntry[] {
  return all.map(({ cid }) => want(cid, { sendDontHave: true }))
}

export const alice = peerKey('alice')
export const bob = peerKey('bob')
