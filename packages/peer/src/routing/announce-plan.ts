/**
 * When what is announced again: decides, and neither waits nor tells anybody. Times are milliseconds since 1970, since
 * what was announced when is remembered over restarts.
 *
 * All CIDs are gone through in a round; in it each is announced that was never announced, or not for `everyMs`. The next
 * round begins when the first of those left out is due. 1. No CID is announced earlier than `everyMs` after it was, nor
 * (where routers answer) later than `roundEveryMs` after that. 2. Where all went well, rounds begin at least `roundEveryMs`
 * apart, and at most `everyMs`. 3. What failed is tried in the next round, which then comes sooner: after `retryMs` at
 * first, twice as long after each round in which everything failed.
 */
export interface AnnouncePlanLimits {
  /** How long after it was announced a CID is due again. */
  readonly everyMs: number
  /** Rounds begin so far apart at least: each goes through all CIDs. */
  readonly roundEveryMs: number
  /** The wait after a round in which something failed; it doubles, up to `roundEveryMs`. */
  readonly retryMs: number
}

export class AnnouncePlan {
  readonly #limits: AnnouncePlanLimits
  #nextRoundAtMs: number
  #firstDueAtMs = Infinity
  #done = 0
  #failed = 0
  #failuresInRow = 0

  /** The first round begins at `nowMs`. */
  constructor(limits: AnnouncePlanLimits, nowMs: number) {
    this.#limits = limits
    this.#nextRoundAtMs = nowMs
  }

  get nextRoundAtMs(): number {
    return this.#nextRoundAtMs
  }

  get everyMs(): number {
    return this.#limits.everyMs
  }

  /** Announcements of this round that failed. */
  get failed(): number {
    return this.#failed
  }

  /** How long until the next round. One that seems further away than any is due now: the clock was set back. */
  waitMs(nowMs: number): number {
    const waitMs = this.#nextRoundAtMs - nowMs
    return waitMs > this.#limits.everyMs ? 0 : Math.max(0, waitMs)
  }

  /** Whether a CID is due that was announced at `lastMs`, or never. A time in the future is none: the clock was wrong then. */
  isDue(lastMs: number | undefined, nowMs: number): boolean {
    return lastMs === undefined || lastMs > nowMs || nowMs - lastMs >= this.#limits.everyMs
  }

  beginRound(): void {
    this.#firstDueAtMs = Infinity
    this.#done = 0
    this.#failed = 0
  }

  /** A CID that is not due was met in the round. */
  later(lastMs: number): void {
    this.#firstDueAtMs = Math.min(this.#firstDueAtMs, lastMs + this.#limits.everyMs)
  }

  /** A CID was announced, or could not be. */
  announced(nowMs: number, isDone: boolean): void {
    if (isDone) {
      this.#done++
      this.later(nowMs)
    } else this.#failed++
  }

  /** All CIDs were gone through. */
  endRound(nowMs: number): void {
    const { everyMs, roundEveryMs, retryMs } = this.#limits
    if (this.#failed === 0 || this.#done > 0) this.#failuresInRow = 0
    const afterMs = Math.min(roundEveryMs, everyMs)
    if (this.#failed > 0) {
      this.#nextRoundAtMs = nowMs + Math.min(afterMs, retryMs * 2 ** Math.min(this.#failuresInRow, 30))
      this.#failuresInRow++
      return
    }
    this.#nextRoundAtMs = Math.min(Math.max(this.#firstDueAtMs, nowMs + afterMs), nowMs + everyMs)
  }

  /** There is something new that could not be announced at once: the next round comes when a round may. */
  missed(nowMs: number): void {
    this.#nextRoundAtMs = Math.min(this.#nextRoundAtMs, nowMs + this.#limits.retryMs)
  }
}
