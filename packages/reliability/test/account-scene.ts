import { blockKeyOfMultihash, peerKey } from '@shardswap/interface'
import type { BlockKey, PeerKey } from '@shardswap/interface'
import { Accounts, defaultAccountLimits, readSegment } from '@shardswap/reliability'
import type { AccountLimits, AccountRow, Receipt } from '@shardswap/reliability'

export const noonMs = Date.UTC(2026, 10, 30, 12)

/** A key as SHA-256 gives: 0x12, 0x20 and 32 bytes, here from a number. */
export function keyOf(index: number): BlockKey {
  const bytes = Uint8Array.from({ length: 34 }, (_, at) => (at < 2 ? [0x12, 0x20][at] : (index * 31 + at * 7) & 255) as number)
  bytes[32] = index & 255
  bytes[33] = index >> 8
  return blockKeyOfMultihash(bytes)
}

export function peerOf(index: number): PeerKey {
  return peerKey(`12D3KooWPeerNumber${index}`)
}

/** Accounts that begin at noon of 2026-11-30, when the cores' clock says 0. */
export function accountsWith(limits: Partial<AccountLimits> = {}, credited?: (peer: PeerKey) => void): Accounts {
  return new Accounts({ ...defaultAccountLimits, ...limits }, noonMs, 0, credited)
}

export function receiptsIn(accounts: Accounts): Receipt[] {
  return accounts.segments().flatMap(({ bytes }) => readSegment(bytes).receipts)
}

/** A row in one line: attempted, successful, rewardable; primary and backup turns; rescued. */
export function rowText(rows: readonly AccountRow[] | undefined, peer: PeerKey): string {
  const row = rows?.find((row) => row.peer === peer)
  if (row === undefined) return 'no row'
  return `${row.attempted} ${row.successful} ${row.rewardable}, ${row.primaryTurns} ${row.backupTurns}, ${row.rescued}`
}
