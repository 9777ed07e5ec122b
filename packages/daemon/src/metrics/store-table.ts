/** What a daemon tells of its repo; docs/metrics.md lists the same. */
import type { MetricSpec } from '@shardswap/peer'

/** How the blocks of a repo stand. */
export interface StoreState {
  /** Undefined where nobody had to know. */
  readonly bytes: number | undefined
  /** Undefined where there is no limit. */
  readonly maxBytes: number | undefined
  readonly isCollecting: boolean
  /** How many collections have begun. */
  readonly collections: number
}

/** The metrics of a repo. */
export const storeMetrics: readonly MetricSpec<StoreState>[] = [
  {
    name: 'shardswap_repo_block_bytes',
    kind: 'gauge',
    help: 'Bytes of all blocks; 0 where repo.maxBytes sets no limit, for then they are not counted.',
    value: ({ bytes = 0 }) => bytes
  },
  {
    name: 'shardswap_repo_limit_bytes',
    kind: 'gauge',
    help: 'What the blocks may take in all (repo.maxBytes); 0 where there is no limit.',
    value: ({ maxBytes = 0 }) => maxBytes
  },
  {
    name: 'shardswap_garbage_collections_running',
    kind: 'gauge',
    help: 'Whether garbage is being collected.',
    isZeroAtRest: true,
    value: ({ isCollecting }) => (isCollecting ? 1 : 0)
  },
  {
    name: 'shardswap_garbage_collections_total',
    kind: 'counter',
    help: 'Collections of garbage that have begun.',
    value: ({ collections }) => collections
  }
]
