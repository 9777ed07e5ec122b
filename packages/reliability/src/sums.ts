import { isCount, type PeerKey } from '@shardswap/interface'
import { isPeerText } from './peer-text.ts'
import type { Receipt, ReceiptTurn } from './receipts.ts'

/** What is counted of a peer in a period (P8). */
export interface Counters {
  /** Want-blocks that were sent to it, in either role. */
  readonly attempted: number
  /** Verified blocks that came from it within their deadline. */
  readonly successful: number
  /** Wants that it has the credit for (P9). */
  readonly rewardable: number
  readonly primaryTurns: number
  readonly backupTurns: number
  /** Those of its credits that it earned as a backup. */
  readonly rescued: number
}

/** The account of one peer in a period. */
export interface AccountRow extends Counters {
  readonly peer: PeerKey
}

/** The account of one period: a row for each peer, the most credits first. */
export interface PeriodReport {
  readonly period: string
  /** Milliseconds since 1970. */
  readonly startMs: number
  readonly endMs: number
  /** Wants that were closed in it. */
  readonly wants: number
  /** Receipts that were written in it, whether they are still there or not. */
  readonly receipts: number
  readonly totals: Counters
  readonly rows: readonly AccountRow[]
}

/** One peer's part of a period's account. */
export interface PeriodRow extends Pick<PeriodReport, 'period' | 'receipts'> {
  /** Undefined where nothing was asked of it. */
  readonly row: AccountRow | undefined
}

/** A period's sums as plain data. */
export interface SavedPeriod {
  readonly period: string
  readonly startMs: number
  readonly wants: number
  readonly receipts: number
  readonly rows: readonly AccountRow[]
}

/** Who came after `peersPerPeriodMax` others is counted here; no PeerId is a star. */
export const otherPeers = '*' as PeerKey

const counterNames = ['attempted', 'successful', 'rewardable', 'primaryTurns', 'backupTurns', 'rescued'] as const

/** As much of a receipt as its sum needs; JSON has null for who has no credit. */
export interface SummedReceipt extends Pick<Receipt, 'isContinued'> {
  readonly turns: readonly Pick<ReceiptTurn, 'peer' | 'role' | 'rank'>[]
  readonly credited: number | null | undefined
}

/** The same, while it is counted. */
class Row {
  attempted = 0
  successful = 0
  rewardable = 0
  primaryTurns = 0
  backupTurns = 0
  rescued = 0
}

/** Adds receipts up: what the accounts say of a period, from nothing but its receipts. */
export class PeriodSums {
  readonly name: string
  readonly startMs: number
  readonly #peersMax: number
  readonly #rows = new Map<PeerKey, Row>()
  readonly #totals = new Row()
  #wants = 0
  #receipts = 0

  constructor(name: string, startMs: number, peersMax: number) {
    this.name = name
    this.startMs = startMs
    this.#peersMax = peersMax
  }

  add({ turns, credited, isContinued }: SummedReceipt): void {
    this.#receipts += 1
    if (!isContinued) this.#wants += 1
    const totals = this.#totals
    for (let at = 0; at < turns.length; at++) {
      const { peer, role, rank } = turns[at] as SummedReceipt['turns'][number]
      const row = this.#row(peer)
      const isBackup = role === 'backup'
      count(row, isBackup, rank > 0, at === credited)
      count(totals, isBackup, rank > 0, at === credited)
    }
  }

  report(periodMs: number): PeriodReport {
    const { period, startMs, wants, receipts, rows } = this.save()
    rows.sort((a, b) => b.rewardable - a.rewardable || b.attempted - a.attempted || (a.peer < b.peer ? -1 : 1))
    return { period, startMs, endMs: startMs + periodMs, wants, receipts, totals: countersOf(this.#totals), rows }
  }

  rowOf(peer: PeerKey): PeriodRow {
    const row = this.#rows.get(peer)
    return { period: this.name, receipts: this.#receipts, row: row === undefined ? undefined : { peer, ...countersOf(row) } }
  }

  save(): SavedPeriod & { rows: AccountRow[] } {
    const rows = Array.from(this.#rows, ([peer, row]) => ({ peer, ...countersOf(row) }))
    return { period: this.name, startMs: this.startMs, wants: this.#wants, receipts: this.#receipts, rows }
  }

  restore({ wants, receipts, rows }: SavedPeriod): void {
    this.#wants += wants
    this.#receipts += receipts
    for (const saved of rows) {
      const row = this.#row(saved.peer)
      for (const name of counterNames) {
        row[name] += saved[name]
        this.#totals[name] += saved[name]
      }
    }
  }

  #row(peer: PeerKey): Row {
    const there = this.#rows.get(peer)
    if (there !== undefined) return there
    const key = this.#rows.size < this.#peersMax ? peer : otherPeers
    const row = this.#rows.get(key) ?? new Row()
    this.#rows.set(key, row)
    return row
  }
}

/** Sums receipts as the node that wrote them does: for whoever wants to check a period. */
export function sumReceipts(receipts: Iterable<SummedReceipt>): { readonly wants: number; readonly rows: readonly AccountRow[] } {
  const sums = new PeriodSums('', 0, Infinity)
  for (const receipt of receipts) sums.add(receipt)
  const { wants, rows } = sums.report(0)
  return { wants, rows }
}

/**
 * The other reading of P9, by which a primary's turn counts whether it failed or not: primary turns, and
 * wants that it rescued as a backup. A want may count twice then.
 */
export function rewardableByTurn({ primaryTurns, rescued }: Counters): number {
  return primaryTurns + rescued
}

/** Whether this is what `save` gives: a file may hold anything. */
export function isSavedPeriod(value: unknown): value is SavedPeriod {
  const { period, startMs, wants, receipts, rows } = (value ?? {}) as Record<string, unknown>
  if (typeof period !== 'string' || typeof startMs !== 'number' || !Number.isSafeInteger(startMs)) return false
  return isCount(wants) && isCount(receipts) && Array.isArray(rows) && rows.every(isRow)
}

function isRow(value: unknown): boolean {
  const row = (value ?? {}) as Record<string, unknown>
  return (isPeerText(row['peer']) || row['peer'] === otherPeers) && counterNames.every((name) => isCount(row[name]))
}

function count(row: Row, isBackup: boolean, isSuccess: boolean, isCredited: boolean): void {
  row.attempted += 1
  if (isBackup) row.backupTurns += 1
  else row.primaryTurns += 1
  if (isSuccess) row.successful += 1
  if (!isCredited) return
  row.rewardable += 1
  if (isBackup) row.rescued += 1
}

function countersOf({ attempted, successful, rewardable, primaryTurns, backupTurns, rescued }: Row): Counters {
  return { attempted, successful, rewardable, primaryTurns, backupTurns, rescued }
}
