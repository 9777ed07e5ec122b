import type { PeerKey } from '@shardswap/interface'

/** What bounds the time that reading messages may take. */
export interface IntakeLimits {
  /** Milliseconds of each second that go into decoding what peers say, over all who say much. What follows from it takes about twice as long. */
  readonly talkMsPerSMax: number
  /** So much of it one peer may be ahead of its share. */
  readonly talkAheadMsMax: number
}

/**
 * Shares the work of reading messages among peers, so that who talks without
 * end takes the time of nobody else: `talkMsPerSMax` are divided equally among
 * those who are ahead of their share, and who is ahead by more than
 * `talkAheadMsMax` has to wait. Time is charged, not wants: so on a slow or busy
 * machine less is taken in. It is known once a message is read, and charged then.
 */
export class Intake {
  readonly #limits: IntakeLimits
  /** Milliseconds that somebody who always has something to say could have taken by now. */
  #level = 0
  #atMs = 0
  /** The level at which a peer will have paid for what it has said; of those only who have not yet. */
  readonly #paidAt = new Map<PeerKey, number>()

  constructor(limits: IntakeLimits) {
    this.#limits = limits
  }

  /** Peers that have not paid yet. */
  get size(): number {
    return this.#paidAt.size
  }

  /** A message of the peer's was read; `talkMs` of that for what is no block. */
  took(peer: PeerKey, talkMs: number, nowMs: number): void {
    if (talkMs <= 0) return
    this.#advance(nowMs)
    this.#paidAt.set(peer, (this.#paidAt.get(peer) ?? this.#level) + talkMs)
  }

  /** Whether the peer has said so much that its next message has to wait. */
  mustWait(peer: PeerKey, nowMs: number): boolean {
    const paidAt = this.#paidAt.get(peer)
    if (paidAt === undefined) return false
    this.#advance(nowMs)
    return paidAt - this.#level > this.#limits.talkAheadMsMax
  }

  /** The peer is gone. */
  forget(peer: PeerKey): void {
    this.#paidAt.delete(peer)
  }

  /** Lets the level rise; at most once a millisecond, for it looks at everybody. */
  #advance(nowMs: number): void {
    const elapsedMs = nowMs - this.#atMs
    if (elapsedMs < 1) return
    this.#atMs = nowMs
    if (this.#paidAt.size === 0) return
    this.#level += (elapsedMs * this.#limits.talkMsPerSMax) / 1000 / this.#paidAt.size
    for (const [peer, paidAt] of this.#paidAt) if (paidAt <= this.#level) this.#paidAt.delete(peer)
  }
}
