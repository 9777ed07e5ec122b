import type { Ask, Peer } from './state.ts'
import type { Timer } from './timers.ts'
import { Uniform } from './uniform.ts'

/** Latencies that the quantile is taken of, the latest ones of all peers together. */
const samplesMax = 1000
/** So few say nothing about a tail. */
const samplesMin = 20
const quantile = 0.95
/** An answer that takes just as long is not hedged. */
const overMs = 1

/**
 * The hedged requests of "The Tail at Scale": any candidate is asked, and a second one when the first has not
 * answered in the 95th percentile of latencies. The first answer counts, and the other ask is cancelled.
 */
export class HedgeP95 extends Uniform {
  readonly #latest: number[] = []
  readonly #sorted: number[] = []
  /** Of asks that are open: when a second peer is asked. */
  readonly #hedges = new Map<Ask, Timer>()

  protected override answered({ type }: Ask, latencyMs: number): void {
    if (type !== 'want-block') return
    this.#latest.push(latencyMs)
    this.#sorted.splice(placeOf(this.#sorted, latencyMs), 0, latencyMs)
    const oldest = this.#latest.length > samplesMax ? this.#latest.shift() : undefined
    if (oldest !== undefined) this.#sorted.splice(placeOf(this.#sorted, oldest), 1)
  }

  protected override messageSent(_peer: Peer, asks: readonly Ask[], nowMs: number): void {
    const delayMs = this.#sorted.length < samplesMin ? undefined : this.#sorted[Math.ceil(quantile * this.#sorted.length) - 1]
    if (delayMs === undefined) return
    for (const ask of asks) {
      if (ask.type !== 'want-block' || ask.want.inFlight !== 1) continue
      this.#hedges.set(
        ask,
        this.timers.at(nowMs + delayMs + overMs, (atMs) => this.#hedge(ask, atMs))
      )
    }
  }

  protected override askEnded(ask: Ask): void {
    this.#hedges.get(ask)?.cancel()
    this.#hedges.delete(ask)
  }

  protected override recordsKept(): number {
    return super.recordsKept() + this.#hedges.size
  }

  #hedge(ask: Ask, nowMs: number): void {
    this.#hedges.delete(ask)
    const { want, session } = ask
    if (ask.phase !== 'open' || want.inFlight !== 1 || !this.sessions.has(session.id)) return
    const other = this.choose(
      want,
      this.candidates(want, session).filter((peer) => this.hasSpace(peer))
    )
    if (other !== undefined) this.ask(other, want, 'want-block', session, nowMs)
  }
}

/** Where a number stands, or would stand, among sorted ones. */
function placeOf(sorted: readonly number[], value: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? value) < value) low = middle + 1
    else high = middle
  }
  return low
}
