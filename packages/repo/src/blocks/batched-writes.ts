import type { ClassicLevel } from 'classic-level'

type Database = ClassicLevel<Uint8Array, Uint8Array>

/** A change of one key of a database. */
export type Change =
  | { readonly type: 'put'; readonly key: Uint8Array; readonly value: Uint8Array }
  | { readonly type: 'del'; readonly key: Uint8Array }

interface Batch {
  readonly changes: Change[]
  readonly done: PromiseWithResolvers<void>
}

/**
 * Writes what is asked for while one batch is under way as the next batch.
 * A lone write waits for nothing; many at once share the price of crossing into
 * LevelDB and back, which for small blocks is most of the work. What it holds
 * is bounded by what its callers have under way.
 */
export class BatchedWrites {
  readonly #db: Database
  #next: Batch | undefined
  #writing = false

  constructor(db: Database) {
    this.#db = db
  }

  /** Makes the changes, all or none. Resolves once they outlive this process. */
  async write(...changes: readonly Change[]): Promise<void> {
    this.#next ??= { changes: [], done: Promise.withResolvers() }
    const { done } = this.#next
    this.#next.changes.push(...changes)
    if (!this.#writing) void this.#writeAll()
    await done.promise
  }

  /** Never rejects: an error goes to those whose changes were in the batch. */
  async #writeAll(): Promise<void> {
    this.#writing = true
    for (let batch = this.#next; batch !== undefined; batch = this.#next) {
      this.#next = undefined
      try {
        await this.#db.batch(batch.changes)
        batch.done.resolve()
      } catch (error) {
        batch.done.reject(error)
      }
    }
    this.#writing = false
  }
}
