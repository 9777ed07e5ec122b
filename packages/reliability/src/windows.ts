import { hourMs, hoursPerDay, type Calendar } from './calendar.ts'
import { sparse, unpack } from './sparse.ts'

/** What is counted: successes, observations, and milliseconds. */
const fields = 3
const hourSlots = 24
const daySlots = 30
const slots = hourSlots + daySlots

/** Sums over the last 24 hours or the last 30 days, both with the current one. */
export interface WindowSums {
  successes: number
  observations: number
  timeMs: number
}

/**
 * Successes, observations and time in 24 hourly and 30 daily buckets, and their sums. A bucket that is
 * entered anew is emptied first, and so are those that were passed over; the sums are then taken from the
 * buckets, so nothing adds up to an error over time.
 */
export class Windows {
  readonly #counts = new Uint32Array(slots * fields)
  /** The newest hour that was entered, since 1970. */
  #hour: number
  readonly day: WindowSums = { successes: 0, observations: 0, timeMs: 0 }
  readonly month: WindowSums = { successes: 0, observations: 0, timeMs: 0 }

  constructor(hour: number) {
    this.#hour = hour
  }

  /** The newest hour that was entered, since 1970. */
  get hour(): number {
    return this.#hour
  }

  /** Goes on to an hour; earlier ones than the newest are taken for the newest. */
  roll(hour: number): void {
    if (hour <= this.#hour) return
    const before = this.#hour
    this.#hour = hour
    for (let at = Math.max(before + 1, hour - hourSlots + 1); at <= hour; at++) this.#clear(hourSlot(at))
    const day = Math.floor(hour / hoursPerDay)
    for (let at = Math.max(Math.floor(before / hoursPerDay) + 1, day - daySlots + 1); at <= day; at++) {
      this.#clear(daySlot(at))
    }
    this.#sum()
  }

  /** Counts an observation in the newest hour. */
  observe(isSuccess: boolean): void {
    const hourAt = hourSlot(this.#hour) * fields
    const dayAt = daySlot(Math.floor(this.#hour / hoursPerDay)) * fields
    const counts = this.#counts
    if (isSuccess) {
      counts[hourAt] = (counts[hourAt] as number) + 1
      counts[dayAt] = (counts[dayAt] as number) + 1
      this.day.successes += 1
      this.month.successes += 1
    }
    counts[hourAt + 1] = (counts[hourAt + 1] as number) + 1
    counts[dayAt + 1] = (counts[dayAt + 1] as number) + 1
    this.day.observations += 1
    this.month.observations += 1
  }

  /** Counts the time from one moment to another, in whole milliseconds, hour by hour. */
  pass(fromMs: number, toMs: number, calendar: Calendar): void {
    let at = Math.max(fromMs, toMs - daySlots * hoursPerDay * hourMs)
    while (at < toMs) {
      const hour = calendar.hour(at)
      // Rounding of a great wall's time must not keep the loop in one place.
      const next = Math.max(calendar.nowMs((hour + 1) * hourMs), at + 1)
      this.#addTime(hour, Math.round(Math.min(next, toMs) - at))
      at = next
    }
  }

  /** Pairs of index and count of the buckets that are not empty. */
  toSparse(): number[] {
    return sparse(this.#counts)
  }

  /** The buckets of `toSparse` as of an hour; undefined where they cannot be. */
  static fromSparse(hour: number, pairs: readonly number[]): Windows | undefined {
    const windows = new Windows(hour)
    if (!unpack(pairs, windows.#counts, 0xffff_ffff)) return undefined
    windows.#sum()
    return windows.#isPossible() ? windows : undefined
  }

  /** The same buckets as if their newest hour were another. */
  movedTo(hour: number): Windows {
    const moved = new Windows(hour)
    const day = Math.floor(hour / hoursPerDay)
    const fromDay = Math.floor(this.#hour / hoursPerDay)
    for (let age = 0; age < hourSlots; age++) this.#copy(hourSlot(this.#hour - age), moved, hourSlot(hour - age))
    for (let age = 0; age < daySlots; age++) this.#copy(daySlot(fromDay - age), moved, daySlot(day - age))
    moved.#sum()
    return moved
  }

  #isPossible(): boolean {
    for (let slot = 0; slot < slots; slot++) {
      const [successes = 0, observations = 0, timeMs = 0] = this.#counts.subarray(slot * fields, slot * fields + fields)
      if (successes > observations || timeMs > (slot < hourSlots ? 1 : hoursPerDay) * hourMs) return false
    }
    return true
  }

  #addTime(hour: number, ms: number): void {
    this.roll(hour)
    const day = Math.floor(hour / hoursPerDay)
    if (hour > this.#hour - hourSlots) this.day.timeMs += this.#addAt(hourSlot(hour), ms, hourMs)
    if (day > Math.floor(this.#hour / hoursPerDay) - daySlots) {
      this.month.timeMs += this.#addAt(daySlot(day), ms, hoursPerDay * hourMs)
    }
  }

  /** Returns what could be added: where the wall's time went back, a bucket has some of its time already. */
  #addAt(slot: number, ms: number, msMax: number): number {
    const at = slot * fields + 2
    const before = this.#counts[at] as number
    const after = Math.min(msMax, before + ms)
    this.#counts[at] = after
    return after - before
  }

  #copy(slot: number, to: Windows, toSlot: number): void {
    for (let field = 0; field < fields; field++) to.#counts[toSlot * fields + field] = this.#counts[slot * fields + field] as number
  }

  #clear(slot: number): void {
    this.#counts.fill(0, slot * fields, slot * fields + fields)
  }

  #sum(): void {
    sumInto(this.day, this.#counts, 0, hourSlots)
    sumInto(this.month, this.#counts, hourSlots, slots)
  }
}

/** Where an hour or a day has its bucket. Those before 1970 have one as well: a simulation may begin there. */
function hourSlot(hour: number): number {
  return modulo(hour, hourSlots)
}

function daySlot(day: number): number {
  return hourSlots + modulo(day, daySlots)
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by
}

function sumInto(sums: WindowSums, counts: Uint32Array, from: number, to: number): void {
  sums.successes = 0
  sums.observations = 0
  sums.timeMs = 0
  for (let at = from * fields; at < to * fields; at += fields) {
    sums.successes += counts[at] as number
    sums.observations += counts[at + 1] as number
    sums.timeMs += counts[at + 2] as number
  }
}
