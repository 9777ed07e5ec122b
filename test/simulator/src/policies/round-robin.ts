import { Choosing } from './choosing.ts'
import type { Peer, Want } from './state.ts'

/** The next candidate after the one that was asked last, in the order in which peers were met. */
export class RoundRobin extends Choosing {
  #last = -1

  protected override choose(_want: Want, candidates: readonly Peer[]): Peer | undefined {
    let next: Peer | undefined
    for (const peer of candidates)
      if (this.#stepsTo(peer) < (next === undefined ? Number.POSITIVE_INFINITY : this.#stepsTo(next))) next = peer
    if (next !== undefined) this.#last = next.order
    return next
  }

  /** How far it is to this peer, on a round that begins behind the last one. */
  #stepsTo({ order }: Peer): number {
    return order > this.#last ? order - this.#last : order + 2 ** 32
  }
}
