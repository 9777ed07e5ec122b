import type { BlockKey, PeerKey } from '@shardswap/interface'
import { type Accounts, readSegment, type Receipt, receiptsOfPeer } from '@shardswap/reliability'
import { base58btc } from 'multiformats/bases/base58'
import type { OwnAccount, OwnReceipt, OwnReceiptTurn } from './types.ts'

/** A peer's row in the account of a period, the present one where none is named, and its receipts that are still there. */
export function accountOf(
  accounts: Accounts,
  peer: PeerKey,
  nowMs: number,
  period?: string
): { readonly account: OwnAccount | undefined; readonly receipts: readonly OwnReceipt[] } {
  const report = accounts.report(nowMs, period)
  const row = report?.rows.find((each) => each.peer === peer)
  // Who was never asked for anything costs no search.
  if (report === undefined || row === undefined) return { account: undefined, receipts: [] }
  const { attempted, successful, rewardable, primaryTurns, backupTurns } = row
  const receipts = accounts
    .segments()
    .filter((segment) => segment.period === report.period)
    .flatMap((segment) => Array.from(receiptsOfPeer(readSegment(segment.bytes).receipts, peer), (receipt) => ownReceipt(receipt, peer)))
  return { account: { period: report.period, attempted, successful, rewardable, primaryTurns, backupTurns }, receipts }
}

/** A receipt as one of its peers may see it: others have numbers. */
function ownReceipt({ key, closedMs, isContinued, turns, credited }: Receipt, peer: PeerKey): OwnReceipt {
  const others: PeerKey[] = []
  const whoIs = (each: PeerKey): OwnReceiptTurn['who'] => {
    if (each === peer) return 'you'
    if (!others.includes(each)) others.push(each)
    return others.indexOf(each) + 1
  }
  return {
    multihash: base58btc.baseEncode(bytesOf(key)),
    closedMs,
    isContinued,
    turns: turns.map((turn) => ({ who: whoIs(turn.peer), role: turn.role, outcome: turn.outcome, rank: turn.rank })),
    credited: credited ?? null
  }
}

/** A key holds its multihash, one character a byte. */
function bytesOf(key: BlockKey): Uint8Array {
  return Uint8Array.from(key, (char) => char.charCodeAt(0))
}
