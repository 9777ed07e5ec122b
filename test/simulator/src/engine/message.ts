import type { CID } from '@shardswap/interface'
import type { SimulatedBlock } from './block.ts'

/** One line of a wantlist, as it stands on the wire. */
export interface WireEntry {
  readonly cid: CID
  readonly priority: number
  readonly cancel: boolean
  readonly wantType: 'block' | 'have'
  readonly sendDontHave: boolean
}

/** A Bitswap message, with blocks by name. */
export interface Message {
  readonly full: boolean
  readonly entries: readonly WireEntry[]
  /** `isSound` is false where the bytes are not the block's. */
  readonly blocks: readonly { readonly block: SimulatedBlock; readonly isSound: boolean }[]
  readonly presences: readonly { readonly block: SimulatedBlock; readonly presence: 'have' | 'dont-have' }[]
  readonly pendingBytes: number
}

// Sizes of what the protocol's encoder writes for a CIDv1 with a digest of 32 bytes.
const messageBytes = 6
const cancelBytes = 42
const wantBlockBytes = 48
const wantHaveBytes = 50
const haveBytes = 40
const dontHaveBytes = 42
const blockOverheadBytes = 14

/** Bytes of the message with its frame. */
export function wireBytes(message: Message): number {
  let bytes = messageBytes
  for (const entry of message.entries) bytes += entry.cancel ? cancelBytes : entry.wantType === 'have' ? wantHaveBytes : wantBlockBytes
  for (const { presence } of message.presences) bytes += presence === 'have' ? haveBytes : dontHaveBytes
  for (const { block } of message.blocks) bytes += block.bytes + blockOverheadBytes
  return bytes
}
