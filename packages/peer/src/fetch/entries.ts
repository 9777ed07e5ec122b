import type { BlockKey, CID } from '@shardswap/interface'
import type { GetOptions } from '../types.ts'

/** One caller that waits for a block. */
export interface Waiter {
  readonly session: number
  /** Waits as long as its signal or its timeout lets it; others end when nothing goes on. */
  readonly patient: boolean
  readonly onProgress: GetOptions['onProgress']
  resolve(bytes: Uint8Array): void
  reject(error: unknown): void
}

/**
 * A block that somebody waits for, and how far it is: looked for in the store,
 * wanted from peers, or here and being stored. All callers of one block share it.
 */
export interface Entry {
  readonly cid: CID
  readonly key: BlockKey
  state: 'looking' | 'wanted' | 'storing'
  readonly waiters: Set<Waiter>
}

/** The sessions that have a caller waiting. */
export function sessionsOf(entry: Entry): Set<number> {
  const ids = new Set<number>()
  for (const waiter of entry.waiters) ids.add(waiter.session)
  return ids
}
