import type { PeerKey } from '@shardswap/interface'
import type { ReliabilityLimits } from './limits.ts'
import type { PeerRecord } from './record.ts'

/** Nothing observed; little; enough to vet it; shut out, or on its way back. */
const tiers = 4

/**
 * Records by peer. Those of peers that are not connected are bounded: the least informative class goes first, in it the
 * one that left first. Who was shut out stays longest, else leaving would clear it; but all who were may
 * not drive out all the others: from half of the bound on they go first.
 */
export class Records {
  readonly #limits: ReliabilityLimits
  readonly #byPeer = new Map<PeerKey, PeerRecord>()
  readonly #connected = new Set<PeerRecord>()
  #last: PeerRecord | undefined
  /** Those not connected by class, each in the order in which they left. */
  readonly #idle: readonly Map<PeerKey, PeerRecord>[] = Array.from({ length: tiers }, () => new Map<PeerKey, PeerRecord>())

  constructor(limits: ReliabilityLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#byPeer.size
  }

  get(peer: PeerKey): PeerRecord | undefined {
    // Of one peer much is asked and told in a row.
    if (this.#last?.peer !== peer) this.#last = this.#byPeer.get(peer)
    return this.#last
  }

  all(): Iterable<PeerRecord> {
    return this.#byPeer.values()
  }

  allConnected(): Iterable<PeerRecord> {
    return this.#connected
  }

  /** A peer heard of first; it is not connected yet. */
  add(record: PeerRecord): void {
    this.#byPeer.set(record.peer, record)
    this.settle(record)
    this.#forget(record)
  }

  connected(record: PeerRecord): void {
    this.#connected.add(record)
    this.#idle[record.tier]?.delete(record.peer)
    record.tier = -1
  }

  disconnected(record: PeerRecord): void {
    this.#connected.delete(record)
    this.settle(record)
    this.#forget(record)
  }

  /** Files a peer that is not connected by what is known of it now. */
  settle(record: PeerRecord): void {
    if (record.isConnected) return
    const tier = this.#tierOf(record)
    if (tier === record.tier) return
    this.#idle[record.tier]?.delete(record.peer)
    record.tier = tier
    this.#idle[tier]?.set(record.peer, record)
  }

  /** The most informative, at most `recordsMax`: those who leave first stand first, so that they are the first to leave again. */
  worthKeeping(): PeerRecord[] {
    const connected = [...this.#byPeer.values()].filter((record) => record.isConnected && this.#tierOf(record) > 0)
    const kept = [...this.#idle.slice(1).flatMap((tier) => [...tier.values()]), ...connected]
    return kept.slice(-this.#limits.recordsMax)
  }

  #tierOf(record: PeerRecord): number {
    if (record.returnLeftMs > 0) return 3
    const { observations } = record.windows.month
    if (observations >= this.#limits.vettingObservations) return 2
    return observations > 0 || record.isObserved ? 1 : 0
  }

  #forget(but: PeerRecord): void {
    while (this.#byPeer.size > this.#limits.recordsMax) {
      const last = this.#idle[tiers - 1] as Map<PeerKey, PeerRecord>
      const order = last.size >= this.#limits.recordsMax / 2 ? [last, ...this.#idle] : this.#idle
      const victim = firstOf(order, but)
      if (victim === undefined) return
      this.#idle[victim.tier]?.delete(victim.peer)
      this.#byPeer.delete(victim.peer)
      if (this.#last === victim) this.#last = undefined
    }
  }
}

function firstOf(order: readonly Map<PeerKey, PeerRecord>[], but: PeerRecord): PeerRecord | undefined {
  for (const tier of order) {
    for (const record of tier.values()) if (record !== but) return record
  }
  return undefined
}
