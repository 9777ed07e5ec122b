import type { BlockKey, PeerKey } from '@shardswap/interface'
import type { PeerView } from './views.ts'

/**
 * Peers that fetch the same DAG at the same time (B7). Each block has one owner
 * among them and us, the same one from every side, by rendezvous hashing: the
 * owner asks the provider first, the others tell the owner that they want it and
 * ask the provider for their own blocks first. So what two of us want crosses
 * the provider's link once, without a message about who fetches what, and where
 * the owner is slow or gone nothing waits for it: a block that another owns only
 * has a later turn.
 */
export class Partners {
  readonly #max: number
  readonly #ownSeed: number
  readonly #partners = new Map<PeerKey, { readonly peer: PeerView; readonly seed: number }>()

  constructor(self: PeerKey, partnersMax: number) {
    this.#max = partnersMax
    this.#ownSeed = hash(self, 0)
  }

  get size(): number {
    return this.#partners.size
  }

  add(peer: PeerView): void {
    if (this.#partners.size < this.#max && !this.#partners.has(peer.key)) {
      this.#partners.set(peer.key, { peer, seed: hash(peer.key, 0) })
    }
  }

  remove(peer: PeerKey): void {
    this.#partners.delete(peer)
  }

  has(peer: PeerKey): boolean {
    return this.#partners.has(peer)
  }

  /** The partner who is to fetch a block first, or undefined where it is ours. */
  ownerOf(key: BlockKey): PeerView | undefined {
    if (this.#partners.size === 0) return undefined
    let best = hash(key, this.#ownSeed)
    let owner: PeerView | undefined
    for (const { peer, seed } of this.#partners.values()) {
      const rank = hash(key, seed)
      if (rank <= best) continue
      best = rank
      owner = peer
    }
    return owner
  }
}

/** FNV-1a over the last characters (a digest or an identity ends in what is random), then mixed as MurmurHash 3 ends. */
function hash(text: string, seed: number): number {
  let sum = 0x811c9dc5 ^ seed
  for (let i = Math.max(0, text.length - 16); i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193)
  sum = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b)
  sum = Math.imul(sum ^ (sum >>> 13), 0xc2b2ae35)
  return (sum ^ (sum >>> 16)) >>> 0
}
