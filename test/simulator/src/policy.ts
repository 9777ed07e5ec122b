import type { BlockKey, PeerKey, Random } from '@shardswap/interface'
import type { ExchangeCore } from '@shardswap/broker'
import type { ReliabilityCore } from '@shardswap/reliability'
import type { Layer } from './checkers/judge.ts'
import type { BackupBudget } from './checkers/paid.ts'

/** Rules that the checkers hold a core to; a policy that is built otherwise is let off those it names. */
export type Rule =
  /** Messages make sense: no key twice in one, no want-have where they are not known, nothing that nobody waits for. */
  | 'commands'
  /** Invariant 3: never more want-blocks in flight at a peer than `queueWantsMax`. */
  | 'limits'
  /** B11–B13: N want-blocks of a session at a new peer, more as it delivers. */
  | 'session-limits'
  /** Invariant 4: no want stands twice at one peer. */
  | 'one-at-a-peer'
  /** B15: what had its time at a peer is cancelled there before it is asked for again. */
  | 'cancels'
  /** Invariant 5: no second want-block of a want while one is in flight within its deadline, bar backups within the budget. */
  | 'backups'
  /** Invariant 6: one credit per want at most; the reliability layer counts as its turns went. */
  | 'credit'
  /** Invariant 8: who has a higher score has no smaller share, and shares sum to 1. */
  | 'shares'
  /** Invariant 11: after the last session has ended nothing is held and nothing stands at any remote. */
  | 'gauges'
  /** Invariant 2: every want ends. */
  | 'wants-end'
  /** Invariant 9: no more requests are open than Cap_max; no lower score is admitted where a higher one is refused. */
  | 'admission'
  /** Invariant 10: no session starves. */
  | 'fair-turns'

/** What the simulated world knows and no real peer can: for the policy `oracle` alone. */
export interface World {
  /** Whether the peer has the block and would send it if asked now. */
  delivers(peer: PeerKey, key: BlockKey): boolean
  /** Milliseconds until a block of so many bytes, asked of the peer now, would be here, were the link idle; Infinity where it never comes. */
  deliveryMs(peer: PeerKey, bytes: number): number
}

export type Settings = Readonly<Record<string, number>>

export interface PolicyOptions {
  /** The node that the core is for. */
  readonly self: PeerKey
  /** Seeded; the only source of chance. */
  readonly random: Random
  readonly world: World
  /** Stands between the core and its reliability layer, where it has one. */
  readonly judge?: ((layer: Layer) => ReliabilityCore) | undefined
  /** Those of the policy itself, or those of ours for all, so that choice and timeouts are told apart; its own where this is left out. */
  readonly deadlines?: 'own' | 'ours' | undefined
  /** Limits of ours to be tried out, by name, in place of the defaults. */
  readonly settings?: Settings | undefined
  /** Message queues of all nodes that live in one process, as in go-bitswap's benchmarks; the node's own where this is left out. */
  readonly queuesInProcess?: number | undefined
}

/** A way to choose who is asked for what, as a whole fetching half. */
export interface Policy {
  /** As in `--policy`. */
  readonly name: string
  /** One line: what it does, and whose way it is. */
  readonly summary: string
  readonly exempt?: readonly Rule[]
  /** What it pays backups from; it has none where this is left out. */
  readonly backups?: BackupBudget
  /** One core for one node of one run. Anything that it keeps lives in the core it returns. */
  create(options: PolicyOptions): ExchangeCore
}
