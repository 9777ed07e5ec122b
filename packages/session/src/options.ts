import type { PeerKey, Random } from '@shardswap/interface'
import type { SessionLimits } from './limits.ts'
import type { SessionPorts } from './views.ts'

/** What a session is made of. */
export interface SessionOptions {
  /** As `defaultSessionLimits`, or with changes to it. */
  readonly limits: SessionLimits
  /** Chance: which peer is drawn. */
  readonly random: Random
  /** What it may ask of whoever runs it. */
  readonly ports: SessionPorts
  /** Our own peer, for the ownership of blocks among those who fetch the same. */
  readonly self: PeerKey
  /** Only these are asked, ever. */
  readonly fixedPeers?: ReadonlySet<PeerKey> | undefined
  /** Now, on the cores' clock. */
  readonly nowMs: number
}

/** How a session stands. */
export interface SessionStanding {
  readonly potential: number
  readonly wants: number
  /** Want-blocks that this session has out. */
  readonly inFlight: number
  /** Peers that have, or may have, what is wanted here. */
  readonly knownPeers: number
  /** Whatever is kept per want and peer. */
  readonly records: number
}
