/**
 * Bytes that are asked for or held ahead of consumers. Readers that share one
 * stay within it together; the block that a consumer waits for is outside it,
 * so none of them can starve another for good.
 */
export class ByteBudget {
  readonly bytesMax: number
  held = 0

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax
  }

  /** Whether `bytes` more are within the bound. */
  fits(bytes: number): boolean {
    return this.held + bytes <= this.bytesMax
  }

  isFull(): boolean {
    return this.held >= this.bytesMax
  }
}
