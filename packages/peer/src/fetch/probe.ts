import type { Random } from '@shardswap/interface'
import type { PeerLimits } from '../limits.ts'
import type { PeerState, SessionState, Want } from './state.ts'

/** How soon a peer that did not join a session is asked again; doubles up to half a minute. */
const probeAgainMs = 1000
const probeAgainMaxMs = 30_000

/** Peers to be asked, and for what. */
export interface Probe {
  readonly want: Want
  readonly peers: readonly PeerState[]
}

/**
 * Who else might have a session's DAG: connected peers that had nothing so far
 * are asked from time to time for a want that will not be here soon, so that
 * newcomers join (B7) and several downloaders fetch from each other.
 */
export function probe(
  session: SessionState,
  peers: ReadonlyMap<string, PeerState>,
  limits: PeerLimits,
  random: Random,
  nowMs: number
): Probe | undefined {
  const want = session.newest
  if (want === undefined || !want.sessions.has(session) || session.providers.size === 0) return undefined
  const due: PeerState[] = []
  for (const peer of peers.values()) {
    if (due.length >= limits.discoveryPeersMax) break
    if (!peer.connected || !peer.supportsHave || peer.shutOutUntilMs > nowMs || session.providers.has(peer.key)) continue
    if (session.fixed !== undefined && !session.fixed.has(peer.key)) continue
    if (want.asks.has(peer.key)) continue
    const last = session.probes.get(peer.key)
    if (last !== undefined && last.nextAtMs > nowMs) continue
    const times = (last?.times ?? 0) + 1
    // A die of a tenth keeps many sessions from asking at one moment.
    const inMs = Math.min(probeAgainMs * 2 ** Math.min(times - 1, 10), probeAgainMaxMs) * (0.95 + 0.1 * random.next())
    session.probes.set(peer.key, { times, nextAtMs: nowMs + inMs })
    due.push(peer)
  }
  return due.length === 0 ? undefined : { want, peers: due }
}
