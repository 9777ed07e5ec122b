import type { BlockKey, PeerKey } from '@shardswap/interface'

/** In what part a peer is asked for a block: in its turn, or beside somebody else who is likely to fail (P5, P8). */
export type Role = 'primary' | 'backup'

/** Why a want-block goes to a second peer while the first has time left (C5). */
export type BackupReason = 'proactive' | LateReason
/** By what a want-block is late: by what is usual at the peer, or sooner, as it holds the end of a fetch up. */
export type LateReason = 'late' | 'endgame'

/**
 * What became of one want-block at one peer. Only the first two groups are observations of the peer.
 * - `success`: the verified block, within its deadline.
 * - `timeout`: its time was over. `silence`: the same, after it had said HAVE. `reset`: it left meanwhile.
 *   `broken-have`: it said HAVE, then DONT_HAVE.
 * - `late`: the block came after its time, which was counted then. `denied`: DONT_HAVE of what it never
 *   claimed. `withdrawn`: cancelled by us while it had time. `refused`: it said that it is too busy.
 */
export type Outcome = 'success' | 'timeout' | 'silence' | 'reset' | 'broken-have' | 'late' | 'denied' | 'withdrawn' | 'refused'

/** One want-block at one peer, as it was sent. */
export interface Turn {
  readonly key: BlockKey
  readonly peer: PeerKey
  readonly role: Role
  /** What was forecast for it when it was sent, 0 to 1. */
  readonly failChance: number
}

/** What a success tells besides. */
export interface Delivery {
  readonly latencyMs: number
  /** The block's own bytes. */
  readonly bytes: number
  /** Bytes that had to come before it from the same peer, its own included. */
  readonly queuedBytes: number
}

/** How a peer stands: what the choice of peers needs of it. */
export interface PeerStanding {
  /** 0 to 100, a percentage (P14). */
  readonly score: number
  /** What its score is worth in the draw (P2, P21); above 0, and only ratios mean anything. */
  readonly weight: number
  /** Seen often enough, and good (20 observations, 90 % of them successes, by default). */
  readonly isVetted: boolean
  /** Until then it gets no wants, on the clock of the cores; -Infinity where it does. */
  readonly shutOutUntilMs: number
}

/** What a forecast may know of one want at one peer besides the peer's record. */
export interface Chances {
  /** How likely it is that the peer has the block: near 1 after HAVE, else the session's hit rate. */
  readonly presence: number
  /** For how long nothing came from it although something is in flight there, in milliseconds; 0 where it delivers. */
  readonly quietMs: number
}

/**
 * The reliability layer as the broker drives it. All times are milliseconds on the cores' clock, which never
 * jumps. Nothing here throws for what the network does; memory is bounded in peers, open wants and receipts.
 */
export interface ReliabilityCore {
  /** The peer is connected: its uptime begins or goes on. */
  peerConnected(peer: PeerKey, nowMs: number): void
  /** The peer is gone; what is known of it stays. */
  peerDisconnected(peer: PeerKey, nowMs: number): void

  /** A want-block was sent; with it the want begins, or goes on. */
  asked(turn: Turn, nowMs: number): void
  /** What became of it; exactly once for each `asked`, `late` besides. `delivery` goes with `success`. */
  settled(turn: Turn, outcome: Outcome, nowMs: number, delivery?: Delivery): void
  /** Nobody waits for this block any more: it came, or was dropped. Its credit is settled once its turns are. */
  ended(key: BlockKey, nowMs: number): void
  /** The peer sent a block that nobody asked for: wrong bytes look like that too. */
  receivedBad(peer: PeerKey, nowMs: number): void
  /** The peer sent blocks that nobody asked for, once too often: 24 h without wants. */
  failedHard(peer: PeerKey, nowMs: number): void
  /** A block came once more. */
  duplicated(peer: PeerKey, bytes: number): void

  /** What the peer's past says of it now. */
  standing(peer: PeerKey, nowMs: number): PeerStanding
  /**
   * Newcomers' share: whether one that is not vetted may be picked although one that is could serve. `picked`
   * is told of each primary pick for which somebody vetted had space.
   */
  mayPickNewcomer(): boolean
  /** A primary pick was made for which somebody vetted had space. */
  picked(isVetted: boolean): void

  /** P(fail) of one want-block at this peer within its deadline, 0 to 1. */
  failChance(peer: PeerKey, chances: Chances): number
  /** Whether what the peer surely has is likelier to fail there than to come. */
  isDoubtful(peer: PeerKey): boolean
  /** From when on a want-block is late at this peer: its own 99th percentile (the 95th in the endgame), in milliseconds after it was sent. */
  lateAfterMs(peer: PeerKey, queuedBytes: number, reason: LateReason): number
  /** Takes a token of the budget, where there is one and the breaker is closed; `failChance` matters for `proactive`. */
  takeBackup(reason: BackupReason, failChance: number, nowMs: number): boolean
  /** The token goes back: nobody was there to be the backup. */
  returnBackup(): void
  /**
   * Whether a peer is good enough to be the backup of one that fails with this chance, 0 to 1: less likely to fail than
   * that one (P5), and not far behind those who are vetted.
   */
  isFitForBackup(peer: PeerKey, failChance: number): boolean
}
