import type { SessionLimits } from './limits.ts'

/** Where nobody delivers for so long after the first want, providers are looked up (B5), as Go's sessions do. */
const searchFirstMs = 1000

/** When a session looks providers up in routing: bounded and backed off, never one search for each block. */
export class SearchTimes {
  readonly #limits: SessionLimits
  readonly #isAllowed: boolean
  /** The soonest time of the next one. */
  #nextMs: number
  #everyMs: number
  #anyAtMs: number
  #openedAtMs: number
  /** A want has nobody left to ask. */
  #isExhausted = false

  constructor(limits: SessionLimits, isAllowed: boolean, nowMs: number) {
    this.#limits = limits
    this.#isAllowed = isAllowed
    this.#nextMs = nowMs
    this.#everyMs = limits.searchStartMs
    this.#anyAtMs = nowMs + limits.searchAnyMs
    this.#openedAtMs = nowMs
  }

  /** Blocks arrive: the next want in need is searched for at once. */
  restart(nowMs: number): void {
    this.#everyMs = this.#limits.searchStartMs
    this.#isExhausted = false
    this.#openedAtMs = nowMs
  }

  exhausted(): void {
    this.#isExhausted = true
  }

  /** Whether to search now: for the first open want, or for any (B6). Counts as done. */
  due(wants: number, providers: number, nowMs: number): 'first' | 'any' | undefined {
    if (!this.#isAllowed || wants === 0) return undefined
    if (nowMs >= this.#anyAtMs) {
      this.#anyAtMs = nowMs + this.#limits.searchAnyMs
      return 'any'
    }
    const isLate = providers === 0 && nowMs - this.#openedAtMs >= searchFirstMs
    if ((!this.#isExhausted && !isLate) || nowMs < this.#nextMs) return undefined
    this.#nextMs = nowMs + this.#everyMs
    this.#everyMs = Math.min(2 * this.#everyMs, this.#limits.searchMaxMs)
    this.#isExhausted = false
    return 'first'
  }
}
