import type { ServeLimits } from './limits.ts'

/** What a peer has read ahead, once its link is known to be slow, in messages. */
const messagesAheadOfSlow = 4
/** At most to this share the size comes down at once. */
const shrinkMost = 1 / 4

/**
 * How large a message to one peer should be. On a slow link the first block of
 * a large message waits for the last, so the size follows what the link was seen
 * to take: it begins small, doubles while sends are quick, and where they are
 * slow shrinks to what leaves in between `sendPaceMinMs` and `sendPaceMaxMs`.
 */
export class Pace {
  readonly #limits: ServeLimits
  #targetBytes: number
  #aheadBytes: number
  /** Bytes of full messages that left quickly since the size changed. */
  #quickBytes = 0
  /** Slow sends in a row, and the best rate among them. */
  #slowSends = 0
  #bestBytesPerMs = 0

  constructor(limits: ServeLimits) {
    this.#limits = limits
    this.#targetBytes = Math.min(limits.envelopeBytesMin, limits.envelopeBytesTarget)
    // Until the link is known to be slow, it is the store that may need a long run-up.
    this.#aheadBytes = limits.readAheadBytesPerPeerMax
  }

  /** Bytes of blocks that one message aims at. */
  get targetBytes(): number {
    return this.#targetBytes
  }

  /** Bytes of blocks that may be read while others wait to be written. */
  get aheadBytes(): number {
    return this.#aheadBytes
  }

  /** A message with so many bytes of blocks was handed to the link and written `tookMs` later. */
  sent(bytes: number, tookMs: number): void {
    if (tookMs > this.#limits.sendPaceMaxMs) {
      this.#slowSends++
      this.#bestBytesPerMs = Math.max(this.#bestBytesPerMs, bytes / tookMs)
      // A busy machine stands still now and then; a slow link is always slow.
      if (this.#slowSends >= this.#limits.slowSendsPerShrink) this.#shrink()
      return
    }
    this.#forgetSlow()
    if (tookMs <= this.#limits.sendPaceMinMs) this.#grow(bytes)
  }

  /** A small message says nothing about large ones, and what buffers swallow says little about a link. */
  #grow(bytes: number): void {
    if (bytes * 2 < this.#targetBytes) return
    this.#quickBytes += bytes
    if (this.#quickBytes < this.#targetBytes * this.#limits.sendsPerDoubling) return
    this.#quickBytes = 0
    this.#targetBytes = Math.min(2 * this.#targetBytes, this.#limits.envelopeBytesTarget)
    this.#aheadBytes = Math.min(2 * this.#aheadBytes, this.#limits.readAheadBytesPerPeerMax)
  }

  #shrink(): void {
    const { envelopeBytesMin, sendPaceMinMs, sendPaceMaxMs } = this.#limits
    const fittingBytes = Math.floor((this.#bestBytesPerMs * (sendPaceMinMs + sendPaceMaxMs)) / 2)
    const leastBytes = Math.max(this.#targetBytes * shrinkMost, envelopeBytesMin)
    this.#targetBytes = Math.min(this.#targetBytes, Math.max(leastBytes, fittingBytes))
    this.#aheadBytes = Math.min(this.#aheadBytes, messagesAheadOfSlow * this.#targetBytes)
    this.#quickBytes = 0
    this.#forgetSlow()
  }

  #forgetSlow(): void {
    this.#slowSends = 0
    this.#bestBytesPerMs = 0
  }
}
