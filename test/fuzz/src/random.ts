/** Seeded numbers: the same seed, the same run, on every machine. */
export class Random {
  #state: number

  constructor(seed: number) {
    // One step of a hash, so that neighbouring seeds start far apart.
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0
  }

  /** A whole number in [0, bound). */
  below(bound: number): number {
    // mulberry32.
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * bound)
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256))
  }
}
