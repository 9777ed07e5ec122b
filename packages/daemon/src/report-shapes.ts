/** JSON of accounts: Kubo has no such call, so only the manner is its own. Receipts are as in the library. */
import { peerKey } from '@shardswap/interface'
import type { AccountReport, AccountRow, Counters } from '@shardswap/peer'

/** JSON: what was asked of a peer and came of it. */
export interface CountersShape {
  /** Want-blocks sent, in either role. */
  readonly Attempted: number
  /** Blocks that came in time. */
  readonly Successful: number
  /** Wants credited: once each at most (P9). */
  readonly Rewardable: number
  readonly PrimaryTurns: number
  readonly BackupTurns: number
  /** Credits that were earned as a backup. */
  readonly Rescued: number
}

/** JSON: the account of one peer. */
export interface AccountRowShape extends CountersShape {
  /** A PeerId; `*` for those that came when there were too many. */
  readonly Peer: string
}

/** JSON of `report`: the account of a period. */
export interface ReportShape {
  readonly Period: string
  /** Milliseconds since 1970. */
  readonly StartMs: number
  readonly EndMs: number
  readonly Wants: number
  readonly Receipts: number
  /** Those that are still there. */
  readonly ReceiptsKept: number
  readonly Totals: CountersShape
  readonly Peers: readonly AccountRowShape[]
  /** Every period of which something is known, oldest first. */
  readonly Periods: readonly string[]
}

/** The JSON of `report`. */
export function reportShape(report: AccountReport): ReportShape {
  return {
    Period: report.period,
    StartMs: report.startMs,
    EndMs: report.endMs,
    Wants: report.wants,
    Receipts: report.receipts,
    ReceiptsKept: report.receiptsKept,
    Totals: countersShape(report.totals),
    Peers: report.rows.map(rowShape),
    Periods: report.periods
  }
}

/** Reads the JSON of `report`. */
export function reportOf(shape: ReportShape): AccountReport {
  return {
    period: shape.Period,
    startMs: shape.StartMs,
    endMs: shape.EndMs,
    wants: shape.Wants,
    receipts: shape.Receipts,
    receiptsKept: shape.ReceiptsKept,
    totals: countersOf(shape.Totals),
    rows: shape.Peers.map((row): AccountRow => ({ peer: peerKey(row.Peer), ...countersOf(row) })),
    periods: shape.Periods
  }
}

function rowShape(row: AccountRow): AccountRowShape {
  return { Peer: row.peer, ...countersShape(row) }
}

function countersShape(counters: Counters): CountersShape {
  return {
    Attempted: counters.attempted,
    Successful: counters.successful,
    Rewardable: counters.rewardable,
    PrimaryTurns: counters.primaryTurns,
    BackupTurns: counters.backupTurns,
    Rescued: counters.rescued
  }
}

function countersOf(shape: CountersShape): Counters {
  return {
    attempted: shape.Attempted,
    successful: shape.Successful,
    rewardable: shape.Rewardable,
    primaryTurns: shape.PrimaryTurns,
    backupTurns: shape.BackupTurns,
    rescued: shape.Rescued
  }
}
