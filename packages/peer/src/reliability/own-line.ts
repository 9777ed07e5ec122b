import type { PeerKey } from '@shardswap/interface'
import type { AccountBook, AccountReceipt } from './account-book.ts'
import type { OwnAccount, OwnReceipt, OwnReceiptTurn } from './types.ts'

/** Of receipts in the datastore so many bytes are looked through for one answer, the newest: some 100,000 receipts. */
const searchedBytesMax = 4 * 1024 * 1024

/** A peer's row in the account of a period, the present one where none is named, and its receipts that are still there. */
export async function accountOf(
  book: AccountBook,
  peer: PeerKey,
  period?: string
): Promise<{ readonly account: OwnAccount | undefined; readonly receipts: readonly OwnReceipt[] }> {
  const report = book.report(period)
  const row = report?.rows.find((each) => each.peer === peer)
  // Who was never asked for anything costs no search.
  if (report === undefined || row === undefined) return { account: undefined, receipts: [] }
  const { attempted, successful, rewardable, primaryTurns, backupTurns } = row
  const receipts: OwnReceipt[] = []
  for await (const receipt of book.receipts({ period: report.period, peer, bytesMax: searchedBytesMax })) {
    receipts.push(ownReceipt(receipt, peer))
  }
  return { account: { period: report.period, attempted, successful, rewardable, primaryTurns, backupTurns }, receipts }
}

/** A receipt as one of its peers may see it: others have numbers. */
function ownReceipt({ multihash, closedMs, isContinued, turns, credited }: AccountReceipt, peer: PeerKey): OwnReceipt {
  const others: PeerKey[] = []
  const whoIs = (each: PeerKey): OwnReceiptTurn['who'] => {
    if (each === peer) return 'you'
    if (!others.includes(each)) others.push(each)
    return others.indexOf(each) + 1
  }
  return {
    multihash,
    closedMs,
    isContinued,
    turns: turns.map((turn) => ({ who: whoIs(turn.peer), role: turn.role, outcome: turn.outcome, rank: turn.rank })),
    credited
  }
}
