import { type AbortOptions, type BlockKey, type PeerKey } from '@shardswap/interface'
import type { Logger } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
import {
  Accounts,
  defaultAccountLimits,
  hasTurn,
  type PeriodReport,
  type PeriodRow,
  type Receipt,
  type ReceiptTurn
} from '@shardswap/reliability'
import type { Datastore } from 'interface-datastore'
import { base58btc } from 'multiformats/bases/base58'
import { nowMs } from '../clock.ts'
import { ReceiptStore } from './receipts.ts'

/** The account of one period, and what can be replayed of it. */
export interface AccountReport extends PeriodReport {
  /** Receipts of the period that are still there, of `receipts` in all. */
  readonly receiptsKept: number
  /** Periods of which something is known, oldest first. */
  readonly periods: readonly string[]
}

/** A receipt as others read it. `sumReceipts` adds such ones up to a period's account. */
export interface AccountReceipt {
  /** The block's multihash in base58btc, as Kubo writes it. */
  readonly multihash: string
  /** When the want was closed, in milliseconds since 1970. */
  readonly closedMs: number
  /** Only failures so far: the same want has a further receipt. */
  readonly isContinued: boolean
  /** In the order in which they were sent. */
  readonly turns: readonly ReceiptTurn[]
  /** Which of the turns has the credit, from 0; null where none has. */
  readonly credited: number | null
}

/** Which receipts are asked for. */
export interface ReceiptsOptions extends AbortOptions {
  /** The present period by default. */
  readonly period?: string | undefined
  /** Only receipts that this peer has a turn in. */
  readonly peer?: PeerKey | undefined
  /** About so many bytes of the receipts in the datastore, the newest; all by default. */
  readonly bytesMax?: number | undefined
}

/** Where accounts are read: in a peer that runs, or from what it left. */
export interface AccountBook {
  /** Undefined where nothing is known of the period; the present one by default. */
  report(period?: string): AccountReport | undefined
  /** One peer's row of it, for which no other is looked at. */
  row(peer: PeerKey, period?: string): PeriodRow | undefined
  /** The receipts that are still there, oldest first. */
  receipts(options?: ReceiptsOptions): AsyncGenerator<AccountReceipt>
}

export function accountBook(accounts: Accounts, store: ReceiptStore, nowMs: () => number): AccountBook {
  return {
    report: (period) => {
      const report = accounts.report(nowMs(), period)
      return report === undefined ? undefined : { ...report, receiptsKept: store.kept(report.period), periods: accounts.periods }
    },
    row: (peer, period) => accounts.row(nowMs(), peer, period),
    receipts: async function* ({ period, peer, bytesMax, signal } = {}) {
      const name = period ?? accounts.report(nowMs())?.period ?? ''
      for await (const receipt of store.receipts(name, bytesMax)) {
        signal?.throwIfAborted()
        if (peer === undefined || hasTurn(receipt, peer)) yield accountReceipt(receipt)
      }
    }
  }
}

/** What a peer that does not run now has accounted for, from its datastore, which is only read. */
export async function rememberedAccounts(
  datastore: Datastore,
  log: Logger = defaultLogger().forComponent('shardswap')
): Promise<AccountBook> {
  const accounts = new Accounts(defaultAccountLimits, Date.now(), nowMs())
  return accountBook(accounts, await ReceiptStore.open({ datastore, accounts, log, nowMs }), nowMs)
}

/** A receipt for others to read. */
export function accountReceipt({ key, closedMs, isContinued, turns, credited }: Receipt): AccountReceipt {
  return { multihash: multihashText(key), closedMs, isContinued, turns, credited: credited ?? null }
}

/** A key holds its multihash, one character a byte. */
function multihashText(key: BlockKey): string {
  return base58btc.baseEncode(Uint8Array.from(key, (char) => char.charCodeAt(0)))
}
