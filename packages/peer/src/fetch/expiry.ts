import type { Command, FetchCore } from './core.ts'
import { moveAsk } from './asks.ts'
import type { Ask, Want } from './state.ts'
import { isQuiet, isStillArriving } from './timing.ts'

/** After a timeout a peer is not asked for that want again for so many of its latencies (B20). */
const timeoutRestLatencies = 5
const timeoutRestMinMs = 1000
/** How soon a want whose deadline stands still is looked at again. */
const graceMs = 250

/** Ends what is past its deadline, and what had no progress for too long. */
export function expire(core: FetchCore, commands: Command[], nowMs: number): void {
  for (const peer of core.peers.values()) {
    for (const ask of peer.asks.values()) expireAsk(core, ask, commands, nowMs)
  }
  for (const session of core.sessions.values()) {
    for (const want of session.parked.values()) {
      if (want.parkedUntilMs === undefined || want.parkedUntilMs > nowMs) continue
      // What said DONT_HAVE long ago may have it by now: it is asked afresh.
      for (const ask of want.asks.values()) {
        if (ask.state.phase === 'dont-have' && nowMs - ask.state.atMs >= core.limits.askAgainMs)
          moveAsk(want, ask.peer, { phase: 'timed-out', untilMs: nowMs }, nowMs)
      }
      core.wantAgain(want)
    }
  }
  for (const want of core.wants.values()) giveUp(core, want, commands, nowMs)
}

function expireAsk(core: FetchCore, ask: Ask, commands: Command[], nowMs: number): void {
  const { want, peer, state } = ask
  if (state.phase !== 'in-flight' && state.phase !== 'have-asked') return
  if (state.deadlineMs > nowMs && !isQuiet(peer, state.sentAtMs, core.limits, nowMs)) return
  if (state.phase === 'in-flight' && isStillArriving(peer, state.sequence, core.limits, nowMs)) {
    state.deadlineMs = nowMs + graceMs
    return
  }
  const restMs = Math.max(timeoutRestLatencies * (peer.latencyMs ?? 0), timeoutRestMinMs)
  if (state.phase === 'in-flight') {
    peer.limit = Math.max(1, peer.limit >> 1)
    for (const counters of [core.total, peer.stat]) counters.timeouts += 1
    for (const session of want.sessions) session.stat.timeouts += 1
    commands.push({ type: 'timed-out', peer: peer.key, cid: want.cid, key: want.key })
  }
  commands.push({ type: 'cancel', peer: peer.key, cid: want.cid, key: want.key })
  moveAsk(want, peer, { phase: 'timed-out', untilMs: nowMs + restMs }, nowMs)
  core.wantAgain(want)
}

function giveUp(core: FetchCore, want: Want, commands: Command[], nowMs: number): void {
  let progressAtMs = want.addedAtMs
  for (const session of want.sessions) progressAtMs = Math.max(progressAtMs, session.lastProgressAtMs)
  for (const ask of want.asks.values()) {
    if (ask.state.phase === 'in-flight') progressAtMs = Math.max(progressAtMs, ask.peer.lastBytesAtMs)
  }
  if (nowMs - progressAtMs < core.limits.giveUpMs) return
  commands.push({ type: 'give-up', key: want.key, reason: reasonOf(core, want, nowMs - progressAtMs) })
}

/** Says why a want got nowhere: who was asked, and what became of it. */
function reasonOf(core: FetchCore, want: Want, quietMs: number): string {
  let connected = 0
  let shutOut = 0
  for (const peer of core.peers.values()) {
    if (peer.connected) connected += 1
    if (peer.connected && peer.shutOutUntilMs > 0) shutOut += 1
  }
  let refused = 0
  let silent = 0
  for (const { state } of want.asks.values()) {
    if (state.phase === 'dont-have') refused += 1
    else silent += 1
  }
  const parts = [`${connected} connected`, `${refused} said DONT_HAVE`, `${silent} did not deliver`]
  if (shutOut > 0) parts.push(`${shutOut} shut out for blocks that match no want`)
  return `no block for ${Math.round(quietMs / 1000)} s; peers: ${parts.join(', ')}`
}

/** The soonest time at which `expire` would do something. Scans what is open; called once a decision. */
export function nextDeadlineMs(core: FetchCore): number | undefined {
  let soonest = Number.POSITIVE_INFINITY
  for (const peer of core.peers.values()) {
    for (const { state } of peer.asks.values()) {
      if (state.phase === 'in-flight' || state.phase === 'have-asked') soonest = Math.min(soonest, state.deadlineMs)
    }
  }
  for (const session of core.sessions.values()) {
    for (const want of session.parked.values()) soonest = Math.min(soonest, want.parkedUntilMs ?? soonest)
  }
  for (const want of core.wants.values()) {
    soonest = Math.min(soonest, want.addedAtMs + core.limits.giveUpMs)
    break
  }
  return soonest === Number.POSITIVE_INFINITY ? undefined : soonest
}
