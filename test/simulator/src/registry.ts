import { createExchangeCore, defaultLimits, type PeerLimits } from '@shardswap/peer'
import { defaultBudgetLimits, defaultReliabilityLimits, Reliability, type ReliabilityLimits } from '@shardswap/reliability'
import type { BackupBudget } from './checkers/paid.ts'
import { baselines } from './policies/index.ts'
import type { Policy, Settings } from './policy.ts'

/** 5 % of the want-blocks in turn, of which 20 may be saved up (C5). */
const budget: BackupBudget = { share: 0.05, besides: 20 }

const defaults = [defaultLimits, defaultReliabilityLimits, defaultBudgetLimits]

/** Whether a limit of ours is called so. */
export function isLimit(name: string): boolean {
  return defaults.some((limits) => Object.hasOwn(limits, name))
}

/** Of the settings those that are named among these limits. */
function among(settings: Settings, limits: object): Settings {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => Object.hasOwn(limits, name)))
}

interface Variant {
  readonly limits?: Partial<PeerLimits>
  readonly reliability?: Partial<ReliabilityLimits>
  readonly hasBackups?: boolean
}

function variant(name: string, summary: string, { limits, reliability, hasBackups = true }: Variant = {}): Policy {
  return {
    name,
    summary,
    ...(hasBackups ? { backups: budget } : {}),
    create: ({ self, random, judge, settings = {} }) => {
      const layer = new Reliability({
        wallMs: 0,
        nowMs: 0,
        limits: { ...reliability, ...among(settings, defaultReliabilityLimits) },
        budgetLimits: among(settings, defaultBudgetLimits)
      })
      const core = { self, random, reliability: judge?.(layer) ?? layer, backups: hasBackups }
      return createExchangeCore({ ...core, limits: { ...limits, ...among(settings, defaultLimits) } })
    }
  }
}

/** Deadlines as they are usual elsewhere. */
const looseMs = 5000

/** Ours as it runs in a peer, and what it is without one part or another: each gain is a gain over one of these. */
const own: readonly Policy[] = [
  variant('shardswap', 'sessions and the peer broker, as they run in a peer'),
  variant('shardswap-no-backups', 'ours, but nobody is asked beside another', { hasBackups: false }),
  {
    name: 'shardswap-no-scores',
    summary: 'ours without the reliability layer: nothing is remembered, all peers count alike, and there are no backups',
    create: ({ self, random }) => createExchangeCore({ self, random })
  },
  variant('shardswap-linear', 'ours, with scores that fall as success does, and not as its fourth power', {
    reliability: { successPower: 1 }
  }),
  variant('shardswap-loose', `ours, with ${looseMs / 1000} s for every want`, {
    limits: { timeoutMinMs: looseMs, timeoutStartMs: looseMs }
  }),
  variant('shardswap-loose-no-backups', 'the same, but nobody is asked beside another', {
    limits: { timeoutMinMs: looseMs, timeoutStartMs: looseMs },
    hasBackups: false
  })
]

/** Every policy by its name. */
export const policies: ReadonlyMap<string, Policy> = new Map([...own, ...baselines].map((policy) => [policy.name, policy]))
