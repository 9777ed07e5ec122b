import { sparse, unpack } from './sparse.ts'

/** The lower end of the first bucket but one, in milliseconds; what is shorter is in the first. */
const firstMs = 0.25
/** Four buckets double a latency: each is 19 % wide. */
const perDoubling = 4
/** Up to 262 s. */
const bucketsPerRow = 81
/** Where a row holds so many, all its counts are halved: the last few hundred latencies decide. */
const rowCountMax = 512

function bucketOf(ms: number): number {
  if (!(ms > firstMs)) return 0
  return Math.min(bucketsPerRow - 1, 1 + Math.floor(Math.log2(ms / firstMs) * perDoubling))
}

/** The lower end of a bucket, in milliseconds. */
function startOf(bucket: number): number {
  return bucket === 0 ? 0 : firstMs * 2 ** ((bucket - 1) / perDoubling)
}

/** Latencies in rows of buckets that grow by a factor; old ones fade as new ones come. */
export class Histogram {
  readonly #counts: Uint16Array
  readonly #totals: Uint16Array

  constructor(rows: number) {
    this.#counts = new Uint16Array(rows * bucketsPerRow)
    this.#totals = new Uint16Array(rows)
  }

  /** Latencies that the row holds. */
  total(row: number): number {
    return this.#totals[row] ?? 0
  }

  add(row: number, ms: number): void {
    const at = row * bucketsPerRow + bucketOf(ms)
    this.#counts[at] = (this.#counts[at] as number) + 1
    this.#totals[row] = this.total(row) + 1
    if (this.total(row) >= rowCountMax) this.#halve(row)
  }

  /** The latency below which that part of the row's lies, in milliseconds; 0 where the row is empty. */
  quantile(row: number, part: number): number {
    let left = part * this.total(row)
    const from = row * bucketsPerRow
    for (let bucket = 0; bucket < bucketsPerRow; bucket++) {
      const count = this.#counts[from + bucket] as number
      if (count > 0 && left <= count) {
        const start = startOf(bucket)
        return start + (Math.max(left, 0) / count) * (startOf(bucket + 1) - start)
      }
      left -= count
    }
    return 0
  }

  /** Pairs of index and count of the buckets that are not empty. */
  toSparse(): number[] {
    return sparse(this.#counts)
  }

  /** The buckets of `toSparse`; undefined where they cannot be. */
  static fromSparse(rows: number, pairs: readonly number[]): Histogram | undefined {
    const histogram = new Histogram(rows)
    if (!unpack(pairs, histogram.#counts, rowCountMax - 1)) return undefined
    for (let row = 0; row < rows; row++) {
      let total = 0
      for (let at = row * bucketsPerRow; at < (row + 1) * bucketsPerRow; at++) total += histogram.#counts[at] as number
      if (total >= rowCountMax) return undefined
      histogram.#totals[row] = total
    }
    return histogram
  }

  #halve(row: number): void {
    let total = 0
    for (let at = row * bucketsPerRow; at < (row + 1) * bucketsPerRow; at++) {
      const half = (this.#counts[at] as number) >> 1
      this.#counts[at] = half
      total += half
    }
    this.#totals[row] = total
  }
}
