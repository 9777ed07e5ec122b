import type { Clock } from '@shardswap/interface'

interface Event {
  readonly atMs: number
  readonly sequence: number
  run: (() => void) | undefined
}

/** Something that will happen, unless it is cancelled. */
export interface Scheduled {
  cancel(): void
}

/**
 * The only time there is: it stands still while code runs, and jumps to the next
 * event. Events of one instant run in the order in which they were planned.
 */
export class VirtualClock implements Clock {
  readonly #heap: Event[] = []
  #nowMs = 0
  #sequence = 0
  #ran = 0

  nowMs(): number {
    return this.#nowMs
  }

  /** Events that ran so far. */
  get ran(): number {
    return this.#ran
  }

  /** Events that wait, those cancelled among them. */
  get waiting(): number {
    return this.#heap.length
  }

  /** Runs `run` at a time from now on; what lies in the past runs now, after what is planned for now. */
  at(atMs: number, run: () => void): Scheduled {
    const event: Event = { atMs: Math.max(atMs, this.#nowMs), sequence: this.#sequence++, run }
    this.#push(event)
    return {
      cancel: () => {
        event.run = undefined
      }
    }
  }

  /** As `at`, in so many milliseconds. */
  in(delayMs: number, run: () => void): Scheduled {
    return this.at(this.#nowMs + delayMs, run)
  }

  /** Runs the next event. Returns whether there was one at or before `untilMs`. */
  step(untilMs: number): boolean {
    for (;;) {
      const event = this.#heap[0]
      if (event === undefined || event.atMs > untilMs) return false
      this.#pop()
      if (event.run === undefined) continue
      this.#nowMs = event.atMs
      this.#ran += 1
      event.run()
      return true
    }
  }

  #push(event: Event): void {
    const heap = this.#heap
    let index = heap.length
    heap.push(event)
    while (index > 0) {
      const parentIndex = (index - 1) >>> 1
      const parent = heap[parentIndex] as Event
      if (!isBefore(event, parent)) break
      heap[index] = parent
      index = parentIndex
    }
    heap[index] = event
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop() as Event
    if (heap.length === 0) return
    let index = 0
    for (;;) {
      let childIndex = 2 * index + 1
      if (childIndex >= heap.length) break
      const right = heap[childIndex + 1]
      if (right !== undefined && isBefore(right, heap[childIndex] as Event)) childIndex += 1
      const child = heap[childIndex] as Event
      if (!isBefore(child, last)) break
      heap[index] = child
      index = childIndex
    }
    heap[index] = last
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.sequence < other.sequence)
}
