import type { BrokerLimits } from './limits.ts'

/** A peer that delivers at least so much keeps its deadlines standing still (B15). */
const aliveBytesPerMs = (16 * 1024) / 1000
/** What a peer is taken to deliver before its rate is known, in bytes per millisecond: 512 KiB a second, a slow home's uplink. */
const unknownBytesPerMs = (512 * 1024) / 1000
/** Arriving bytes are counted over at least so long for a sample. */
const sampleMs = 50
/** So many bytes show a rate. */
const promiseMinBytes = 64 * 1024
/** No time that is shorter shows one. */
const promiseMinMs = 2
/** How much of the window's rate a block takes back that came slower. */
const capacityGain = 1 / 32
/** Between bytes that arrive at 16 KiB/s no more time passes, where nothing is known of the peer's rate. */
const pauseUnknownMs = 100
/** Blocks asked later that arrived first: above it, an earlier one was passed over, not queued behind. */
const overtakingMax = 32

/** What was noted of a want-block when it left. */
export interface Asked {
  readonly sinceMs: number
  /** Its number in the peer's queue. */
  readonly sequence: number
  /** What the peer had delivered by then, in bytes. */
  readonly deliveredBefore: number
  /** Whether no more could be in flight with it. */
  readonly filledWindow: boolean
}

/** How much of the time since something was noted was nobody's. What was noted at one moment must move by the very same. */
export function heldMs(atMs: number, sinceMs: number, nowMs: number): number {
  return nowMs - Math.max(atMs, sinceMs)
}

/** What is known of a peer's latency and rate, and what follows from it: deadlines and windows. Milliseconds and bytes. */
export class Timing {
  /** Smoothed, with the gains of RFC 6298. */
  latencyMs: number | undefined
  latencyVariationMs = 0
  /** The shortest that was seen. */
  latencyMinMs: number | undefined
  /** Smoothed, less what was queued before the answer: the way there and back, and the work at both ends. */
  latencyNetMs: number | undefined
  /** While it had something queued for us. */
  bytesPerMs: number | undefined
  lastBytesAtMs = Number.NEGATIVE_INFINITY
  /** Number of the newest want-block that was answered by its block. */
  deliveredSequence = -1
  /** Bytes of blocks that came as they were asked for. */
  deliveredBytes = 0
  /** No other peer is connected. */
  isAlone = false
  /**
   * What the peer delivers, in bytes per millisecond, as its window counts on it: the greatest that was seen of late.
   * Each block shows what came from its asking to its arrival.
   */
  #capacity: number | undefined
  /** What its first blocks promise: their bytes over their time, but for the way there and back. */
  #promised: number | undefined
  /** Bytes since `#fromMs`; below 0 where more of those before were of no use. */
  #bytes = 0
  #fromMs: number | undefined
  /** When it was asked that had nothing in flight, and when the first bytes came since that were no mere talk. */
  #askedMs: number | undefined
  #firstBytesMs: number | undefined
  readonly #limits: BrokerLimits

  constructor(limits: BrokerLimits) {
    this.#limits = limits
  }

  /** Smooths a latency sample in: of an answer that so many bytes had to come before, its own included. */
  sampleLatency(latencyMs: number, queuedBytes: number): void {
    this.latencyMinMs = Math.min(this.latencyMinMs ?? latencyMs, latencyMs)
    const rate = this.bytesPerMs ?? this.#promised ?? 0
    const queuedMs = rate === 0 ? 0 : queuedBytes / rate
    const netMs = Math.max(this.latencyMinMs, latencyMs - queuedMs)
    this.latencyNetMs = this.latencyNetMs === undefined ? netMs : this.latencyNetMs + (netMs - this.latencyNetMs) / 8
    if (this.latencyMs === undefined) {
      this.latencyMs = latencyMs
      this.latencyVariationMs = latencyMs / 2
      return
    }
    this.latencyVariationMs += (Math.abs(latencyMs - this.latencyMs) - this.latencyVariationMs) / 4
    this.latencyMs += (latencyMs - this.latencyMs) / 8
  }

