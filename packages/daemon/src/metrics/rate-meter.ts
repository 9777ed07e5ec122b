interface Sample {
  readonly atMs: number
  readonly totals: ReadonlyMap<string, number>
}

/** How fast totals grow, over the last few samples. Reads no clock. */
export class RateMeter {
  readonly #samplesMax: number
  #samples: Sample[] = []

  constructor(samplesMax: number) {
    this.#samplesMax = samplesMax
  }

  /** Totals at a time, in milliseconds; times do not go back. */
  sample(totals: ReadonlyMap<string, number>, atMs: number): void {
    this.#samples = [...this.#samples, { totals, atMs }].slice(-this.#samplesMax)
  }

  /** How much one of them grew in a second; 0 until there are two samples. */
  perS(name: string): number {
    const [first] = this.#samples
    const last = this.#samples.at(-1)
    if (first === undefined || last === undefined || last.atMs <= first.atMs) return 0
    return ((last.totals.get(name) ?? 0) - (first.totals.get(name) ?? 0)) / ((last.atMs - first.atMs) / 1000)
  }
}
