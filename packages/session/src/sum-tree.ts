/**
 * Weights by index, to be drawn from: `set` and `sample` take O(log n). Each
 * inner node is the sum of its two children, computed anew at each change, so
 * no error adds up over time.
 */
export class SumTree {
  /** Leaves stand at [capacity, 2 × capacity); node i is the sum of nodes 2i and 2i + 1; node 1 is the root. */
  #nodes = new Float64Array(2)
  #capacity = 1

  get total(): number {
    return this.#nodes[1] as number
  }

  weight(index: number): number {
    return index < this.#capacity ? (this.#nodes[this.#capacity + index] as number) : 0
  }

  set(index: number, weight: number): void {
    while (index >= this.#capacity) this.#grow()
    const nodes = this.#nodes
    let at = this.#capacity + index
    nodes[at] = weight
    for (at >>= 1; at >= 1; at >>= 1) nodes[at] = (nodes[2 * at] as number) + (nodes[2 * at + 1] as number)
  }

  /** The index at which the running sum of weights passes `fraction` (in [0, 1)) of the total. The total must be above 0. */
  sample(fraction: number): number {
    const nodes = this.#nodes
    let rest = fraction * this.total
    let at = 1
    while (at < this.#capacity) {
      const left = nodes[2 * at] as number
      // Rounding must not lead into a branch that weighs nothing.
      const right = nodes[2 * at + 1] as number
      if ((rest < left || right === 0) && left > 0) at = 2 * at
      else {
        rest -= left
        at = 2 * at + 1
      }
    }
    return at - this.#capacity
  }

  #grow(): void {
    const old = this.#nodes
    const count = this.#capacity
    this.#capacity *= 2
    this.#nodes = new Float64Array(2 * this.#capacity)
    for (let i = 0; i < count; i++) this.#nodes[this.#capacity + i] = old[count + i] as number
    for (let at = this.#capacity - 1; at >= 1; at--) {
      this.#nodes[at] = (this.#nodes[2 * at] as number) + (this.#nodes[2 * at + 1] as number)
    }
  }
}
