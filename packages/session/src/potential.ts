/** Arrivals looked at for the share of duplicates. */
const arrivalsMax = 64
/** Before so many arrivals a share says little. */
const arrivalsMin = 8
const duplicatesHigh = 0.2
const duplicatesLow = 0.05

/**
 * A session's potential P (B9): how many asks one want is worth at a time.
 * Duplicates arrive: down, since asking twice brings nothing. Timeouts or
 * idleness without duplicates: up, since asking more brings more. [1, 4].
 */
export class Potential {
  #value = 2
  /** The last arrivals, 1 for a duplicate, as a ring. */
  readonly #arrivals = new Uint8Array(arrivalsMax)
  #count = 0
  #duplicates = 0
  #wanting = false

  get value(): number {
    return this.#value
  }

  arrived(isDuplicate: boolean): void {
    const at = this.#count % arrivalsMax
    this.#duplicates += Number(isDuplicate) - (this.#arrivals[at] as number)
    this.#arrivals[at] = Number(isDuplicate)
    this.#count += 1
    const seen = Math.min(this.#count, arrivalsMax)
    const share = this.#duplicates / seen
    if (isDuplicate && seen >= arrivalsMin && share > duplicatesHigh) this.#value = Math.max(1, this.#value * 0.9)
    else if (this.#wanting && share < duplicatesLow) this.#rise()
  }

  /** A want timed out, or the session had wants and nothing arrived. */
  lacked(): void {
    this.#wanting = true
    if (this.#duplicates / Math.max(1, Math.min(this.#count, arrivalsMax)) < duplicatesLow) this.#rise()
  }

  #rise(): void {
    this.#wanting = false
    this.#value = Math.min(4, this.#value + 1 / 8)
  }
}
