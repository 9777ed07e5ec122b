import { assert } from '@shardswap/interface'
import type { Ask, AskPhase, PeerState, SessionState, Want } from './state.ts'
import { restartRate } from './timing.ts'

/** Moves an ask to a phase and keeps the sums of peer and want right: the only place that touches them. */
export function moveAsk(want: Want, peer: PeerState, next: AskPhase, nowMs: number): Ask {
  let ask = want.asks.get(peer.key)
  if (ask === undefined) {
    ask = { want, peer, state: next, promised: false }
    want.asks.set(peer.key, ask)
    peer.asks.set(want.key, ask)
  } else {
    leave(ask)
    ask.state = next
  }
  enter(ask, nowMs)
  return ask
}

/** Ends an ask. The peer's past keeps its key, so that a late block is told from an unasked one. */
export function dropAsk(ask: Ask): void {
  const { want, peer } = ask
  leave(ask)
  want.asks.delete(peer.key)
  peer.asks.delete(want.key)
  peer.past.add(want.key)
}

function enter(ask: Ask, nowMs: number): void {
  const { want, peer, state } = ask
  if (state.phase === 'in-flight') {
    assert(want.inFlight === 0, 'a want has one copy in flight at most')
    if (peer.inFlight === 0) restartRate(peer, nowMs)
    want.inFlight += 1
    peer.inFlight += 1
    peer.inFlightBytes += state.bytes
  } else if (state.phase === 'have-asked') {
    want.havesAsked += 1
    if (want.havesAsked === 1) for (const session of want.sessions) session.discoveries += 1
  } else if (state.phase === 'dont-have') {
    peer.standing += 1
  }
}

function leave(ask: Ask): void {
  const { want, peer, state } = ask
  if (state.phase === 'in-flight') {
    want.inFlight -= 1
    peer.inFlight -= 1
    peer.inFlightBytes -= state.bytes
  } else if (state.phase === 'have-asked') {
    want.havesAsked -= 1
    if (want.havesAsked === 0) for (const session of want.sessions) session.discoveries -= 1
  } else if (state.phase === 'dont-have') {
    peer.standing -= 1
  }
}

/** Whether the remote still keeps this want of ours, so that it must be cancelled there or told again. */
export function standsAtRemote(state: AskPhase): boolean {
  return state.phase === 'in-flight' || state.phase === 'have-asked' || state.phase === 'dont-have'
}

/** A session takes interest in a want. */
export function joinWant(want: Want, session: SessionState): void {
  if (want.sessions.has(session)) return
  want.sessions.add(session)
  if (want.havesAsked > 0) session.discoveries += 1
}

/** A session loses interest in a want, and forgets where it stood in its queues. */
export function leaveWant(want: Want, session: SessionState): void {
  if (!want.sessions.delete(session)) return
  if (want.havesAsked > 0) session.discoveries -= 1
  session.urgent.delete(want.key)
  session.queue.delete(want.key)
  session.parked.delete(want.key)
}
