import type { PeerQueue } from './queue.ts'

/** A tick that comes so much later than it was due shows that our own process was busy: the shell's timers are as coarse as 50 ms. */
const lagMaxMs = 60
/** After that, what peers sent meanwhile is read within so long. */
const readWithinMs = 25

/**
 * Whether we hear what peers send. Where our own process was busy, or its reading was held back, silence says nothing of
 * anybody: their bytes wait to be read.
 */
export class Hearing {
  #dueMs = Number.POSITIVE_INFINITY
  /** Until then silence is not held against anybody. */
  againAtMs = Number.NEGATIVE_INFINITY

  /** Since when our own reading is held back. */
  #heldSinceMs: number | undefined

  get isHeld(): boolean {
    return this.#heldSinceMs !== undefined
  }

  hold(nowMs: number): void {
    this.#heldSinceMs ??= nowMs
  }

  /** Reading goes on. Returns since when it was held back. */
  readOn(nowMs: number): number {
    const sinceMs = this.#heldSinceMs ?? nowMs
    this.#heldSinceMs = undefined
    this.againAtMs = nowMs + readWithinMs
    return sinceMs
  }

  /** We are to be woken then; Infinity where nothing is due. */
  expect(wakeMs: number): void {
    this.#dueMs = wakeMs
  }

  /** It is so late, whatever we were woken by. */
  wake(nowMs: number): void {
    if (nowMs - this.#dueMs > lagMaxMs) this.againAtMs = nowMs + readWithinMs
  }

  /** For how long nothing came from the peer, so far as that is held against it. */
  quietMs(queue: PeerQueue, nowMs: number): number {
    return this.isHeld || nowMs < this.againAtMs ? 0 : queue.quietMs(nowMs)
  }
}
