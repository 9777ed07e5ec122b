import { assert } from '@shardswap/interface'

/** Limits of the accounts: names, units, defaults and their reasons. Each has a line in docs/limits.md. */
export interface AccountLimits {
  /** How long a period is, by wall time; periods begin at multiples of it, counted from 1970 in UTC. */
  readonly periodMs: number
  /** Periods of which the sums are kept, the present one included; the oldest leave. */
  readonly periodsMax: number
  /** Peers with a row of their own in one period; who comes later shares one row. */
  readonly peersPerPeriodMax: number
  /** Wants with an open entry; above it the oldest is closed by what is known. */
  readonly openWantsMax: number
  /** Turns of one want in a receipt; a want that fails more often leaves several. */
  readonly turnsPerReceiptMax: number
  /** Bytes of one segment of receipts. */
  readonly segmentBytes: number
  /** Bytes of receipts in memory; the oldest segments leave unless somebody takes them. */
  readonly receiptBytesMax: number
}

/** The defaults; the reasons stand in docs/limits.md. */
export const defaultAccountLimits: AccountLimits = {
  periodMs: 86_400_000,
  periodsMax: 32,
  peersPerPeriodMax: 4096,
  openWantsMax: 65_536,
  turnsPerReceiptMax: 16,
  segmentBytes: 64 * 1024,
  receiptBytesMax: 1024 * 1024
}

/** Throws AssertionError where no account could be kept within these limits. */
export function verifyAccountLimits(limits: AccountLimits): void {
  for (const [name, value] of Object.entries(limits)) assert(Number.isSafeInteger(value) && value > 0, `${name} is a number above 0`)
  assert(
    limits.receiptBytesMax >= 2 * limits.segmentBytes,
    'receiptBytesMax holds two segments, the one that is filled and one to be taken'
  )
}
