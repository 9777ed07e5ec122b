import type { Random } from '@shardswap/interface'
import type { PeerLimits } from '../limits.ts'
import type { PeerState, SessionState, Want } from './state.ts'
import { expectedMs, windowBytes } from './timing.ts'

/** Where a want goes next. */
export type Placement =
  /** A want-block to this peer. */
  | { readonly to: 'peer'; readonly peer: PeerState }
  /** A want-have to these. */
  | { readonly to: 'discover'; readonly peers: readonly PeerState[] }
  /** Peers that have it are full, or too many are being looked for. */
  | { readonly to: 'later' }
  /** Answers to want-haves are still out. */
  | { readonly to: 'answers' }
  /** Nobody is left to ask; `untilMs` is when somebody may be asked again, where that is known. */
  | { readonly to: 'nobody'; readonly untilMs: number | undefined }

export interface PlacementContext {
  readonly peers: ReadonlyMap<string, PeerState>
  readonly limits: PeerLimits
  readonly random: Random
  readonly nowMs: number
  /** The median of the rates of the session's providers, in bytes per millisecond. */
  readonly medianBytesPerMs: number
}

/** Whether a peer may be asked at all by this session. */
function isAllowed(peer: PeerState, session: SessionState, nowMs: number): boolean {
  if (!peer.connected || peer.shutOutUntilMs > nowMs) return false
  return session.fixed === undefined || session.fixed.has(peer.key)
}

/** Whether one more want-block fits into the peer's limits. */
export function hasSpace(peer: PeerState, bytes: number, limits: PeerLimits): boolean {
  if (peer.inFlight >= peer.limit) return false
  return peer.inFlight === 0 || peer.inFlightBytes + bytes <= windowBytes(peer, limits)
}

/** `open`: may be asked now. `refused`: said DONT_HAVE. `waiting`: an answer is out. A number: not before it. */
function standing(want: Want, peer: PeerState, nowMs: number): 'open' | 'refused' | 'waiting' | number {
  const state = want.asks.get(peer.key)?.state
  switch (state?.phase) {
    case undefined:
    case 'have':
      return 'open'
    case 'dont-have':
      return 'refused'
    case 'timed-out':
      return state.untilMs <= nowMs ? 'open' : state.untilMs
    case 'have-asked':
    case 'in-flight':
      return 'waiting'
  }
}

/** The one decision of this first session: who gets a want. Peers known to have the DAG first, then discovery. */
export function place(want: Want, session: SessionState, context: PlacementContext): Placement {
  const known = placeAtProviders(want, session, context)
  return known ?? placeByDiscovery(want, session, context)
}

function placeAtProviders(want: Want, session: SessionState, context: PlacementContext): Placement | undefined {
  const { peers, limits, random, nowMs } = context
  let best: PeerState | undefined
  let bestMs = Number.POSITIVE_INFINITY
  let anybody = false
  for (const key of session.providers.keys()) {
    const peer = peers.get(key)
    if (peer === undefined || !isAllowed(peer, session, nowMs) || standing(want, peer, nowMs) !== 'open') continue
    anybody = true
    if (!hasSpace(peer, session.averageBytes, limits)) continue
    // A die of a tenth, so that equals share alike.
    const ms = expectedMs(peer, session.averageBytes, context.medianBytesPerMs) * (0.95 + 0.1 * random.next())
    if (ms < bestMs) {
      best = peer
      bestMs = ms
    }
  }
  if (best !== undefined) return { to: 'peer', peer: best }
  return anybody ? { to: 'later' } : undefined
}

function placeByDiscovery(want: Want, session: SessionState, context: PlacementContext): Placement {
  const { peers, limits, random, nowMs } = context
  const open: PeerState[] = []
  let untilMs: number | undefined
  for (const peer of peers.values()) {
    if (!isAllowed(peer, session, nowMs)) continue
    const stands = standing(want, peer, nowMs)
    if (stands === 'open') open.push(peer)
    else if (typeof stands === 'number') untilMs = Math.min(untilMs ?? stands, stands)
  }
  if (open.length === 0) return want.havesAsked > 0 ? { to: 'answers' } : { to: 'nobody', untilMs }
  const atOnce = session.providers.size === 0 ? 1 : limits.discoveriesMax
  if (want.havesAsked === 0 && session.discoveries >= atOnce) return { to: 'later' }

  const askable = open.filter((peer) => peer.supportsHave)
  const only = open.length === 1 ? open[0] : undefined
  // A lone candidate is asked for the block itself, and so is one that knows no want-have.
  const direct =
    want.havesAsked > 0 ? undefined : (only ?? (askable.length === 0 ? open[Math.floor(random.next() * open.length)] : undefined))
  if (direct !== undefined) return hasSpace(direct, session.averageBytes, limits) ? { to: 'peer', peer: direct } : { to: 'later' }
  if (askable.length === 0) return { to: 'answers' }
  return { to: 'discover', peers: sample(askable, limits.discoveryPeersMax - want.havesAsked, random) }
}

/** The median of the measured rates of a session's providers, in bytes per millisecond; 0 where none is measured. */
export function medianRate(session: SessionState, peers: ReadonlyMap<string, PeerState>): number {
  const rates: number[] = []
  for (const key of session.providers.keys()) {
    const rate = peers.get(key)?.bytesPerMs
    if (rate !== undefined) rates.push(rate)
  }
  rates.sort((a, b) => a - b)
  return rates[rates.length >> 1] ?? 0
}

/** Up to `count` of `from`, each as likely as any other. */
function sample(from: PeerState[], count: number, random: Random): PeerState[] {
  for (let i = 0; i < Math.min(count, from.length); i++) {
    const j = i + Math.floor(random.next() * (from.length - i))
    const a = from[i]
    const b = from[j]
    if (a !== undefined && b !== undefined) {
      from[i] = b
      from[j] = a
    }
  }
  return from.slice(0, Math.max(count, 0))
}
