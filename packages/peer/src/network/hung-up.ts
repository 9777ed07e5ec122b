import type { Connection } from '@libp2p/interface'

const yamux = '/yamux/1.0.0'
/** Yamux's word for an end in good order. */
const normalTermination = 0

/** What Yamux keeps of the last words of both sides, beyond what libp2p's interface shows. */
interface LastWords {
  readonly localGoAway?: number
  readonly remoteGoAway?: number
}

function lastWordsOf(connection: Connection): LastWords | undefined {
  const { muxer } = connection as { readonly muxer?: LastWords }
  return connection.multiplexer === yamux && typeof muxer === 'object' ? muxer : undefined
}

/**
 * Whether a connection that is over was closed in good order, by us or by the other side, who then mean it; else the
 * network cut it. How its socket ended does not tell: a process that is killed ends it as one that closes it. Where
 * the other side hangs up while much is on its way to it, its last word may be lost: that counts as cut.
 */
export function wasHungUp(connection: Connection): boolean {
  const words = lastWordsOf(connection)
  if (words === undefined) return connection.status === 'closed'
  return words.localGoAway === normalTermination || words.remoteGoAway === normalTermination
}
