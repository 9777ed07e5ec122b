import type { CID } from '@shardswap/interface'

/** The Bitswap protocols, in the order in which we offer them. */
export type BitswapVersion = '1.2.0' | '1.1.0' | '1.0.0' | 'unversioned'

/** What is asked for: the block itself, or whether the peer has it. */
export type WantType = 'block' | 'have'

/** One line of a wantlist: a want, or the cancel of an earlier one. */
export interface WantlistEntry {
  readonly cid: CID
  /** Higher is sooner; an int32. */
  readonly priority: number
  readonly cancel: boolean
  readonly wantType: WantType
  readonly sendDontHave: boolean
}

/** Whether a peer says that it has a block. */
export type Presence = 'have' | 'dont-have'

/** What a block says of its own CID: everything but the digest. */
export interface CidPrefix {
  readonly version: 0 | 1
  readonly codec: number
  readonly hashCode: number
  readonly digestBytes: number
}

/** A block as it travels: no CID, only a prefix; `data` may be a slice of the frame that it came in. */
export interface WireBlock {
  readonly prefix: CidPrefix
  readonly data: Uint8Array
}

/**
 * One Bitswap message, merged by Go's rules: at most one entry, presence and
 * block per CID (boxo-bitswap §1.2). `full` replaces all earlier wants.
 */
export interface BitswapMessage {
  readonly full: boolean
  readonly entries: readonly WantlistEntry[]
  readonly blocks: readonly WireBlock[]
  readonly presences: readonly { readonly cid: CID; readonly presence: Presence }[]
  /** Bytes that the sender still has queued for us, as it says. */
  readonly pendingBytes: number
}

/** A block to send: its CID gives the prefix. */
export interface OutgoingBlock {
  readonly cid: CID
  readonly bytes: Uint8Array
}

/** What to send, before it is split into messages. */
export interface OutgoingMessage {
  /** True: the entries are all that we want; the first message to a peer. */
  readonly full?: boolean
  readonly entries?: readonly WantlistEntry[]
  readonly blocks?: readonly OutgoingBlock[]
  readonly presences?: readonly { readonly cid: CID; readonly presence: Presence }[]
  readonly pendingBytes?: number
}

/** What is taken of a stranger's message. */
export interface DecodeLimits {
  /** Bytes of one message without its length prefix. */
  readonly messageBytesMax: number
  /** Wantlist entries of one message; what is above it is dropped and counted. */
  readonly entriesMax: number
  /** Bytes of one CID in an entry or a presence; longer ones are skipped and counted (Go: 168). */
  readonly cidBytesMax: number
  /** Blocks of one message; what is above it is dropped and counted. */
  readonly blocksMax: number
  /** Presences of one message; what is above it is dropped and counted. */
  readonly presencesMax: number
}

/** What a decoder left out of a message that it otherwise took. */
export interface Skipped {
  readonly entries: number
  readonly presences: number
  readonly blocks: number
}

/** A message as it was read, with what was left out of it. */
export interface DecodedMessage extends BitswapMessage {
  readonly skipped: Skipped
}
