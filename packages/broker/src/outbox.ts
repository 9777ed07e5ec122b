import type { Copy, Wanted } from './blocks.ts'
import type { PeerQueue } from './queue.ts'
import type { Command, WantEntry } from './types.ts'

/** The messages that are being made, one a peer, and when they leave (B25). */
export class Outbox {
  readonly #holdMs: number
  readonly #commands: Command[]
  /** Queues with lines for a message. */
  readonly #outgoing = new Set<PeerQueue>()

  constructor(holdMs: number, commands: Command[]) {
    this.#holdMs = holdMs
    this.#commands = commands
  }

  get size(): number {
    return this.#outgoing.size
  }

  /** When the message that waits longest is to leave. */
  get dueMs(): number {
    let soonest = Number.POSITIVE_INFINITY
    for (const { outboxSinceMs } of this.#outgoing) soonest = Math.min(soonest, outboxSinceMs + this.#holdMs)
    return soonest
  }

  ask(queue: PeerQueue, type: 'want-block' | 'want-have', wanted: Wanted, nowMs: number): void {
    // A cancel and a want of one block are two messages: within one, the cancel would win.
    if (queue.outbox.get(wanted.key)?.type === 'cancel') this.release(queue)
    this.#put(queue, type, wanted, nowMs)
  }

  /** Puts a cancel into the peer's message where the remote keeps the want; one that never left is only taken back. */
  cancel(copy: Copy, nowMs: number): void {
    const { peer, wanted } = copy
    if (copy.remote === undefined) return
    const unsent = peer.outbox.get(wanted.key)
    if (unsent !== undefined && unsent.type !== 'cancel') peer.outbox.delete(wanted.key)
    if (copy.isReleased && peer.isConnected) this.#put(peer, 'cancel', wanted, nowMs)
    else if (peer.outbox.size === 0) this.#outgoing.delete(peer)
  }

  /** The peer is gone. */
  drop(queue: PeerQueue): void {
    queue.outbox.clear()
    this.#outgoing.delete(queue)
  }

  /** Messages leave that are settled, since no session has a want for their peer now, that are one line, or have waited long enough. */
  releaseAll(isSettled: boolean, nowMs: number): void {
    for (const queue of this.#outgoing) {
      if (isSettled || queue.outbox.size === 1 || nowMs - queue.outboxSinceMs >= this.#holdMs) this.release(queue)
    }
  }

  release(queue: PeerQueue): void {
    this.#outgoing.delete(queue)
    if (queue.outbox.size === 0) return
    const entries = Array.from(queue.outbox.values())
    queue.outbox.clear()
    for (const { type, key } of entries) {
      const copy = type === 'cancel' ? undefined : queue.copies.get(key)
      if (copy !== undefined) copy.isReleased = true
    }
    this.#commands.push({ type: 'send', peer: queue.key, entries })
  }

  #put(queue: PeerQueue, type: WantEntry['type'], { cid, key }: Wanted, nowMs: number): void {
    if (queue.outbox.size === 0) queue.outboxSinceMs = nowMs
    queue.outbox.set(key, { type, cid, key })
    this.#outgoing.add(queue)
  }
}
