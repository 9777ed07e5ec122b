import { createExchangeCore } from '@shardswap/peer'
import { Reliability } from '@shardswap/reliability'
import { baselines } from './policies/index.ts'
import type { Policy } from './policy.ts'

/** Ours: what runs in a peer. */
const shardswap: Policy = {
  name: 'shardswap',
  summary: 'sessions and the peer broker, as they run in a peer',
  create: ({ self, random }) => createExchangeCore({ self, random, reliability: new Reliability({ wallMs: 0, nowMs: 0 }) })
}

/** Ours without second want-blocks: each gain of backups is a gain over this one. */
const withoutBackups: Policy = {
  name: 'shardswap-no-backups',
  summary: 'ours, but nobody is asked beside another',
  create: ({ self, random }) => createExchangeCore({ self, random, reliability: new Reliability({ wallMs: 0, nowMs: 0 }), backups: false })
}

/** Every policy by its name. */
export const policies: ReadonlyMap<string, Policy> = new Map(
  [shardswap, withoutBackups, ...baselines].map((policy) => [policy.name, policy])
)
