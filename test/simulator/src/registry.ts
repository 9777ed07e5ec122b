import { createExchangeCore } from '@shardswap/peer'
import { baselines } from './policies/index.ts'
import type { Policy } from './policy.ts'

/** Ours: what runs in a peer. */
const shardswap: Policy = {
  name: 'shardswap',
  summary: 'sessions and the peer broker, as they run in a peer',
  create: ({ self, random }) => createExchangeCore({ self, random })
}

/** Every policy by its name. */
export const policies: ReadonlyMap<string, Policy> = new Map([shardswap, ...baselines].map((policy) => [policy.name, policy]))
