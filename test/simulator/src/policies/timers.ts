import { Heap } from '@shardswap/interface'

/** Something to be done at a time; `cancel` makes it never happen. */
export interface Timer {
  readonly atMs: number
  cancel(): void
}

interface Entry extends Timer {
  run: ((nowMs: number) => void) | undefined
}

/** The first time after `nowMs` of those that come again every so often since `sinceMs`. */
export function nextRoundMs(sinceMs: number, everyMs: number, nowMs: number): number {
  const atMs = sinceMs + (Math.floor((nowMs - sinceMs) / everyMs) + 1) * everyMs
  // A rounded difference may give the present again.
  return atMs > nowMs ? atMs : atMs + everyMs
}

/** Timers of a pure core: what is due earlier runs first, of the same time what is older. Nothing runs but by `runDue`. */
export class Timers {
  /** All of one time together, in the order in which they came. */
  #times = new Map<number, Entry[]>()
  #heap = new Heap<Entry[]>()
  #cancelled = 0
  #size = 0

  /** How many have neither run nor been cancelled. */
  get size(): number {
    return this.#size
  }

  at(atMs: number, run: (nowMs: number) => void): Timer {
    const entry: Entry = { atMs, run, cancel: () => this.#cancel(entry) }
    const known = this.#times.get(atMs)
    if (known === undefined) {
      const entries = [entry]
      this.#times.set(atMs, entries)
      this.#heap.push(atMs, entries)
    } else known.push(entry)
    this.#size += 1
    return entry
  }

  /** When the first one is due, or undefined. */
  nextAtMs(): number | undefined {
    for (let entries = this.#heap.top; entries !== undefined; entries = this.#heap.top) {
      const [first] = entries
      if (first?.run !== undefined) return first.atMs
      if (first === undefined) {
        this.#times.delete(this.#heap.topKey ?? 0)
        this.#heap.pop()
        continue
      }
      entries.shift()
      this.#cancelled -= 1
    }
    return undefined
  }

  /** Runs what is due, and what comes to be due meanwhile. */
  runDue(nowMs: number): void {
    for (let atMs = this.nextAtMs(); atMs !== undefined && atMs <= nowMs; atMs = this.nextAtMs()) {
      const entry = this.#heap.top?.shift()
      const run = entry?.run
      if (entry === undefined || run === undefined) continue
      entry.run = undefined
      this.#size -= 1
      run(nowMs)
    }
  }

  #cancel(entry: Entry): void {
    if (entry.run === undefined) return
    entry.run = undefined
    this.#size -= 1
    this.#cancelled += 1
    if (this.#cancelled > 64 && this.#cancelled > this.#size) this.#sweep()
  }

  /** What was cancelled does not stay until its time. */
  #sweep(): void {
    const times = this.#times
    this.#times = new Map()
    this.#heap = new Heap()
    this.#cancelled = 0
    for (const [atMs, entries] of times) {
      const left = entries.filter(({ run }) => run !== undefined)
      if (left.length === 0) continue
      this.#times.set(atMs, left)
      this.#heap.push(atMs, left)
    }
  }
}
