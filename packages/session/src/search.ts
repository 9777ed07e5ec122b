import type { CID, Random } from '@shardswap/interface'
import type { SessionLimits } from './limits.ts'
import type { Wants } from './wants.ts'

/** Sessions that are over sooner look nobody up (B5), as Go's: most of what is asked for is at hand. */
const searchFirstMs = 1000

/** When a session looks providers up in routing, and whose: bounded and backed off, never one search for each block. */
export class Search {
  readonly #limits: SessionLimits
  readonly #random: Random
  readonly #isAllowed: boolean
  /** The session's first CID, until its providers were looked up: most DAGs are announced by their roots alone. */
  #first: CID | undefined
  #firstAtMs = Number.POSITIVE_INFINITY
  /** The soonest time of the next one. */
  #nextMs: number
  #everyMs: number
  #anyAtMs: number
  #progressAtMs: number
  /** A want has nobody left to ask. */
  #isExhausted = false

  constructor(limits: SessionLimits, random: Random, isAllowed: boolean, nowMs: number) {
    this.#limits = limits
    this.#random = random
    this.#isAllowed = isAllowed
    this.#nextMs = nowMs
    this.#everyMs = limits.searchStartMs
    this.#anyAtMs = nowMs + limits.searchAnyMs
    this.#progressAtMs = nowMs
  }

  /** The session's first want. */
  begin(first: CID, nowMs: number): void {
    this.#first = first
    this.#firstAtMs = nowMs + searchFirstMs
  }

  /** Blocks arrive: the next want in need is searched for at once. */
  restart(nowMs: number): void {
    this.#everyMs = this.#limits.searchStartMs
    this.#isExhausted = false
    this.#progressAtMs = nowMs
  }

  exhausted(): void {
    this.#isExhausted = true
  }

  /** The CID whose providers are to be looked up now; counts as done. `providers`: how many are known. */
  next(wants: Wants, providers: number, nowMs: number): CID | undefined {
    if (!this.#isAllowed || wants.size === 0) return undefined
    if (nowMs >= this.#anyAtMs) {
      this.#anyAtMs = nowMs + this.#limits.searchAnyMs
      return this.#any(wants)
    }
    const isLate = nowMs - this.#progressAtMs >= searchFirstMs && providers === 0
    const isFirst = this.#first !== undefined && nowMs >= this.#firstAtMs
    if ((!this.#isExhausted && !isLate && !isFirst) || nowMs < this.#nextMs) return undefined
    this.#nextMs = nowMs + this.#everyMs
    this.#everyMs = Math.min(2 * this.#everyMs, this.#limits.searchMaxMs)
    this.#isExhausted = false
    const first = this.#first
    this.#first = undefined
    if (first !== undefined) return first
    for (const want of wants.exhausted) return want.block.cid
    for (const want of wants) return want.block.cid
    return undefined
  }

  /** B6. */
  #any(wants: Wants): CID | undefined {
    let left = Math.floor(this.#random.next() * wants.size)
    for (const want of wants) if (left-- === 0) return want.block.cid
    return undefined
  }
}
