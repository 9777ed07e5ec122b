const bins = 10

/** How good forecasts of failure were, over one run. */
export class Forecasts {
  count = 0
  failures = 0
  #squares = 0
  readonly #bins = Array.from({ length: bins }, () => ({ count: 0, sum: 0, failures: 0 }))

  add(failChance: number, hasFailed: boolean): void {
    const outcome = hasFailed ? 1 : 0
    this.count += 1
    this.failures += outcome
    this.#squares += (failChance - outcome) ** 2
    const bin = this.#bins[Math.min(bins - 1, Math.floor(failChance * bins))]
    if (bin === undefined) return
    bin.count += 1
    bin.sum += failChance
    bin.failures += outcome
  }

  /** Mean square of forecast less outcome. */
  get brier(): number {
    return this.#squares / this.count
  }

  /** The same for who always forecasts the share that failed. */
  get brierOfBaseRate(): number {
    const rate = this.failures / this.count
    return rate * (1 - rate)
  }

  /** Mean distance between what was forecast and what came of it, by bins of forecasts. */
  get calibrationError(): number {
    let sum = 0
    for (const bin of this.#bins) sum += Math.abs(bin.sum - bin.failures)
    return sum / this.count
  }
}
