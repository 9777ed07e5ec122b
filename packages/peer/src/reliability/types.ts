import type { AbortOptions } from '@shardswap/interface'
import type { PeerScore } from '@shardswap/reliability'

/** What a peer states of another, to that other one alone. */
export interface ScoreStatement {
  /** Who states it. */
  readonly by: string
  /** Of whom. */
  readonly about: string
  /** When, by the clock of who states it: milliseconds since 1970. */
  readonly atMs: number
  /** How `about` stands there; null where `by` does not know it. */
  readonly score: PeerScore | null
}

/** A statement about us, checked, and the signed envelope that proves it to others (`readScoreStatement`). */
export interface OwnScore extends ScoreStatement {
  readonly signed: Uint8Array
}

export interface OwnScoreOptions extends AbortOptions {
  /** The accounting period whose receipts are wanted; the current one by default. */
  readonly period?: string
  /** The first receipt that is wanted, from 0. */
  readonly receiptsFrom?: number
}
