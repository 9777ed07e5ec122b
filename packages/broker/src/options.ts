import type { Random } from '@shardswap/interface'
import type { ReliabilityCore } from '@shardswap/reliability'
import type { Session, SessionOptions } from '@shardswap/session'
import type { BrokerLimits } from './limits.ts'

/** What a broker is made of. */
export interface BrokerOptions {
  /** As `defaultBrokerLimits`, or with changes to it. */
  readonly limits: BrokerLimits
  /** Chance; every session draws from it. */
  readonly random: Random
  /** Judges peers; where it is left out, all count alike and nobody is asked beside another. */
  readonly reliability?: ReliabilityCore | undefined
  /** Whether second peers are asked on the budget of backups (C5); true by default. */
  readonly backups?: boolean | undefined
  /** Makes a session; the broker hands in what it needs of itself. */
  readonly openSession: (options: Pick<SessionOptions, 'ports' | 'fixedPeers' | 'nowMs' | 'random'>) => Session
}
