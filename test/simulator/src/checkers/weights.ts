import type { PeerKey } from '@shardswap/interface'

interface Weight {
  readonly score: number
  readonly weight: number
}

const roundingMax = 1e-9

/**
 * What each peer weighs in the draw, as its core was told last, in the order of scores. Shares are weights over their
 * sum, so that a higher score has no smaller share is that weights rise with scores.
 */
export class Weights {
  readonly #byPeer = new Map<PeerKey, Weight>()
  readonly #sorted: Weight[] = []

  /** Returns a peer whose weight and score stand the other way round, if there is one. */
  put(peer: PeerKey, score: number, weight: number): Weight | undefined {
    this.remove(peer)
    const one = { score, weight }
    const place = this.#placeOf(one)
    const below = this.#sorted[place - 1]
    const above = this.#sorted[place]
    this.#sorted.splice(place, 0, one)
    this.#byPeer.set(peer, one)
    if (below !== undefined && (below.weight > weight + roundingMax || (below.score === score && below.weight < weight - roundingMax)))
      return below
    if (above !== undefined && (above.weight < weight - roundingMax || (above.score === score && above.weight > weight + roundingMax)))
      return above
    return undefined
  }

  remove(peer: PeerKey): void {
    const before = this.#byPeer.get(peer)
    if (before === undefined) return
    this.#byPeer.delete(peer)
    let place = this.#placeOf(before)
    while (this.#sorted[place] !== before) place += 1
    this.#sorted.splice(place, 1)
  }

  /** The first place at which it is not before what stands there. */
  #placeOf({ score, weight }: Weight): number {
    let from = 0
    let to = this.#sorted.length
    while (from < to) {
      const middle = (from + to) >> 1
      const other = this.#sorted[middle] as Weight
      if (other.score < score || (other.score === score && other.weight < weight)) from = middle + 1
      else to = middle
    }
    return from
  }
}
