import type { Ask } from '../state.ts'
import type { Timer, Timers } from '../timers.ts'

/** Before anything was timed. */
const startMs = 5000
const leastMs = 50
const mostMs = 7000
const latencyMultiplier = 2
const newShareMin = 0.5
/** Longer answers say nothing about the way. */
const latencyMaxMs = 30_000

/**
 * When a peer that does not answer is taken to have said DONT_HAVE: after twice its latency, of want-blocks
 * only. The time runs until the want is cancelled or over, whatever the peer says meanwhile.
 */
export class Timeouts {
  timeoutMs = startMs
  readonly #timers: Timers
  readonly #expire: (ask: Ask, nowMs: number) => void
  /** Since when, the oldest first. */
  readonly #pending = new Map<Ask, number>()
  #timer: Timer | undefined
  #samples = 0
  #latencyMs = 0

  constructor(timers: Timers, expire: (ask: Ask, nowMs: number) => void) {
    this.#timers = timers
    this.#expire = expire
  }

  get size(): number {
    return this.#pending.size
  }

  add(ask: Ask, nowMs: number): void {
    if (!this.#pending.has(ask)) this.#pending.set(ask, nowMs)
    if (this.#timer === undefined) this.#arm()
  }

  remove(ask: Ask): void {
    if (this.#pending.delete(ask) && this.#pending.size === 0) this.#arm()
  }

  sample(latencyMs: number): void {
    if (latencyMs >= latencyMaxMs) return
    this.#samples += 1
    const share = Math.max(newShareMin, 1 / this.#samples)
    this.#latencyMs = share * latencyMs + (1 - share) * this.#latencyMs
    this.timeoutMs = Math.min(mostMs, Math.max(leastMs, latencyMultiplier * this.#latencyMs))
    this.#arm()
  }

  #arm(): void {
    this.#timer?.cancel()
    const [oldest] = this.#pending.values()
    this.#timer = oldest === undefined ? undefined : this.#timers.at(oldest + this.timeoutMs, (nowMs) => this.#check(nowMs))
  }

  #check(nowMs: number): void {
    const expired: Ask[] = []
    for (const [ask, sentAtMs] of this.#pending) {
      if (sentAtMs + this.timeoutMs > nowMs) break
      expired.push(ask)
    }
    for (const ask of expired) this.#pending.delete(ask)
    this.#arm()
    for (const ask of expired) this.#expire(ask, nowMs)
  }
}
