/**
 * How much room a repo with a limit has left, and when garbage is to be collected. Pure.
 *
 * From `collectAtBytes` on a collection is begun beside the writes. If it frees little, because most is pinned, the next
 * one is not begun before half of what is left then is taken, so that a full repo is not read again and again. A write
 * that does not fit waits for a collection, unless nothing was let go since the last one began: then the repo is full.
 */
export interface SpaceInit {
  readonly maxBytes: number
  /** Up to `maxBytes`. */
  readonly collectAtBytes: number
  /** Bytes of blocks that are here. */
  readonly bytes: number
}

/** What is to be done about a write. */
export type Room =
  /** It fits. */
  | 'fits'
  /** It fits, and it is time for a collection beside it. */
  | 'fits-collect'
  /** It fits only after a collection, if then. */
  | 'collect'
  /** It does not fit, and a collection would free nothing. */
  | 'full'

export class SpaceRules {
  readonly #maxBytes: number
  readonly #collectAtBytes: number
  #bytes: number
  #nextAtBytes: number
  /** Counts what lets go of blocks; a collection frees nothing that the last one did not, unless this has changed. */
  #releases = 0
  #beganAt = 0
  /** The count of releases when the last collection that took all it could began. */
  #collectedAt: number | undefined
  #addedSinceListing = 0

  constructor({ maxBytes, collectAtBytes, bytes }: SpaceInit) {
    this.#maxBytes = maxBytes
    this.#collectAtBytes = collectAtBytes
    this.#bytes = bytes
    this.#nextAtBytes = collectAtBytes
  }

  /** Bytes of blocks that are here or on their way in. */
  get bytes(): number {
    return this.#bytes
  }

  get maxBytes(): number {
    return this.#maxBytes
  }

  /** Whether so many bytes more may come. Those that fit count as here from now on. */
  take(bytes: number): Room {
    const after = this.#bytes + bytes
    if (after > this.#maxBytes) return this.#collectedAt === this.#releases ? 'full' : 'collect'
    this.#bytes = after
    this.#addedSinceListing += bytes
    if (after < this.#nextAtBytes) return 'fits'
    // Not again before the collection that is begun now has ended.
    this.#nextAtBytes = Infinity
    return 'fits-collect'
  }

  /** A block has gone. */
  removed(bytes: number): void {
    this.#bytes = Math.max(0, this.#bytes - bytes)
    this.#addedSinceListing -= bytes
  }

  /** Something let go of blocks: an operation ended, a pin was taken away, or a block came that nothing holds. */
  released(): void {
    this.#releases += 1
  }

  /** A collection begins. */
  begin(): void {
    this.#beganAt = this.#releases
    this.#nextAtBytes = Infinity
  }

  /** It begins to list what is here. `arrivingBytes` are taken and being written: they count as not listed. */
  listing(arrivingBytes: number): void {
    this.#addedSinceListing = arrivingBytes
  }

  /** Some of what was arriving was listed all the same. */
  listedTwice(bytes: number): void {
    this.#addedSinceListing -= bytes
  }

  /** It has listed blocks of so many bytes; what came and went since it began to is known. */
  listed(bytes: number): void {
    this.#bytes = Math.max(0, bytes + this.#addedSinceListing)
  }

  /** It has ended. `isPressed`: it went through, and took all that it may take. */
  end(isPressed: boolean): void {
    if (isPressed) this.#collectedAt = this.#beganAt
    const left = Math.max(0, this.#maxBytes - this.#bytes)
    this.#nextAtBytes = Math.max(this.#collectAtBytes, this.#bytes + left / 2)
  }
}
