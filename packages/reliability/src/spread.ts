/** How values of many peers lie, by buckets, so that one that changes costs a step and not a sort. */
export class Spread {
  readonly #counts: Uint32Array
  #size = 0

  constructor(buckets: number) {
    this.#counts = new Uint32Array(buckets)
  }

  get size(): number {
    return this.#size
  }

  /** Moves one value from a bucket to another; -1 stands for none. */
  move(from: number, to: number): void {
    if (from === to) return
    if (from >= 0) {
      this.#counts[from] = (this.#counts[from] as number) - 1
      this.#size -= 1
    }
    if (to >= 0) {
      this.#counts[to] = (this.#counts[to] as number) + 1
      this.#size += 1
    }
  }

  /** The bucket of the median, of two in the middle the lower or the upper one; -1 where there is no value. */
  median(middle: 'lower' | 'upper'): number {
    if (this.#size === 0) return -1
    let left = middle === 'lower' ? Math.ceil(this.#size / 2) : Math.floor(this.#size / 2) + 1
    for (let bucket = 0; ; bucket++) {
      left -= this.#counts[bucket] as number
      if (left <= 0) return bucket
    }
  }

  /** What part of the values lies below a bucket, those in it counted by half; 0.5 where there is no value. */
  rank(bucket: number): number {
    if (this.#size === 0 || bucket < 0) return 0.5
    let below = 0
    for (let at = 0; at < bucket; at++) below += this.#counts[at] as number
    return (below + (this.#counts[bucket] as number) / 2) / this.#size
  }
}
