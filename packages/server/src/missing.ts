import type { BlockKey } from '@shardswap/interface'
import type { MissingIndex } from './ledger.ts'
import type { Want } from './want.ts'

/** Wants that wait for a block, or whose size is being asked at this moment, by block. Most blocks are wanted by one peer. */
export class MissingBlocks implements MissingIndex {
  readonly #wants = new Map<BlockKey, Want | Set<Want>>()

  /** Blocks that somebody waits for. */
  get size(): number {
    return this.#wants.size
  }

  add(want: Want): void {
    const there = this.#wants.get(want.blockKey)
    if (there === undefined) this.#wants.set(want.blockKey, want)
    else if (there instanceof Set) there.add(want)
    else this.#wants.set(want.blockKey, new Set([there, want]))
  }

  remove(want: Want): void {
    const there = this.#wants.get(want.blockKey)
    if (there === want || (there instanceof Set && there.delete(want) && there.size === 0)) this.#wants.delete(want.blockKey)
  }

  /** A copy: what waits changes while it is answered. */
  of(key: BlockKey): readonly Want[] {
    const there = this.#wants.get(key)
    if (there === undefined) return []
    return there instanceof Set ? Array.from(there) : [there]
  }
}
