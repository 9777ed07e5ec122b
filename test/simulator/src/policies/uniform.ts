import type { Random } from '@shardswap/interface'
import { Choosing } from './choosing.ts'
import type { Deadlines } from './deadlines.ts'
import type { Peer, Want } from './state.ts'

/** Any candidate, all alike. */
export class Uniform extends Choosing {
  readonly #random: Random

  constructor(deadlines: Deadlines, random: Random) {
    super(deadlines)
    this.#random = random
  }

  protected override choose(_want: Want, candidates: readonly Peer[]): Peer | undefined {
    return pick(candidates, this.#random)
  }
}

/** One of them, by chance; undefined of none. */
export function pick<T>(from: readonly T[], random: Random): T | undefined {
  return from[Math.floor(random.next() * from.length)]
}
