import type { Outcome } from '@shardswap/reliability'
import type { Copy } from './blocks.ts'
import { clearRemote, moveCopy } from './copies.ts'
import type { Parts } from './parts.ts'
import type { PeerQueue } from './queue.ts'

/** What an answer, or none, makes of a copy. */
export class Answers {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** A peer said HAVE. Returns whether that changes anything. */
  takeHave(copy: Copy, nowMs: number): boolean {
    if (copy.phase === 'in-flight' || copy.phase === 'have') {
      copy.promised = true
      return false
    }
    // After a timeout of the block itself the peer rests for it, whatever it says (B20).
    if (copy.phase === 'timed-out' && copy.failed) return false
    if (copy.phase === 'have-asked') copy.peer.timing.sampleLatency(nowMs - copy.sinceMs, copy.queuedBytes)
    moveCopy(copy, { phase: 'have' }, this.#parts.inFlight, nowMs)
    return true
  }

  /** A peer said DONT_HAVE. Returns whether that changes anything. */
  takeDontHave(copy: Copy, nowMs: number): boolean {
    const { phase, peer } = copy
    if (phase === 'timed-out' || phase === 'dont-have') return false
    if (phase !== 'have') peer.timing.sampleLatency(nowMs - copy.sinceMs, copy.queuedBytes)
    for (const counters of [this.#parts.total, peer.figures]) counters.dontHaves += 1
    if (peer.isBusy) {
      this.#refuse(copy, nowMs)
      return true
    }
    // What was promised, asked for and then denied is not believed again for a while: a peer that takes turns would keep the want.
    if (phase === 'in-flight' && copy.promised) {
      this.#parts.outbox.cancel(copy, nowMs)
      copy.promised = false
      this.fail(copy, 'broken-have', nowMs)
      return true
    }
    if (!peer.mayKeepDenied) {
      this.#parts.outbox.cancel(copy, nowMs)
      clearRemote(copy)
    }
    copy.promised = false
    this.#parts.conduct.settle(copy, 'denied', nowMs)
    moveCopy(copy, { phase: 'dont-have' }, this.#parts.inFlight, nowMs)
    return true
  }

  /** What a peer denies that says it is busy is refused for load: it may have the block all the same, and is asked again later. */
  #refuse(copy: Copy, nowMs: number): void {
    const { peer } = copy
    this.#parts.outbox.cancel(copy, nowMs)
    copy.promised = false
    this.#parts.conduct.settle(copy, 'refused', nowMs)
    const restMs = Math.max(this.restMs(peer), peer.busyUntilMs - nowMs)
    moveCopy(copy, { phase: 'timed-out', restMs }, this.#parts.inFlight, nowMs)
  }

  /** A want-block had its time, or its promise was broken. */
  fail(copy: Copy, outcome: Outcome, nowMs: number): void {
    const { peer, wanted } = copy
    this.#parts.conduct.settle(copy, outcome, nowMs)
    // What a backup did is no matter of the session's (P7).
    if (copy.role === 'primary') copy.owner?.session.timedOut(wanted.key, peer.key, copy.sinceMs, nowMs)
    copy.failed = true
    moveCopy(copy, { phase: 'timed-out', restMs: this.restMs(peer) }, this.#parts.inFlight, nowMs)
  }

  /** T of B20: five times the peer's smoothed latency. */
  restMs(queue: PeerQueue): number {
    return 5 * (queue.timing.latencyMs ?? this.#parts.limits.timeoutStartMs)
  }

  /**
   * Blocks turned out smaller than those before and with this one were taken for: its deadline comes so much sooner.
   * Returns whether it does.
   */
  shorten(copy: Copy): boolean {
    const bytes = copy.owner?.session.sizes.expected(copy.wanted.cid)
    if (bytes === undefined || bytes >= copy.bytes) return false
    const deadlineMs = copy.sinceMs + copy.peer.timing.timeoutMs((copy.queuedBytes * bytes) / copy.bytes)
    if (deadlineMs >= copy.deadlineMs) return false
    copy.deadlineMs = deadlineMs
    return true
  }

  /** One of its wants had its time, and it never delivered anything: the others there are looked at with what is known of sizes now. */
  shortenAll(peer: PeerQueue, nowMs: number): void {
    if (peer.timing.deliveredBytes > 0) return
    for (const copy of peer.copies.values()) {
      if (copy.phase === 'in-flight' && this.shorten(copy)) this.#parts.deadlines.watch(copy, nowMs)
    }
  }
}
