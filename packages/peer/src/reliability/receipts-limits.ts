/** Limits of the receipts that are stored. Each has a line in docs/limits.md. */
export interface StoredReceiptsLimits {
  /** Bytes of receipts in the datastore, over all periods; the oldest leave. */
  readonly storedReceiptBytesMax: number
  /** The same in segments. */
  readonly storedSegmentsMax: number
  /** How often receipts that fill a segment are stored, in milliseconds. */
  readonly storeEveryMs: number
  /** How often all are, with the sums that they belong to, in milliseconds. A crash costs so much of them. */
  readonly settleEveryMs: number
}

export const defaultStoredReceiptsLimits: StoredReceiptsLimits = {
  storedReceiptBytesMax: 64 * 1024 * 1024,
  storedSegmentsMax: 8192,
  storeEveryMs: 1000,
  settleEveryMs: 60_000
}
