import type { BlockKey, CID, PeerKey } from '@shardswap/interface'

/** A connected peer, as a session sees it; the broker keeps it. */
export interface PeerView {
  readonly key: PeerKey
  readonly supportsHave: boolean
  /** What its score is worth in the draw (P2), from the reliability layer; only ratios mean anything. */
  readonly score: number
  /** Seen often enough, and good: others are newcomers. */
  readonly isVetted: boolean
  /** Likelier to fail than not, by what it did before. */
  readonly isDoubtful: boolean
  /** Smoothed, in milliseconds; undefined before the first answer. */
  readonly latencyMs: number | undefined
  /** When bytes last came from it. */
  readonly lastBytesAtMs: number
  /** How full its want queue is over all sessions, 0 to 1 (B18). */
  readonly depth: number
  /** Measured, in bytes per millisecond; undefined before it is known. */
  readonly bytesPerMs: number | undefined
  /** What is in flight there over all sessions, in bytes. */
  readonly inFlightBytes: number
  /** Whether one more want-have fits (they count to 1,024 with all else). */
  readonly hasHaveSpace: boolean
  /** Connected, and not shut out for blocks that nobody asked for. */
  isUsable(nowMs: number): boolean
}

/**
 * What was asked of one peer for one block, and what it said.
 * - `have-asked`: a want-have is out. - `have`: it said HAVE. - `in-flight`: a want-block is out.
 * - `dont-have`: it said DONT_HAVE. - `timed-out`: it had its time, and rests for this block (B20).
 */
export type Phase = 'have-asked' | 'have' | 'in-flight' | 'dont-have' | 'timed-out'

/** What one peer's answer to one want is so far. */
export interface Stance {
  readonly peer: PeerView
  readonly phase: Phase
  /** When the phase began. */
  readonly sinceMs: number
  /** After a timeout: T of B20, in milliseconds. */
  readonly restMs: number
  /** The peer said HAVE at some time and has not taken it back. */
  readonly promised: boolean
}

/** A block that sessions want, as the broker keeps it for all of them. */
export interface BlockView {
  readonly cid: CID
  readonly key: BlockKey
  readonly stances: ReadonlyMap<PeerKey, Stance>
  /** Want-blocks out for it, over all sessions. */
  readonly inFlight: number
  /** Want-haves out for it that are not answered. */
  readonly havesAsked: number
}

/** What a session may ask of whoever runs it. */
export interface SessionPorts {
  /** All connected peers, in no order that means anything. */
  readonly peers: readonly PeerView[]
  /** Of these, those that are vetted. */
  readonly vetted: readonly PeerView[]
  /** Whether a want-block of about so many bytes fits into the peer's queue, and it is this session's turn there. `besides`: bytes that others are asked for with it. */
  hasSpace(peer: PeerView, bytes: number, besides?: number): boolean
  /** Tells of space at the peer, by `spaceAt`, when there is some: first come, first served (B24). */
  lineUp(peer: PeerView): void
  /** Whether one that is not vetted may be picked although one that is could serve. */
  mayPickNewcomer(): boolean
  /** The session has something to do at this time, without an event: `tick` is to be called then. */
  wakeBy(atMs: number): void
}
