export const hourMs = 60 * 60 * 1000
export const hoursPerDay = 24

/**
 * Dates moments of the cores' clock. The wall's time is taken once: that it jumps afterwards changes
 * nothing, so no hour is counted twice and none is left out.
 */
export class Calendar {
  readonly #offsetMs: number

  constructor(wallMs: number, nowMs: number) {
    this.#offsetMs = wallMs - nowMs
  }

  /** The wall's time at a moment of the cores' clock. */
  wallMs(nowMs: number): number {
    return nowMs + this.#offsetMs
  }

  /** The moment on the cores' clock of a time of the wall. */
  nowMs(wallMs: number): number {
    return wallMs - this.#offsetMs
  }

  /** The hour since 1970 in which a moment lies. */
  hour(nowMs: number): number {
    return Math.floor((nowMs + this.#offsetMs) / hourMs)
  }
}
