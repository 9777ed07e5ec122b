import type { WantlistEntry } from '@shardswap/protocol'

/** What a remote saw of somebody's wants. */
export interface WantsSeen {
  /** Want-blocks that arrived, in all; those that stood and came again in a full list left out. */
  readonly wantBlocks: number
  readonly wantHaves: number
  readonly cancels: number
  /** Want-blocks that arrived while the same block was asked for already. */
  readonly repeats: number
  /** Want-blocks that are neither answered nor cancelled. */
  readonly standingBlocks: number
  /** The same of want-haves; a HAVE answers one, as with Go's servers. */
  readonly standingHaves: number
  /** The most want-blocks that ever stood at once. */
  readonly standingBlocksMax: number
  /** The most want-blocks and want-haves together that ever stood at once. */
  readonly standingMax: number
  /** The most want-blocks that stood, by the number of blocks that had been sent when the last of them arrived. */
  readonly standingMaxBySent: readonly number[]
  readonly blocksSent: number
  readonly dontHavesSent: number
}

/** Counts one client's wants as the remote sees them. Pure: the remote tells it what comes and what it answers. */
export class WantCount {
  readonly #blocks = new Set<string>()
  readonly #haves = new Set<string>()
  readonly #standingMaxBySent: number[] = [0]
  #wantBlocks = 0
  #wantHaves = 0
  #cancels = 0
  #repeats = 0
  #standingMax = 0
  #blocksSent = 0
  #dontHavesSent = 0

  /** A full list names these, and what it does not name no longer stands; then its entries are taken. */
  restate(keys: ReadonlySet<string>): void {
    for (const standing of [this.#blocks, this.#haves]) for (const key of standing) if (!keys.has(key)) standing.delete(key)
  }

  /** One entry. True where it is a new want, to be answered. */
  take(key: string, entry: Pick<WantlistEntry, 'cancel' | 'wantType'>, isRestated: boolean): boolean {
    if (entry.cancel) {
      this.#cancels += 1
      this.#blocks.delete(key)
      this.#haves.delete(key)
      return false
    }
    if (this.#blocks.has(key)) {
      if (!isRestated) this.#repeats += 1
      return false
    }
    if (entry.wantType === 'have') {
      if (isRestated && this.#haves.has(key)) return false
      this.#wantHaves += 1
      this.#haves.add(key)
      this.#countStanding()
      return true
    }
    this.#wantBlocks += 1
    this.#haves.delete(key)
    this.#blocks.add(key)
    this.#standingMaxBySent[this.#blocksSent] = Math.max(this.#standingMaxBySent[this.#blocksSent] ?? 0, this.#blocks.size)
    this.#countStanding()
    return true
  }

  #countStanding(): void {
    this.#standingMax = Math.max(this.#standingMax, this.#blocks.size + this.#haves.size)
  }

  /** Whether the want-block stands, so that an answer is still wanted. */
  stands(key: string): boolean {
    return this.#blocks.has(key)
  }

  /** A block is about to be written, or DONT_HAVE for it: the want is answered from here on, whenever it arrives. */
  answer(key: string, answer: 'block' | 'have' | 'dont-have'): void {
    this.#haves.delete(key)
    if (answer === 'have') return
    this.#blocks.delete(key)
    if (answer === 'dont-have') this.#dontHavesSent += 1
    else this.#standingMaxBySent[++this.#blocksSent] = this.#blocks.size
  }

  seen(): WantsSeen {
    return {
      wantBlocks: this.#wantBlocks,
      wantHaves: this.#wantHaves,
      cancels: this.#cancels,
      repeats: this.#repeats,
      standingBlocks: this.#blocks.size,
      standingHaves: this.#haves.size,
      standingBlocksMax: Math.max(...this.#standingMaxBySent),
      standingMax: this.#standingMax,
      standingMaxBySent: [...this.#standingMaxBySent],
      blocksSent: this.#blocksSent,
      dontHavesSent: this.#dontHavesSent
    }
  }
}
