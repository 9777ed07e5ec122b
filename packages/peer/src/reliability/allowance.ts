import type { PeerKey } from '@shardswap/interface'

export interface AllowanceLimits {
  /** What a peer may do at once. */
  readonly burst: number
  /** After so long one more is allowed. */
  readonly refillMs: number
  /** Peers that are kept; the one that was served longest ago is forgotten first. */
  readonly peersMax: number
}

interface Bucket {
  left: number
  atMs: number
}

/** How often each peer may do something: a token bucket for each of a bounded number of peers. */
export class Allowance {
  readonly #limits: AllowanceLimits
  readonly #buckets = new Map<PeerKey, Bucket>()

  constructor(limits: AllowanceLimits) {
    this.#limits = limits
  }

  /** Takes so many of this peer's; none, and false, where not as many are left. */
  take(peer: PeerKey, nowMs: number, count = 1): boolean {
    const { burst, refillMs, peersMax } = this.#limits
    const before = this.#buckets.get(peer) ?? { left: burst, atMs: nowMs }
    const left = Math.min(burst, before.left + (nowMs - before.atMs) / refillMs)
    const isAllowed = left >= count
    this.#buckets.delete(peer)
    this.#buckets.set(peer, { left: isAllowed ? left - count : left, atMs: nowMs })
    for (const oldest of this.#buckets.keys()) {
      if (this.#buckets.size <= peersMax) break
      this.#buckets.delete(oldest)
    }
    return isAllowed
  }
}