  /** When it was last asked while it had nothing in flight; -Infinity before. */
  get askedAtMs(): number {
    return this.#askedMs ?? Number.NEGATIVE_INFINITY
  }

  /** It is asked for a block while it has nothing in flight. */
  begin(nowMs: number): void {
    this.#askedMs = nowMs
    this.#firstBytesMs = undefined
  }

  /** Bytes came from the peer, of whole messages or parts of one, while something was in flight there or not. */
  sampleBytes(bytes: number, isAwaited: boolean, nowMs: number): void {
    // A message that is counted before its end is discounted after it.
    if (this.#bytes + bytes > 0) {
      this.lastBytesAtMs = nowMs
      if (isAwaited) this.#firstBytesMs ??= nowMs
    }
    if (!isAwaited) return
    if (this.#fromMs === undefined) {
      // The first bytes after a pause took their way: the rate is measured from them on.
      this.#fromMs = nowMs
      this.#bytes = Math.min(this.#bytes, 0)
      return
    }
    this.#bytes += bytes
    const spanMs = nowMs - this.#fromMs
    if (spanMs < Math.max(sampleMs, Math.min(this.latencyMinMs ?? 0, 1000))) return
    const sample = Math.max(this.#bytes, 0) / spanMs
    const gain = this.bytesPerMs === undefined ? 1 : sample > this.bytesPerMs ? 0.5 : 0.3
    this.bytesPerMs = (this.bytesPerMs ?? 0) + gain * (sample - (this.bytesPerMs ?? 0))
    this.#bytes = Math.min(this.#bytes, 0)
    this.#fromMs = nowMs
  }

  /** A block came that was asked for with a want-block; `asked` tells of that moment. */
  deliver(bytes: number, asked: Asked, nowMs: number): void {
    this.deliveredSequence = Math.max(this.deliveredSequence, asked.sequence)
    if (this.deliveredBytes === 0) this.#sampleWay(asked)
    this.deliveredBytes += bytes
    const delivered = this.deliveredBytes - asked.deliveredBefore
    const tookMs = nowMs - asked.sinceMs
    const sample = delivered / Math.max(1, tookMs)
    if (delivered >= promiseMinBytes) this.#promised = delivered / Math.max(promiseMinMs, tookMs - (this.latencyMinMs ?? 0))
    if (this.#capacity === undefined || sample > this.#capacity) this.#capacity = sample
    // Who was asked for less than it may have in flight shows less than it can.
    else if (asked.filledWindow) this.#capacity += capacityGain * (sample - this.#capacity)
  }

  // A large block's own time on a slow link is no part of the way: of the first one, its first bytes tell.
  // Later ones may be mistaken for a block of before.
  #sampleWay({ sinceMs }: Asked): void {
    if (sinceMs !== this.#askedMs || this.#firstBytesMs === undefined) return
    this.latencyMinMs = Math.min(this.latencyMinMs ?? Number.POSITIVE_INFINITY, this.#firstBytesMs - sinceMs)
  }

  /**
   * A message of so many bytes held nothing that was asked for: by the rate, and by what is still
   * arriving, it is as if it had not come, else talk alone would hold wants back.
   */
  discount(bytes: number): void {
    this.#bytes -= bytes
    this.#firstBytesMs = undefined
  }

  /** Whatever was noted before `nowMs` moves on by the time since then that was nobody's. */
  standStill(sinceMs: number, nowMs: number): void {
    const moved = (atMs: number): number => atMs + heldMs(atMs, sinceMs, nowMs)
    if (this.lastBytesAtMs !== Number.NEGATIVE_INFINITY) this.lastBytesAtMs = moved(this.lastBytesAtMs)
    if (this.#fromMs !== undefined) this.#fromMs = moved(this.#fromMs)
    if (this.#askedMs !== undefined) this.#askedMs = moved(this.#askedMs)
    if (this.#firstBytesMs !== undefined) this.#firstBytesMs = moved(this.#firstBytesMs)
  }

  /** Nothing is in flight there any more: what was counted since the last sample, and the time to come, say nothing. */
  pause(): void {
    this.#fromMs = undefined
    this.#bytes = Math.min(this.#bytes, 0)
  }

  /**
   * How long a want may take until so many bytes have come, its own and those ahead of it: latency and four
   * times its variation (RFC 6298), within bounds, plus those bytes at the peer's rate (B15).
   */
  timeoutMs(bytes: number): number {
    const { timeoutStartMs, timeoutMinMs, timeoutMaxMs } = this.#limits
    const latency =
      this.latencyMs === undefined
        ? timeoutStartMs
        : Math.min(timeoutMaxMs, Math.max(timeoutMinMs, this.latencyMs + 4 * this.latencyVariationMs))
    const rate = this.bytesPerMs ?? unknownBytesPerMs
    // Of a peer below the rate of the living, little is due to what is ahead.
    const bytesMaxMs = rate >= aliveBytesPerMs ? 10 * timeoutMaxMs : timeoutMaxMs
    return latency + (rate > 0 ? Math.min(bytes / rate, bytesMaxMs) : 0)
  }

  /** Whether nothing of use came for so long that what is ahead of a want excuses nothing any more. */
  isQuiet(sentAtMs: number, nowMs: number): boolean {
    return nowMs - Math.max(sentAtMs, this.lastBytesAtMs) > this.#limits.timeoutMaxMs
  }

  /** Whether a want that is past its deadline is rather behind bytes that are still arriving (B15). */
  isStillArriving(sequence: number, sentAtMs: number, nowMs: number): boolean {
    if (this.deliveredSequence - sequence > overtakingMax) return false
    // A peer that is known to deliver may pause; of another, bytes must have come since it was asked, and come now.
    if (this.bytesPerMs === undefined && this.lastBytesAtMs <= sentAtMs) return false
    const pauseMaxMs = this.bytesPerMs === undefined ? pauseUnknownMs : this.#limits.timeoutStartMs
    if (nowMs - this.lastBytesAtMs > pauseMaxMs) return false
    const spanMs = Math.max(nowMs - (this.#fromMs ?? nowMs), 1)
    return (this.bytesPerMs ?? 0) >= aliveBytesPerMs || this.#bytes / spanMs >= aliveBytesPerMs
  }

  /**
   * Bytes that a peer may have in flight (B15): what its rate delivers in twice
   * its latency and a slack. Twice, so that the window grows while the link has
   * room; the slack fills links that are shorter than the work at their ends.
   * The latency is net of what is queued: the whole would hold on to a queue once
   * it is there, and the shortest ever seen would starve a peer whose machine is
   * busy, since a smaller window then only makes a smaller rate.
   */
  windowBytes(): number {
    const { windowMinBytes, windowNearMaxBytes, windowMaxBytes, windowSlackMs } = this.#limits
    if (this.#capacity === undefined) return this.#firstBytes
    const spanMs = 2 * (this.latencyNetMs ?? 0) + windowSlackMs
    const byRate = this.#capacity * spanMs
    const isNew = this.deliveredBytes < windowNearMaxBytes
    // What our own work makes of the latency of a peer nearby is no reason to have ever more on its way.
    const wayBytes = this.#capacity * (4 * (this.latencyMinMs ?? 0) + windowSlackMs)
    const mostBytes = Math.min(windowMaxBytes, Math.max(windowNearMaxBytes, wayBytes))
    return Math.max(windowMinBytes, Math.min(mostBytes, isNew ? Math.max(byRate, this.#startBytes(spanMs)) : byRate))
  }

  /** The window of a peer that has not delivered much: what its first blocks promise, three times as much for each windowful. */
  #startBytes(spanMs: number): number {
    if (this.#promised === undefined) return this.#firstBytes
    return Math.min(this.#firstBytes + 2 * this.deliveredBytes, this.#promised * spanMs)
  }

  get #firstBytes(): number {
    const { windowStartBytes, windowStartAloneBytes } = this.#limits
    return this.isAlone ? Math.max(windowStartBytes, windowStartAloneBytes) : windowStartBytes
  }
}
