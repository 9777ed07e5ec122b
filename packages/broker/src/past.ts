import type { BlockKey } from '@shardswap/interface'
import type { SessionId } from './types.ts'

/** What was asked of a peer once. */
interface PastWant {
  readonly session: SessionId | undefined
  /** The block came again since. */
  isAgain: boolean
}

/**
 * Keys of what a peer was asked for lately, by which session, and whether each
 * came again since. Two generations: when the young one is full it becomes the
 * old one, and the old one goes. So between half of `keysMax` and all of it is
 * remembered, and nothing is ever searched for its oldest.
 */
export class Past {
  readonly #generationMax: number
  #young = new Map<BlockKey, PastWant>()
  #old = new Map<BlockKey, PastWant>()

  constructor(keysMax: number) {
    this.#generationMax = Math.max(1, Math.ceil(keysMax / 2))
  }

  /** The peer was asked for it; what came before does not count any more. */
  add(key: BlockKey, session: SessionId | undefined): void {
    if (this.#young.size >= this.#generationMax) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, { session, isAgain: false })
  }

  get(key: BlockKey): Readonly<PastWant> | undefined {
    return this.#young.get(key) ?? this.#old.get(key)
  }

  /** It came, once more than was asked for. Returns whether it had done so already. */
  repeat(key: BlockKey): boolean {
    const past = this.#young.get(key) ?? this.#old.get(key)
    if (past === undefined) return false
    const before = past.isAgain
    past.isAgain = true
    return before
  }
}
