import type { BlockKey } from '@shardswap/interface'

/**
 * Keys of what a peer was asked for lately, and whether each came again since.
 * Two generations: when the young one is full it becomes the old one, and the
 * old one goes. So between half of `keysMax` and all of it is remembered, and
 * nothing is ever searched for its oldest.
 */
export class Past {
  readonly #generationMax: number
  #young = new Map<BlockKey, boolean>()
  #old = new Map<BlockKey, boolean>()

  constructor(keysMax: number) {
    this.#generationMax = Math.max(1, Math.ceil(keysMax / 2))
  }

  /** The peer was asked for it; what came before does not count any more. */
  add(key: BlockKey): void {
    if (this.#young.size >= this.#generationMax) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, false)
  }

  has(key: BlockKey): boolean {
    return this.#young.has(key) || this.#old.has(key)
  }

  /** It came, once more than was asked for. Returns whether it had done so already. */
  repeat(key: BlockKey): boolean {
    const generation = this.#young.has(key) ? this.#young : this.#old
    const before = generation.get(key) === true
    generation.set(key, true)
    return before
  }
}
