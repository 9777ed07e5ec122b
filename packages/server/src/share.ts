/** So many places are given back at once at most: more than one, so that the search for who holds most pays off. */
const placesYieldedMax = 64

/**
 * Places that all peers share. Where all are taken, whoever holds most gives
 * way to who holds less: so a few greedy peers, or many, take nothing from one
 * that asks for little.
 */
export class Share<Holder> {
  readonly #placesMax: number
  readonly #yieldPlaces: (holder: Holder, places: number) => void
  readonly #held = new Map<Holder, number>()
  #taken = 0

  /** `yieldPlaces` has a holder give back up to so many places that it can do without, by `give`. */
  constructor(placesMax: number, yieldPlaces: (holder: Holder, places: number) => void) {
    this.#placesMax = placesMax
    this.#yieldPlaces = yieldPlaces
  }

  get taken(): number {
    return this.#taken
  }

  /** Whether there is a place for `holder`; makes room for it where somebody holds more. */
  hasRoom(holder: Holder): boolean {
    if (this.#taken < this.#placesMax) return true
    const own = this.#held.get(holder) ?? 0
    let most: Holder | undefined
    let mostHeld = own + 1
    for (const [other, held] of this.#held) {
      if (held <= mostHeld) continue
      most = other
      mostHeld = held
    }
    if (most === undefined) return false
    this.#yieldPlaces(most, Math.min(placesYieldedMax, Math.floor((mostHeld - own) / 2)))
    return this.#taken < this.#placesMax
  }

  take(holder: Holder): void {
    this.#taken++
    this.#held.set(holder, (this.#held.get(holder) ?? 0) + 1)
  }

  give(holder: Holder, places: number): void {
    this.#taken -= places
    const left = (this.#held.get(holder) ?? 0) - places
    if (left > 0) this.#held.set(holder, left)
    else this.#held.delete(holder)
  }
}
