import { Histogram } from './histogram.ts'
import type { Delivery, LateReason } from './types.ts'

/** Up to so many bytes, its own and those before it, a block's latency is filed in one row; more in the last. */
const rowBytesMax = [32 * 1024, 512 * 1024, 4 * 1024 * 1024] as const
/** The row of all latencies, net of what was queued. */
const allRow = rowBytesMax.length + 1
const rows = allRow + 1
/** Gains of smoothing, as in RFC 6298. */
const latencyGain = 1 / 8
const variationGain = 1 / 4
/** What one more delivery leaves of the weight of those before it, in the time that a byte takes. */
const rateKept = 1 - 1 / 32
/** How fast the shortest latency gives way where the way becomes longer. */
const shortestGain = 1 / 256
/** What is kept over a restart, beside the buckets. */
const latencyNumbers = 6

function rowOf(queuedBytes: number): number {
  let row = 0
  for (const bytesMax of rowBytesMax) {
    if (queuedBytes <= bytesMax) break
    row += 1
  }
  return row
}

/** A quantile of one row, taken anew after a sixteenth of the row's number of samples. */
class CachedQuantile {
  readonly #histogram: Histogram
  readonly #row: number
  readonly #part: number
  #ms = 0
  #left = 0

  constructor(histogram: Histogram, row: number, part: number) {
    this.#histogram = histogram
    this.#row = row
    this.#part = part
  }

  sampled(): void {
    this.#left -= 1
  }

  get ms(): number {
    if (this.#left <= 0) {
      this.#ms = this.#histogram.quantile(this.#row, this.#part)
      this.#left = Math.max(1, this.#histogram.total(this.#row) >> 4)
    }
    return this.#ms
  }
}

/** One peer's latencies and the time that a byte takes it. Milliseconds and bytes. */
export class Latency {
  /** Smoothed, net of the time that what was queued before took. */
  smoothedMs = 0
  variationMs = 0
  /** The shortest latency, and what had to come for it. */
  #shortestMs = 0
  #shortestBytes = 0
  /** Time between arrivals while more was out, and what arrived, older ones fading. */
  #rateMs = 0
  #rateBytes = 0
  #lastArrivalMs = Number.NEGATIVE_INFINITY
  readonly #histogram: Histogram
  readonly #median: CachedQuantile
  /** By row; each is made when it is first asked for. */
  readonly #late: (CachedQuantile | undefined)[] = []
  readonly #endgame: (CachedQuantile | undefined)[] = []

  constructor(histogram = new Histogram(rows)) {
    this.#histogram = histogram
    this.#median = new CachedQuantile(histogram, allRow, 0.5)
  }

  /** What a byte takes, in milliseconds; 0 where only one block at a time was out. */
  get perByteMs(): number {
    return this.#rateBytes === 0 ? 0 : this.#rateMs / this.#rateBytes
  }

  /** The median net of what was queued, so that neither distance nor load counts twice. */
  get medianMs(): number {
    return this.#median.ms
  }

  /** A quantile of all latencies, net of what was queued; taken from the buckets each time. */
  quantileMs(part: number): number {
    return this.#histogram.quantile(allRow, part)
  }

