import { Heap } from '@shardswap/interface'
import type { Copy } from './blocks.ts'
import type { PeerQueue } from './queue.ts'
import { heldMs } from './timing.ts'

/** How soon a want whose deadline stands still is looked at again. */
const graceMs = 50

/** A peer that never says whether it has a block is asked for it so seldom at most. */
const unansweredRestMaxMs = 60_000

/** Stale entries that are left alone: sorting them out costs more than they hold. */
const staleMax = 1024

/** When copies are to be looked at next. Copies that moved on leave stale entries, which are dropped at their time. */
export class Deadlines {
  readonly #heap = new Heap<Copy>()
  /** A peer that sent nothing for so long is quiet, whatever the deadline. */
  readonly #quietMs: number

  constructor(quietMs: number) {
    this.#quietMs = quietMs
  }

  /** At or before the next time at which `due` finds something. */
  get nextMs(): number {
    return this.#heap.topKey ?? Number.POSITIVE_INFINITY
  }

  /** Looks at the copy at its deadline, and before it whether the peer has become quiet. */
  watch(copy: Copy, nowMs: number): void {
    copy.checkMs = Math.min(copy.deadlineMs, copy.phase === 'in-flight' ? copy.lateMs : Number.POSITIVE_INFINITY, nowMs + this.#quietMs + 1)
    this.#heap.push(copy.checkMs, copy)
  }

  again(copy: Copy, nowMs: number): void {
    if (copy.deadlineMs <= nowMs) copy.deadlineMs = nowMs + graceMs
    this.watch(copy, nowMs)
  }

  /** Our own reading was held back from then until now: that time is nobody's, as if every clock had stood still. */
  standStill(peers: Iterable<PeerQueue>, sinceMs: number, nowMs: number): void {
    for (const peer of peers) {
      peer.timing.standStill(sinceMs, nowMs)
      for (const copy of peer.copies.values()) {
        if (!isOpen(copy)) continue
        const byMs = heldMs(copy.sinceMs, sinceMs, nowMs)
        copy.sinceMs += byMs
        copy.deadlineMs += byMs
        copy.lateMs += byMs
        this.watch(copy, nowMs)
      }
    }
  }

  /** Drops stale entries where they are by far the most, so that what ended does not live on until its deadline. */
  trim(open: number): void {
    if (this.#heap.size <= staleMax + 4 * open) return
    const left: Copy[] = []
    for (let atMs = this.#heap.topKey; atMs !== undefined; atMs = this.#heap.topKey) {
      const copy = this.#heap.pop()
      if (copy !== undefined && copy.checkMs === atMs && isOpen(copy)) left.push(copy)
    }
    for (const copy of left) this.#heap.push(copy.checkMs, copy)
  }

  /** Takes out what is due by now and still open. */
  due(nowMs: number): Copy[] {
    const due: Copy[] = []
    for (let atMs = this.#heap.topKey; atMs !== undefined && atMs <= nowMs; atMs = this.#heap.topKey) {
      const copy = this.#heap.pop()
      if (copy !== undefined && copy.checkMs === atMs && isOpen(copy)) due.push(copy)
    }
    return due
  }
}

function isOpen(copy: Copy): boolean {
  return (copy.phase === 'in-flight' || copy.phase === 'have-asked') && copy.wanted.stances.get(copy.peer.key) === copy
}

/** How long a peer rests for a block of which it did not say whether it has it, after so many times before. */
export function unansweredRestMs(startMs: number, before: number): number {
  return Math.min(startMs * 2 ** Math.min(before, 10), unansweredRestMaxMs)
}
