import type { AccountLimits } from './account-limits.ts'
import { ByteWriter } from './bytes.ts'
import { SegmentWriter } from './receipts.ts'
import type { Receipt, Segment } from './receipts.ts'

/** Receipts in memory, in segments of one period each. The oldest leave, unless somebody takes them before. */
export class ReceiptLog {
  readonly #limits: AccountLimits
  readonly #full: Segment[] = []
  #fullBytes = 0
  readonly #bytes: ByteWriter
  #writer: SegmentWriter | undefined

  constructor(limits: AccountLimits) {
    this.#limits = limits
    this.#bytes = new ByteWriter(limits.segmentBytes)
  }

  get bytes(): number {
    return this.#fullBytes + (this.#writer?.bytes ?? 0)
  }

  add(period: { readonly name: string; readonly startMs: number }, receipt: Receipt): void {
    if (this.#writer !== undefined && this.#writer.period === period.name && this.#writer.add(receipt)) return
    this.#seal()
    this.#writer = new SegmentWriter(period.name, period.startMs, this.#bytes)
    this.#writer.add(receipt)
  }

  segments(): Segment[] {
    return this.#writer === undefined ? [...this.#full] : [...this.#full, this.#writer.segment()]
  }

  take(isLast: boolean): Segment | undefined {
    if (this.#full.length === 0 && isLast) this.#seal()
    const segment = this.#full.shift()
    if (segment !== undefined) this.#fullBytes -= segment.bytes.length
    return segment
  }

  #seal(): void {
    if (this.#writer === undefined) return
    const segment = this.#writer.segment()
    this.#writer = undefined
    this.#full.push(segment)
    this.#fullBytes += segment.bytes.length
    // Room for the one that is to be filled is kept too.
    while (this.#fullBytes + this.#limits.segmentBytes > this.#limits.receiptBytesMax && this.#full.length > 1) this.take(false)
  }
}
