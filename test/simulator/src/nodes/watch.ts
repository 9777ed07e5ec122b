import type { Arrival, Command, SessionId } from '@shardswap/broker'
import type { BlockKey, PeerKey } from '@shardswap/interface'

/** Told of all that goes into a fetching core and comes out of it, in order. */
export interface Watch {
  connected(peer: PeerKey, supportsHave: boolean): void
  disconnected(peer: PeerKey): void
  wanted(session: SessionId, key: BlockKey): void
  /** The session no longer wants it: it came, its caller gave up, or the session ended. */
  left(session: SessionId, key: BlockKey): void
  presence(peer: PeerKey, key: BlockKey, presence: 'have' | 'dont-have'): void
  /** `waits` is whether a caller waited for it as it came. */
  block(peer: PeerKey, key: BlockKey, bytes: number, arrival: Arrival, waits: boolean): void
  /** All commands of one decision. */
  commands(commands: readonly Command[]): void
}
