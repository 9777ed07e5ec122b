import type { AbortOptions, PeerKey } from '@shardswap/interface'
import type { Counters, PeerScore, ReceiptTurn } from '@shardswap/reliability'
import type { AccountReceipt } from './account-book.ts'

/** One want-block of a receipt. */
export interface OwnReceiptTurn extends Omit<ReceiptTurn, 'peer'> {
  /** `you`, or the number of another peer within this receipt, from 1: who that is concerns nobody else. */
  readonly who: 'you' | number
}

/** What one want came to in which the peer had a turn: enough to work out who is to be credited (P9). */
export interface OwnReceipt extends Omit<AccountReceipt, 'turns'> {
  /** In the order in which they were sent. */
  readonly turns: readonly OwnReceiptTurn[]
}

/** A peer's row in the account of one period (P8, P9). */
export interface OwnAccount extends Counters {
  /** The period's name, its day in UTC by default. */
  readonly period: string
}

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
  /** Its row in the account of the period asked for; null where it has none. */
  readonly account: OwnAccount | null
  /** Receipts of that period that are still there and were looked through, in which it had a turn. */
  readonly receiptsInAll: number
  /** Whether the period has older receipts that are gone, or were not looked through: what is in `account` may be more. */
  readonly receiptsCut: boolean
  /** Those from here on are in `receipts`, as many as fit. */
  readonly receiptsFrom: number
  readonly receipts: readonly OwnReceipt[]
}

/** A statement about us, checked, and the signed envelope that proves it to others (`readStatement`). */
export interface OwnScore extends ScoreStatement {
  readonly signed: Uint8Array
}

/** What is asked of the peer besides its score. */
export interface OwnScoreOptions extends AbortOptions {
  /** Name of the accounting period; the present one by default. */
  readonly period?: string
  /** The first receipt that is wanted, from 0. */
  readonly receiptsFrom?: number
}

/** What a peer knows of another that asks for its own: see `ScoreStatement`. */
export interface OwnLine {
  readonly score: PeerScore | undefined
  readonly account: OwnAccount | undefined
  readonly receipts: OwnReceipts
}

/** Receipts, each worded when it is asked for. */
export interface OwnReceipts {
  readonly length: number
  /** Whether the period has others, which are gone or were not looked through. */
  readonly isCut: boolean
  at(index: number): OwnReceipt | undefined
}

/** Where the lines of peers come from. */
export interface LineSource {
  /** Period: the present one where it is left out. */
  line(peer: PeerKey, period: string | undefined): OwnLine | Promise<OwnLine>
}
