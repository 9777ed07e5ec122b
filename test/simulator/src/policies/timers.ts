/** Something to be done at a time; `cancel` makes it never happen. */
export interface Timer {
  readonly atMs: number
  cancel(): void
}

interface Entry extends Timer {
  readonly order: number
  run: ((nowMs: number) => void) | undefined
}

/** Timers of a pure core: a heap by time, and among equals by age. Nothing runs but by `runDue`. */
export class Timers {
  #heap: Entry[] = []
  #cancelled = 0
  #order = 0

  /** How many have neither run nor been cancelled. */
  get size(): number {
    return this.#heap.length - this.#cancelled
  }

  at(atMs: number, run: (nowMs: number) => void): Timer {
    const entry: Entry = {
      atMs,
      order: this.#order++,
      run,
      cancel: () => {
        if (entry.run === undefined) return
        entry.run = undefined
        this.#cancelled += 1
        if (this.#cancelled > 64 && this.#cancelled > this.#heap.length / 2) this.#sweep()
      }
    }
    this.#heap.push(entry)
    this.#rise(this.#heap.length - 1)
    return entry
  }

  /** When the first one is due, or undefined. */
  nextAtMs(): number | undefined {
    while (this.#heap[0] !== undefined && this.#heap[0].run === undefined) {
      this.#pop()
      this.#cancelled -= 1
    }
    return this.#heap[0]?.atMs
  }

  /** Runs what is due, the earliest first; also what comes to be due meanwhile. */
  runDue(nowMs: number): void {
    for (let atMs = this.nextAtMs(); atMs !== undefined && atMs <= nowMs; atMs = this.nextAtMs()) {
      const entry = this.#pop()
      const run = entry?.run
      if (entry !== undefined) entry.run = undefined
      run?.(nowMs)
    }
  }

  #sweep(): void {
    // A sorted array is a heap.
    this.#heap = this.#heap.filter((entry) => entry.run !== undefined).sort((a, b) => (isBefore(a, b) ? -1 : 1))
    this.#cancelled = 0
  }

  #rise(from: number): void {
    let index = from
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!this.#swapIfBefore(index, parent)) return
      index = parent
    }
  }

  #pop(): Entry | undefined {
    const first = this.#heap[0]
    const last = this.#heap.pop()
    if (last === undefined || last === first) return first
    this.#heap[0] = last
    for (let index = 0; ;) {
      const left = 2 * index + 1
      const [a, b] = [this.#heap[left], this.#heap[left + 1]]
      const child = a !== undefined && b !== undefined && isBefore(b, a) ? left + 1 : left
      if (!this.#swapIfBefore(child, index)) return first
      index = child
    }
  }

  #swapIfBefore(lower: number, upper: number): boolean {
    const [a, b] = [this.#heap[lower], this.#heap[upper]]
    if (a === undefined || b === undefined || !isBefore(a, b)) return false
    this.#heap[lower] = b
    this.#heap[upper] = a
    return true
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
}
