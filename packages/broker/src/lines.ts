import { firstOf, type Member } from './blocks.ts'
import type { InFlight } from './copies.ts'
import type { BrokerLimits } from './limits.ts'
import type { PeerQueue } from './queue.ts'

/**
 * Space in the want queues, and the lines of sessions that wait for it. A
 * session that comes while others wait goes to the end of the line, so each
 * gets one want a round (B24).
 */
export class Lines {
  readonly #limits: BrokerLimits
  readonly #inFlight: InFlight
  /** Queues with somebody in line. */
  readonly #lined = new Set<PeerQueue>()
  /** Of these, those where there may be space. */
  readonly #freed = new Set<PeerQueue>()
  /** Somebody found no space since the bytes over all peers were used up. */
  #isUsedUp = false
  /** Somebody in line at a queue with space waits for bytes over all peers: what comes free is theirs. */
  #isOwed = false
  #turnAt: PeerQueue | undefined

  constructor(limits: BrokerLimits, inFlight: InFlight) {
    this.#limits = limits
    this.#inFlight = inFlight
  }

  /** Sessions in line, over all queues. */
  get size(): number {
    let size = 0
    for (const queue of this.#lined) size += queue.line.size
    return size
  }

  /** `besides`: bytes that go to other peers with it. */
  hasSpace(member: Member, queue: PeerQueue, bytes: number, besides = 0): boolean {
    if (!queue.fits(bytes) || !this.#fitsAll(bytes, besides)) return false
    return queue.turn === member || (queue.line.size === 0 && !this.#isOwed)
  }

  join(member: Member, queue: PeerQueue): void {
    queue.line.add(member)
    this.#lined.add(queue)
    // There may be space that was kept for those before it in line.
    this.#freed.add(queue)
  }

  /** The session ends. */
  leave(member: Member): void {
    for (const queue of this.#lined) {
      if (queue.line.delete(member) && queue.line.size === 0) this.#lined.delete(queue)
    }
  }

  /** The peer is gone: nobody waits for it. */
  close(queue: PeerQueue): void {
    queue.line.clear()
    this.#lined.delete(queue)
    this.#freed.delete(queue)
  }

  /** Something is no longer in flight at a peer. */
  freed(queue: PeerQueue): void {
    if (queue.line.size > 0) this.#freed.add(queue)
    if (!this.#isUsedUp) return
    this.#isUsedUp = false
    for (const other of this.#lined) this.#freed.add(other)
  }

  /** The next session in line at a queue with space; it has one turn there, until `endTurn`. */
  next(): Member | undefined {
    for (const queue of this.#freed) {
      const member = firstOf(queue.line)
      if (member === undefined || !queue.fits(member.session.nextBytes)) {
        this.#freed.delete(queue)
        continue
      }
      this.#isOwed = !this.#fitsAll(member.session.nextBytes)
      if (this.#isOwed) return undefined
      // Each queue has its turn at what is free over all of them.
      this.#freed.delete(queue)
      this.#freed.add(queue)
      queue.line.delete(member)
      if (queue.line.size === 0) this.#lined.delete(queue)
      queue.turn = member
      this.#turnAt = queue
      member.session.spaceAt(queue.key)
      return member
    }
    this.#isOwed = false
    return undefined
  }

  endTurn(): void {
    if (this.#turnAt !== undefined) this.#turnAt.turn = undefined
    this.#turnAt = undefined
  }

  /** Whether so many bytes more, beside some that are to leave with them, fit into what may be in flight over all peers. */
  #fitsAll(bytes: number, besides = 0): boolean {
    const inFlightBytes = this.#inFlight.bytes + besides
    if (inFlightBytes + bytes <= this.#limits.inFlightBytesMax || (this.#inFlight.wants === 0 && besides === 0)) return true
    this.#isUsedUp = true
    return false
  }
}