  /** Returns the latency net of what was queued. */
  sample({ latencyMs, bytes, queuedBytes }: Delivery, nowMs: number): number {
    this.#sampleRate(latencyMs, bytes, nowMs)
    this.#sampleShortest(latencyMs, queuedBytes, queuedBytes <= bytes)
    const restMs = latencyMs - queuedBytes * this.perByteMs
    // A rate that is taken from less than the link could do must not make a far peer near.
    const netMs = Math.max(this.#shortestMs - this.#shortestBytes * this.perByteMs, restMs, 0)
    this.#smooth(netMs)
    const row = rowOf(queuedBytes)
    // What is left may be nothing: `lateAfterMs` adds the same bytes at the same rate again.
    this.#add(row, restMs)
    this.#add(allRow, netMs)
    return netMs
  }

  /**
   * From when on a block behind so many bytes, its own included, is late: by the peer's own percentile for
   * such a number of bytes where enough were seen, else by that of all, else by its mean and variation.
   */
  lateAfterMs(queuedBytes: number, reason: LateReason): number {
    return this.netLateMs(queuedBytes, reason) + queuedBytes * this.perByteMs
  }

  /** The same without the time of the bytes themselves. */
  netLateMs(queuedBytes: number, reason: LateReason): number {
    // The 99th of a hundred latencies, or the 19th of twenty, is the first that says anything of the rest.
    const isLate = reason === 'late'
    const samplesMin = isLate ? 100 : 20
    let row = rowOf(queuedBytes)
    if (this.#histogram.total(row) < samplesMin) row = allRow
    if (this.#histogram.total(row) < samplesMin) return this.smoothedMs + (isLate ? 4 : 2) * this.variationMs
    const quantiles = isLate ? this.#late : this.#endgame
    const quantile = (quantiles[row] ??= new CachedQuantile(this.#histogram, row, isLate ? 0.99 : 0.95))
    return quantile.ms
  }

  toNumbers(): number[] {
    return [this.smoothedMs, this.variationMs, this.#shortestMs, this.#shortestBytes, this.#rateMs, this.#rateBytes]
  }

  toSparse(): number[] {
    return this.#histogram.toSparse()
  }

  /** What `toNumbers` and `toSparse` gave out; undefined where it cannot be. */
  static from(numbers: readonly number[], sparse: readonly number[]): Latency | undefined {
    const histogram = Histogram.fromSparse(rows, sparse)
    if (histogram === undefined || histogram.total(allRow) === 0 || numbers.length !== latencyNumbers) return undefined
    if (numbers.some((number) => !(number >= 0 && number <= Number.MAX_SAFE_INTEGER))) return undefined
    const latency = new Latency(histogram)
    const [smoothedMs = 0, variationMs = 0, shortestMs = 0, shortestBytes = 0, rateMs = 0, rateBytes = 0] = numbers
    latency.smoothedMs = smoothedMs
    latency.variationMs = variationMs
    latency.#shortestMs = shortestMs
    latency.#shortestBytes = shortestBytes
    latency.#rateMs = rateMs
    latency.#rateBytes = rateBytes
    return latency
  }

  #add(row: number, ms: number): void {
    this.#histogram.add(row, ms)
    this.#late[row]?.sampled()
    this.#endgame[row]?.sampled()
    if (row === allRow) this.#median.sampled()
  }

  #sampleShortest(latencyMs: number, queuedBytes: number, isAlone: boolean): void {
    if (this.#shortestMs === 0 || latencyMs <= this.#shortestMs) {
      this.#shortestMs = latencyMs
      this.#shortestBytes = queuedBytes
    } else if (isAlone) {
      // Only with nothing ahead does a longer time say that the way is longer now.
      this.#shortestMs += (latencyMs - this.#shortestMs) * shortestGain
      this.#shortestBytes += (queuedBytes - this.#shortestBytes) * shortestGain
    }
  }

  // Of two that were out together, the time between their arrivals is what the second one's bytes took.
  #sampleRate(latencyMs: number, bytes: number, nowMs: number): void {
    if (nowMs - latencyMs < this.#lastArrivalMs) {
      this.#rateMs = this.#rateMs * rateKept + (nowMs - this.#lastArrivalMs)
      this.#rateBytes = this.#rateBytes * rateKept + bytes
    }
    this.#lastArrivalMs = nowMs
  }

  #smooth(netMs: number): void {
    if (this.smoothedMs === 0) {
      this.smoothedMs = netMs
      this.variationMs = netMs / 2
      return
    }
    this.variationMs += (Math.abs(netMs - this.smoothedMs) - this.variationMs) * variationGain
    this.smoothedMs += (netMs - this.smoothedMs) * latencyGain
  }
}
