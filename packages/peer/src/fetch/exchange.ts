import { Broker, type ExchangeCore } from '@shardswap/broker'
import type { PeerKey, Random } from '@shardswap/interface'
import { Session } from '@shardswap/session'
import { type PeerLimits, peerLimits } from '../limits.ts'

export interface ExchangeOptions {
  /** Our own peer. */
  readonly self: PeerKey
  readonly random: Random
  readonly limits?: Partial<PeerLimits>
}

/** The fetching half as it runs in a peer: the broker with our sessions. Pure: it runs in a simulator as well. */
export function createExchangeCore({ self, random, limits: changes }: ExchangeOptions): ExchangeCore {
  const limits = peerLimits(changes)
  return new Broker({ limits, random, openSession: (options) => new Session({ ...options, limits, self }) })
}
