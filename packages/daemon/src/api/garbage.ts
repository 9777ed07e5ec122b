import type { AbortOptions, CID } from '@shardswap/interface'

/** One line of a collection: a block that is gone, or why one could not be dealt with. */
export type CollectedBlock = { readonly cid: CID } | { readonly error: Error }

/** Removes what nothing needs. */
export interface NodeGarbage {
  /**
   * Removes every block that no pin leads to and that nothing under way needs; yields each one. Only one collection
   * runs at a time; others wait. Errors: CollectionError where a block that a pin leads to cannot be read: then nothing
   * was removed; the lines before tell which.
   */
  collect(options?: AbortOptions): AsyncIterable<CollectedBlock>
}
