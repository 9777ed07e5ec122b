import type { Calibration } from './views.ts'

const bins = 10
/** What one more forecast leaves of the weight of those before it: the last thousand or two decide. */
const kept = 0.999

/**
 * Keeps the score of the forecasts while they are made: Brier's (1950), the one of a forecaster who knows
 * nothing but how often things fail, and how far forecasts are from what followed, in ten bins.
 */
export class Calibrator {
  #forecasts = 0
  #weight = 0
  #failed = 0
  #squares = 0
  readonly #binForecast = new Float64Array(bins)
  readonly #binFailed = new Float64Array(bins)

  observe(failChance: number, isFailure: boolean): void {
    const outcome = isFailure ? 1 : 0
    const forecast = Math.min(1, Math.max(0, failChance))
    this.#forecasts += 1
    this.#weight = this.#weight * kept + 1
    this.#failed = this.#failed * kept + outcome
    this.#squares = this.#squares * kept + (forecast - outcome) ** 2
    for (let bin = 0; bin < bins; bin++) {
      this.#binForecast[bin] = (this.#binForecast[bin] as number) * kept
      this.#binFailed[bin] = (this.#binFailed[bin] as number) * kept
    }
    const bin = Math.min(bins - 1, Math.floor(forecast * bins))
    this.#binForecast[bin] = (this.#binForecast[bin] as number) + forecast
    this.#binFailed[bin] = (this.#binFailed[bin] as number) + outcome
  }

  get figures(): Calibration {
    const weight = Math.max(this.#weight, 1)
    const failRate = this.#failed / weight
    let distance = 0
    for (let bin = 0; bin < bins; bin++) {
      distance += Math.abs((this.#binForecast[bin] as number) - (this.#binFailed[bin] as number))
    }
    return {
      forecasts: this.#forecasts,
      failRate,
      brier: this.#squares / weight,
      baseRateBrier: failRate * (1 - failRate),
      calibrationError: distance / weight
    }
  }
}
