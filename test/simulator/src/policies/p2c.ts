import type { Random } from '@shardswap/interface'
import { Choosing } from './choosing.ts'
import type { Deadlines } from './deadlines.ts'
import type { Ask, Peer, Want } from './state.ts'
import { pick } from './uniform.ts'

/**
 * Power of two choices: of two candidates taken by chance, the one with the smaller product of wants in flight and
 * latency. A want that had its time counts as answered then, or who never answers would look idle.
 */
export class P2c extends Choosing {
  readonly #random: Random

  constructor(deadlines: Deadlines, random: Random) {
    super(deadlines)
    this.#random = random
  }

  protected override choose(_want: Want, candidates: readonly Peer[]): Peer | undefined {
    const one = pick(candidates, this.#random)
    const other = pick(
      candidates.filter((peer) => peer !== one),
      this.#random
    )
    if (one === undefined || other === undefined) return one
    return load(other) < load(one) ? other : one
  }

  protected override askTimedOut(ask: Ask, nowMs: number): void {
    if (ask.sentAtMs !== undefined) ask.peer.timing.sampleLatency(nowMs - ask.sentAtMs, 0)
    super.askTimedOut(ask, nowMs)
  }
}

/** A peer of which no answer was timed yet counts as if it answered in a millisecond: it is tried. */
function load({ inFlight, timing }: Peer): number {
  return (inFlight + 1) * (timing.latencyMs ?? 1)
}
