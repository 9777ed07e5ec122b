import type { ReliabilityLimits } from './limits.ts'

/**
 * The newcomers' part of the picks for which somebody vetted had space: a token bucket that each of those picks fills by
 * its part, and a newcomer's empties by one. It begins empty, so from the first pick on newcomers never have more
 * than their part, however many identities they make.
 */
export class Newcomers {
  /** In millionths of a pick, so that parts add up without error. */
  #saved = 0
  readonly #earned: number
  readonly #savedMax: number

  constructor({ newcomerShareMax, newcomerPicksMax }: ReliabilityLimits) {
    this.#earned = Math.round(newcomerShareMax * million)
    this.#savedMax = Math.max(1, newcomerPicksMax) * million
  }

  get mayBePicked(): boolean {
    // The pick itself earns its part.
    return this.#saved + this.#earned >= million
  }

  picked(isVetted: boolean): void {
    this.#saved = Math.min(this.#savedMax, this.#saved + this.#earned)
    if (!isVetted) this.#saved = Math.max(0, this.#saved - million)
  }
}

const million = 1_000_000
