import { SumTree } from './sum-tree.ts'

/**
 * The weights of a session's candidates, those that are vetted apart from newcomers, so that a draw may leave
 * newcomers out (their share is bounded while vetted peers can serve). `set` and `sample` take O(log n).
 */
export class Draw {
  readonly #vetted = new SumTree()
  readonly #newcomers = new SumTree()

  /** The sum of all weights, or of those that are vetted. */
  total(isVettedOnly: boolean): number {
    return isVettedOnly ? this.#vetted.total : this.#vetted.total + this.#newcomers.total
  }

  weight(index: number): number {
    return this.#vetted.weight(index) + this.#newcomers.weight(index)
  }

  set(index: number, weight: number, isVetted: boolean): void {
    this.#vetted.set(index, isVetted ? weight : 0)
    this.#newcomers.set(index, isVetted ? 0 : weight)
  }

  clear(index: number): void {
    this.#vetted.set(index, 0)
    this.#newcomers.set(index, 0)
  }

  /** The index at which the running sum passes `fraction`, in [0, 1), of the total, which must be above 0. */
  sample(fraction: number, isVettedOnly: boolean): number {
    const vetted = this.#vetted.total
    if (isVettedOnly) return this.#vetted.sample(fraction)
    const newcomers = this.#newcomers.total
    if (vetted === 0) return this.#newcomers.sample(fraction)
    const at = fraction * (vetted + newcomers)
    if (at < vetted || newcomers === 0) return this.#vetted.sample(Math.min(at / vetted, 1 - Number.EPSILON))
    return this.#newcomers.sample((at - vetted) / newcomers)
  }
}
