import type { Gauges, QueueFigures, SessionFigures } from '@shardswap/broker'
import type { Peer, Session } from './state.ts'

/** How one peer's queue stands. These policies know no limits but those they state themselves. */
export function queueFigures(peer: Peer): QueueFigures {
  return {
    peer: peer.key,
    connected: peer.connected,
    inFlight: peer.inFlight,
    inFlightBytes: peer.inFlightBytes,
    backups: 0,
    haves: peer.haves,
    depth: 0,
    limitWants: Number.POSITIVE_INFINITY,
    windowBytes: Number.POSITIVE_INFINITY,
    latencyMs: peer.timing.latencyMs,
    bytesPerS: peer.timing.bytesPerMs === undefined ? undefined : peer.timing.bytesPerMs * 1000,
    figures: peer.tally
  }
}

export function sessionFigures(session: Session): SessionFigures {
  let inFlight = 0
  for (const want of session.wants.values()) inFlight += want.inFlight
  return { potential: 1, wants: session.wants.size, inFlight, knownPeers: 0, figures: session.tally }
}

/** Sums over the peers, beside what is counted elsewhere. */
export function gaugesOf(peers: Iterable<Peer>, sessions: number, wants: number, records: number): Gauges {
  const sums = { peers: 0, sessions, wants, inFlight: 0, inFlightBytes: 0, backups: 0, haves: 0, records }
  for (const peer of peers) {
    sums.peers += 1
    sums.inFlight += peer.inFlight
    sums.inFlightBytes += peer.inFlightBytes
    sums.haves += peer.haves
    sums.records += peer.asks.size + peer.outbox.size
  }
  return sums
}
