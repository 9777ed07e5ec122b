import type { Random } from '@shardswap/interface'
import type { Peer } from '../state.ts'

/** Whether a peer of the session has the block; the greater is asked first. */
export type Presence = 'have' | 'unknown' | 'dont-have'

const rank: Readonly<Record<Presence, number>> = { 'dont-have': 0, unknown: 1, have: 2 }

/** One session's view of one want. */
export class SessionWant {
  /** Who was sent the want-block and has not answered. */
  sentTo: Peer | undefined
  best: Peer | undefined
  /** All peers of the session said that they do not have it, and the session has been told. */
  exhausted = false
  readonly #presence = new Map<Peer, Presence>()
  /** Blocks that a peer was the first to send, in this session. */
  readonly #firsts: ReadonlyMap<Peer, number>
  readonly #random: Random

  constructor(firsts: ReadonlyMap<Peer, number>, random: Random) {
    this.#firsts = firsts
    this.#random = random
  }

  learn(peer: Peer, presence: Presence): void {
    this.#presence.set(peer, presence)
    this.#chooseBest()
    if (presence === 'have') this.exhausted = false
  }

  forget(peer: Peer): void {
    if (this.sentTo === peer) this.sentTo = undefined
    this.#presence.delete(peer)
    this.#chooseBest()
  }

  /** Among those of the best presence, by chance, with weights of one and the blocks that they were first to send. */
  #chooseBest(): void {
    let best: Presence = 'dont-have'
    for (const presence of this.#presence.values()) if (rank[presence] > rank[best]) best = presence
    if (best === 'dont-have') {
      this.best = undefined
      return
    }
    const peers = [...this.#presence].filter(([, presence]) => presence === best).map(([peer]) => peer)
    this.best = peers.length === 1 ? peers[0] : this.#draw(peers)
  }

  #draw(peers: readonly Peer[]): Peer | undefined {
    const weights = peers.map((peer) => (this.#firsts.get(peer) ?? 0) + 1)
    let rest = this.#random.next() * weights.reduce((sum, weight) => sum + weight, 0)
    for (const [index, peer] of peers.entries()) {
      rest -= weights[index] ?? 0
      if (rest < 0) return peer
    }
    return peers.at(-1)
  }
}
