/**
 * A binary heap of values by a number, the smallest first; equal numbers come
 * out in no particular order. Nothing is ever removed from its middle: an owner
 * that changes its mind leaves the old entry and ignores it when it comes out.
 */
export class Heap<T> {
  readonly #keys: number[] = []
  readonly #values: T[] = []

  /** How many values are in it. */
  get size(): number {
    return this.#keys.length
  }

  /** The smallest number, or undefined where the heap is empty. */
  get topKey(): number | undefined {
    return this.#keys[0]
  }

  /** The value of the smallest number; undefined where the heap is empty. */
  get top(): T | undefined {
    return this.#values[0]
  }

  /** Puts a value in, under a number. */
  push(key: number, value: T): void {
    const keys = this.#keys
    const values = this.#values
    let at = keys.length
    keys.push(key)
    values.push(value)
    while (at > 0) {
      const parent = (at - 1) >> 1
      if ((keys[parent] as number) <= key) break
      keys[at] = keys[parent] as number
      values[at] = values[parent] as T
      at = parent
    }
    keys[at] = key
    values[at] = value
  }

  /** Takes out the value of the smallest number; undefined where the heap is empty. */
  pop(): T | undefined {
    const keys = this.#keys
    const values = this.#values
    const top = values[0]
    const key = keys.pop()
    const value = values.pop()
    const size = keys.length
    if (key === undefined || size === 0) return top
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= size) break
      if (child + 1 < size && (keys[child + 1] as number) < (keys[child] as number)) child += 1
      if ((keys[child] as number) >= key) break
      keys[at] = keys[child] as number
      values[at] = values[child] as T
      at = child
    }
    keys[at] = key
    values[at] = value as T
    return top
  }
}
