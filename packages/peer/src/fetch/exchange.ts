import { Broker, type ExchangeCore } from '@shardswap/broker'
import type { PeerKey, Random } from '@shardswap/interface'
import type { ReliabilityCore } from '@shardswap/reliability'
import { Session } from '@shardswap/session'
import { type PeerLimits, peerLimits } from '../limits.ts'

/** What the fetching half is made of. */
export interface ExchangeOptions {
  /** Our own peer. */
  readonly self: PeerKey
  /** Chance; a seeded one makes a run that can be repeated. */
  readonly random: Random
  /** Changes to the limits. */
  readonly limits?: Partial<PeerLimits>
  /** Judges peers, and remembers them; where it is left out, all count alike. */
  readonly reliability?: ReliabilityCore | undefined
  /** Whether a second peer may be asked where a first one is likely to fail (C5); true by default. */
  readonly backups?: boolean | undefined
}

/** The fetching half as it runs in a peer: the broker with our sessions. Pure: it runs in a simulator as well. */
export function createExchangeCore({ self, random, limits: changes, reliability, backups }: ExchangeOptions): ExchangeCore {
  const limits = peerLimits(changes)
  return new Broker({ limits, random, reliability, backups, openSession: (options) => new Session({ ...options, limits, self }) })
}
