import type { CID } from '@shardswap/interface'

/** What a client asks for: the block itself, or whether we have it. */
export type WantType = 'block' | 'have'
/** What we say of a block. */
export type Presence = 'have' | 'dont-have'

/** One line of a client's wantlist: a want, or the cancel of an earlier one. */
export interface AskedEntry {
  readonly cid: CID
  /** Higher is sooner; an int32. */
  readonly priority: number
  readonly cancel: boolean
  readonly wantType: WantType
  readonly sendDontHave: boolean
}

/**
 * What a message says to a server. Of its blocks and presences only the number
 * counts here, so a decoded Bitswap message has this shape, and so has what a
 * simulation makes up.
 */
export interface AskingMessage {
  /** The entries replace all earlier wants. */
  readonly full: boolean
  /** At most one for each CID. */
  readonly entries: readonly AskedEntry[]
  readonly blocks: { readonly length: number }
  readonly presences: { readonly length: number }
}

/** A block to send, under the CID that was asked for. */
export interface AnsweredBlock {
  readonly cid: CID
  readonly bytes: Uint8Array
}

/** What is to be written to a client as one message. */
export interface Answer {
  readonly blocks: readonly AnsweredBlock[]
  readonly presences: readonly { readonly cid: CID; readonly presence: Presence }[]
  /** Bytes of blocks that wait for this client behind it. */
  readonly pendingBytes: number
}
