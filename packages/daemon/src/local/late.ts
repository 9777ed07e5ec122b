import { TimeoutError } from '@shardswap/interface'
import type { Peer, Session } from '@shardswap/peer'

/**
 * A time-out that says how far a read had come: what arrived, and whom it could have asked. Anything else as it is.
 * Its cause is the signal's reason, so that it is known for the end of that call.
 */
export function lateError(error: unknown, signal: AbortSignal | undefined, session: Session, peer: Pick<Peer, 'connections'>): unknown {
  if (!(error instanceof TimeoutError)) return error
  const { blocks, dontHaves } = session.stat()
  const connected = new Set(peer.connections().map((connection) => connection.peer)).size
  const message = `${error.message}; blocks that came: ${blocks}; peers connected: ${connected}; DONT_HAVE: ${dontHaves}`
  return new TimeoutError(message, { cause: signal?.reason ?? error })
}
