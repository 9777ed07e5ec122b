import type { BlockKey, CID, PeerKey, Random } from '@shardswap/interface'
import type { PeerLimits } from '../limits.ts'
import { dropAsk, joinWant, leaveWant, moveAsk, standsAtRemote } from './asks.ts'
import { expire, nextDeadlineMs } from './expiry.ts'
import { hasSpace, medianRate, place, type PlacementContext } from './placement.ts'
import { probe } from './probe.ts'
import { newPeer, newSession, newWant, type Counters, type PeerState, type SessionState, type Want } from './state.ts'
import { discountBytes, sampleBytes, sampleLatency, timeoutMs } from './timing.ts'

/** What the shell is to do. */
export type Command =
  | { readonly type: 'ask'; readonly peer: PeerKey; readonly cid: CID; readonly key: BlockKey; readonly wantType: 'block' | 'have' }
  | { readonly type: 'cancel'; readonly peer: PeerKey; readonly cid: CID; readonly key: BlockKey }
  | { readonly type: 'timed-out'; readonly peer: PeerKey; readonly cid: CID; readonly key: BlockKey }
  | { readonly type: 'give-up'; readonly key: BlockKey; readonly reason: string }
  | { readonly type: 'find-providers'; readonly session: number; readonly cid: CID }

/** What a block that came from a peer was. */
export type Arrival =
  | { readonly kind: 'wanted'; readonly cid: CID; readonly sessions: readonly number[] }
  /** Asked for once; `isAgain` where that answer had come before. */
  | { readonly kind: 'duplicate'; readonly isAgain: boolean }
  | { readonly kind: 'unasked'; readonly shutOut: boolean }

/** A want of one session, as the remote is to know it. */
export interface Standing {
  readonly cid: CID
  readonly key: BlockKey
  readonly wantType: 'block' | 'have'
}

/** Wants looked at in one session's queue before the next session has its turn; bounds one decision. */
const lookAheadMax = 256
const unaskedWindowMs = 10 * 60 * 1000
/** DONT_HAVEs in a row after which a peer no longer counts as a provider of the session (Go: 16). */
const missesMax = 16

/**
 * The fetching half as a pure state machine: the stand-in until sessions and
 * broker are cores of their own. Events change its state; `decide` returns what
 * to do. It never waits, reads no clock and rolls no die but the one it is given.
 *
 * Invariants: 1. A want has at most one want-block in flight (no duplicates by design).
 * 2. No peer has more in flight than its limits. 3. A want is in flight, asked
 * for by want-haves, or in one queue of each of its sessions. 4. What stands at
 * a remote is in `peer.asks`, so a new stream can tell it again.
 */
export class FetchCore {
  readonly peers = new Map<PeerKey, PeerState>()
  readonly wants = new Map<BlockKey, Want>()
  readonly sessions = new Map<number, SessionState>()
  readonly total: Counters
  readonly limits: PeerLimits
  readonly #random: Random
  #turn = 0
  /** A peer came that sessions may want to ask. */
  #probeDue = false
  readonly #pending: Command[] = []

  constructor(limits: PeerLimits, random: Random, total: Counters) {
    this.limits = limits
    this.#random = random
    this.total = total
  }

  openSession(id: number, fixed: ReadonlySet<PeerKey> | undefined, nowMs: number): void {
    this.sessions.set(id, newSession(id, fixed, nowMs))
  }

  closeSession(id: number): void {
    const session = this.sessions.get(id)
    if (session === undefined) return
    for (const want of this.wants.values()) if (want.sessions.has(session)) this.dropWant(id, want.key)
    this.sessions.delete(id)
  }

  addWant(id: number, cid: CID, key: BlockKey, nowMs: number): void {
    const session = this.sessions.get(id)
    if (session === undefined) return
    let want = this.wants.get(key)
    if (want === undefined) {
      want = newWant(cid, key, nowMs)
      this.wants.set(key, want)
    }
    joinWant(want, session)
    session.newest = want
    if (want.inFlight === 0) session.queue.set(key, want)
  }

  /** A session no longer wants a block; the last one to go cancels it everywhere. */
  dropWant(id: number, key: BlockKey): void {
    const session = this.sessions.get(id)
    const want = this.wants.get(key)
    if (session === undefined || want === undefined) return
    leaveWant(want, session)
    if (want.sessions.size === 0) this.#endWant(want, undefined)
  }

  connectPeer(key: PeerKey, supportsHave: boolean, nowMs: number): void {
    const peer = this.#peer(key, nowMs)
    const isNew = !peer.connected
    peer.connected = true
    peer.supportsHave = supportsHave
    if (!isNew) return
    for (const session of this.sessions.values()) {
      if (session.fixed !== undefined && !session.fixed.has(key)) continue
      this.#unpark(session)
    }
    this.#probeDue = true
  }

  disconnectPeer(key: PeerKey): void {
    const peer = this.peers.get(key)
    if (peer === undefined || !peer.connected) return
    peer.connected = false
    for (const ask of peer.asks.values()) {
      const { want } = ask
      dropAsk(ask)
      this.#requeue(want)
    }
    peer.limit = Math.min(peer.limit, this.limits.wantsInFlightStart)
    this.#forgetPeers()
  }

  /** Bytes arrived from a peer, of whole messages or parts of one. */
  receiveBytes(key: PeerKey, bytes: number, nowMs: number): void {
    const peer = this.peers.get(key)
    if (peer !== undefined) sampleBytes(peer, bytes, nowMs)
  }

  /** A whole message arrived in which nothing was asked for. */
  receiveTalk(key: PeerKey, bytes: number): void {
    const peer = this.peers.get(key)
    if (peer !== undefined) discountBytes(peer, bytes)
  }

  /** A block arrived, verified to have this key. */
  receiveBlock(key: PeerKey, block: BlockKey, bytes: number, nowMs: number): Arrival {
    const peer = this.#peer(key, nowMs)
    const want = this.wants.get(block)
    if (want === undefined) return this.#unwanted(peer, block, bytes, nowMs)
    const ask = want.asks.get(key)
    if (ask?.state.phase === 'in-flight') {
      sampleLatency(peer, nowMs - ask.state.sentAtMs)
      peer.deliveredSequence = Math.max(peer.deliveredSequence, ask.state.sequence)
      peer.limit = Math.min(peer.limit + 1, this.limits.wantsInFlightMax)
    }
    const ids: number[] = []
    count(this.total, peer.stat, bytes)
    for (const session of want.sessions) {
      ids.push(session.id)
      session.providers.set(key, 0)
      session.averageBytes += (bytes - session.averageBytes) / Math.min(8, session.stat.blocks + 1)
      session.lastProgressAtMs = nowMs
      session.searches = 0
      session.stat.blocks += 1
      session.stat.bytes += bytes
    }
    const { cid } = want
    this.#endWant(want, key)
    return { kind: 'wanted', cid, sessions: ids }
  }

  /** The block came by other means (somebody put it here): nobody need send it. */
  putBlock(block: BlockKey): void {
    const want = this.wants.get(block)
    if (want !== undefined) this.#endWant(want, undefined)
  }

  receivePresence(key: PeerKey, block: BlockKey, presence: 'have' | 'dont-have', nowMs: number): void {
    const peer = this.peers.get(key)
    const want = this.wants.get(block)
    const ask = want?.asks.get(key)
    if (peer === undefined) return
    if (want === undefined || ask === undefined) {
      // A probe's answer that comes after its block: the peer joins all the same.
      if (presence === 'have' && peer.past.has(block)) this.#join(peer)
      return
    }
    if (presence === 'have') this.#receiveHave(want, peer, ask.state.phase, nowMs)
    else this.#receiveDontHave(want, peer, nowMs)
  }

  /** What one peer is to know of our wants: for the first message on a new stream. */
  standingAt(key: PeerKey): Standing[] {
    const standing: Standing[] = []
    const peer = this.peers.get(key)
    for (const ask of peer?.asks.values() ?? []) {
      if (!standsAtRemote(ask.state)) continue
      standing.push({ cid: ask.want.cid, key: ask.want.key, wantType: ask.state.phase === 'in-flight' ? 'block' : 'have' })
    }
    return standing
  }

  /** Everything to be done now, after events. */
  decide(nowMs: number): Command[] {
    return this.#decide(this.#pending.splice(0), nowMs)
  }

  /** As `decide`, after ending what is past its time; to be called when `wakeAtMs` says. */
  tick(nowMs: number): Command[] {
    const commands = this.#pending.splice(0)
    expire(this, commands, nowMs)
    this.#probeDue = true
    return this.#decide(commands, nowMs)
  }

  #decide(commands: Command[], nowMs: number): Command[] {
    if (this.#probeDue) this.#probe(commands, nowMs)
    let budget = this.limits.inFlightBytesMax
    for (const peer of this.peers.values()) budget -= peer.inFlightBytes
    const order = [...this.sessions.values()]
    for (let i = 0; i < order.length && budget > 0; i++) {
      const session = order[(i + this.#turn) % order.length]
      if (session !== undefined) budget = this.#decideSession(session, commands, budget, nowMs)
    }
    this.#turn = order.length === 0 ? 0 : (this.#turn + 1) % order.length
    return commands
  }

  /** When `tick` would next find something past its time, or undefined. Scans what is open. */
  wakeAtMs(): number | undefined {
    return nextDeadlineMs(this)
  }

  #probe(commands: Command[], nowMs: number): void {
    this.#probeDue = false
    for (const session of this.sessions.values()) {
      const found = probe(session, this.peers, this.limits, this.#random, nowMs)
      for (const peer of found?.peers ?? []) if (found !== undefined) this.#askHave(found.want, peer, session, commands, nowMs)
    }
  }

  #decideSession(session: SessionState, commands: Command[], budget: number, nowMs: number): number {
    if (session.urgent.size === 0 && session.queue.size === 0) return budget
    if (this.#allFull(session)) return budget
    const medianBytesPerMs = medianRate(session, this.peers)
    const context: PlacementContext = { peers: this.peers, limits: this.limits, random: this.#random, nowMs, medianBytesPerMs }
    let looked = 0
    for (const queue of [session.urgent, session.queue]) {
      for (const want of queue.values()) {
        if (budget <= 0 || looked >= lookAheadMax) return budget
        if (want.inFlight > 0) {
          queue.delete(want.key)
          continue
        }
        const placement = place(want, session, context)
        if (placement.to === 'later') {
          looked += 1
          continue
        }
        queue.delete(want.key)
        if (placement.to === 'peer') {
          this.#askBlock(want, placement.peer, session, commands, nowMs)
          budget -= session.averageBytes
        } else if (placement.to === 'discover') {
          for (const peer of placement.peers) this.#askHave(want, peer, session, commands, nowMs)
        } else if (placement.to === 'nobody') {
          this.#park(want, session, placement.untilMs, commands, nowMs)
        }
      }
    }
    return budget
  }

  /** Whether every provider of the session is at its limits, so that nothing of it can go out now. */
  #allFull(session: SessionState): boolean {
    let anybody = false
    for (const key of session.providers.keys()) {
      const peer = this.peers.get(key)
      if (peer === undefined || !peer.connected) continue
      if (hasSpace(peer, session.averageBytes, this.limits)) return false
      anybody = true
    }
    return anybody
  }

  #askBlock(want: Want, peer: PeerState, session: SessionState, commands: Command[], nowMs: number): void {
    const deadlineMs = nowMs + timeoutMs(peer, this.limits)
    const sequence = peer.nextSequence++
    moveAsk(want, peer, { phase: 'in-flight', sentAtMs: nowMs, deadlineMs, sequence, bytes: session.averageBytes }, nowMs)
    for (const counters of [this.total, session.stat, peer.stat]) counters.wantsSent += 1
    commands.push({ type: 'ask', peer: peer.key, cid: want.cid, key: want.key, wantType: 'block' })
  }

  #askHave(want: Want, peer: PeerState, session: SessionState, commands: Command[], nowMs: number): void {
    const deadlineMs = nowMs + timeoutMs(peer, this.limits)
    moveAsk(want, peer, { phase: 'have-asked', sentAtMs: nowMs, deadlineMs }, nowMs)
    if (!session.probes.has(peer.key)) session.probes.set(peer.key, { times: 0, nextAtMs: deadlineMs })
    for (const counters of [this.total, session.stat, peer.stat]) counters.wantsSent += 1
    commands.push({ type: 'ask', peer: peer.key, cid: want.cid, key: want.key, wantType: 'have' })
  }

  #park(want: Want, session: SessionState, untilMs: number | undefined, commands: Command[], nowMs: number): void {
    want.parkedUntilMs = untilMs ?? nowMs + this.#restMs(want)
    want.parkings += 1
    session.parked.set(want.key, want)
    if (session.fixed === undefined && session.nextSearchAtMs <= nowMs) {
      session.searches += 1
      session.nextSearchAtMs = nowMs + Math.min(1000 * 2 ** session.searches, 60_000)
      commands.push({ type: 'find-providers', session: session.id, cid: want.cid })
    }
  }

  /** How long a want that nobody has rests before it is asked for again. */
  #restMs(want: Want): number {
    return Math.min(this.limits.askAgainMs * 2 ** Math.min(want.parkings, 10), 60_000)
  }

  #receiveHave(want: Want, peer: PeerState, phase: string, nowMs: number): void {
    for (const session of want.sessions) session.providers.set(peer.key, 0)
    // A HAVE for what is in flight there, or after a timeout, changes nothing about that ask.
    if (phase === 'in-flight' || phase === 'timed-out') return
    const ask = want.asks.get(peer.key)
    if (ask?.state.phase === 'have-asked') sampleLatency(peer, nowMs - ask.state.sentAtMs)
    moveAsk(want, peer, { phase: 'have' }, nowMs).promised = true
    this.#requeue(want)
    for (const session of want.sessions) this.#unpark(session)
  }

  #receiveDontHave(want: Want, peer: PeerState, nowMs: number): void {
    const ask = want.asks.get(peer.key)
    const before = ask?.state
    if (ask === undefined || before === undefined || before.phase === 'timed-out') return
    if (before.phase === 'in-flight' || before.phase === 'have-asked') sampleLatency(peer, nowMs - before.sentAtMs)
    for (const counters of [this.total, peer.stat]) counters.dontHaves += 1
    for (const session of want.sessions) {
      session.stat.dontHaves += 1
      const misses = session.providers.get(peer.key)
      if (misses === undefined) continue
      if (misses + 1 >= missesMax) session.providers.delete(peer.key)
      else session.providers.set(peer.key, misses + 1)
    }
    // What was promised, asked for and then denied is not believed again for a while: a peer that takes turns would keep the want.
    const broken = before.phase === 'in-flight' && ask.promised
    if (!broken && peer.standing < this.limits.standingWantsMax) {
      moveAsk(want, peer, { phase: 'dont-have', atMs: nowMs }, nowMs)
    } else {
      // Else enough of our wants stand there: this one is taken back, and asked again when its turn comes.
      this.#pending.push({ type: 'cancel', peer: peer.key, cid: want.cid, key: want.key })
      moveAsk(want, peer, { phase: 'timed-out', untilMs: nowMs + this.#restMs(want) }, nowMs)
    }
    this.#requeue(want)
  }

  /** An answer that comes after its want has ended still tells the sessions that asked that the peer has their DAG. */
  #join(peer: PeerState): void {
    for (const session of this.sessions.values()) if (session.probes.has(peer.key)) session.providers.set(peer.key, 0)
  }

  /** Puts a want that nobody is asked about back in line, ahead of the new ones. */
  #requeue(want: Want): void {
    if (want.inFlight > 0) return
    const anyHave = [...want.asks.values()].some((ask) => ask.state.phase === 'have')
    if (want.havesAsked > 0 && !anyHave) return
    want.parkedUntilMs = undefined
    for (const session of want.sessions) {
      session.parked.delete(want.key)
      session.queue.delete(want.key)
      session.urgent.set(want.key, want)
    }
  }

  /** Called by expiry as well: everything parked in a session is looked at again. */
  #unpark(session: SessionState): void {
    for (const want of session.parked.values()) {
      want.parkedUntilMs = undefined
      session.urgent.set(want.key, want)
    }
    session.parked.clear()
  }

  /** A want had its time at a peer, or its parking is over: for `expire`. */
  wantAgain(want: Want): void {
    this.#requeue(want)
  }

  #endWant(want: Want, deliveredBy: PeerKey | undefined): void {
    for (const ask of want.asks.values()) {
      const { peer, state } = ask
      if (peer.key !== deliveredBy && standsAtRemote(state)) {
        this.#pending.push({ type: 'cancel', peer: peer.key, cid: want.cid, key: want.key })
      }
      dropAsk(ask)
    }
    for (const session of want.sessions) leaveWant(want, session)
    this.wants.delete(want.key)
  }

  #unwanted(peer: PeerState, block: BlockKey, bytes: number, nowMs: number): Arrival {
    if (peer.past.has(block)) {
      for (const counters of [this.total, peer.stat]) {
        counters.duplicateBlocks += 1
        counters.duplicateBytes += bytes
      }
      // Small blocks come in place of a HAVE from all who have them: each of them is a provider.
      this.#join(peer)
      return { kind: 'duplicate', isAgain: peer.past.repeat(block) }
    }
    return { kind: 'unasked', shutOut: this.receiveUnasked(peer.key, nowMs) }
  }

  /** A block that nobody asked this peer for, or that cannot be verified. Returns whether it is shut out for it now. */
  receiveUnasked(key: PeerKey, nowMs: number): boolean {
    const peer = this.#peer(key, nowMs)
    this.total.unaskedBlocks += 1
    peer.stat.unaskedBlocks += 1
    if (peer.shutOutUntilMs > nowMs) return false
    peer.unaskedAtMs = peer.unaskedAtMs.filter((atMs) => nowMs - atMs < unaskedWindowMs)
    peer.unaskedAtMs.push(nowMs)
    if (peer.unaskedAtMs.length < this.limits.unaskedBlocksMax) return false
    peer.unaskedAtMs = []
    peer.shutOutUntilMs = nowMs + this.limits.shutOutMs
    for (const ask of peer.asks.values()) {
      if (standsAtRemote(ask.state)) this.#pending.push({ type: 'cancel', peer: key, cid: ask.want.cid, key: ask.want.key })
      dropAsk(ask)
      this.#requeue(ask.want)
    }
    return true
  }

  #peer(key: PeerKey, nowMs: number): PeerState {
    let peer = this.peers.get(key)
    if (peer === undefined) {
      peer = newPeer(key, this.limits, nowMs)
      this.peers.set(key, peer)
    }
    return peer
  }

  /** Oldest first, those that are not connected and not shut out leave when there are too many. */
  #forgetPeers(): void {
    let excess = -this.limits.peersRememberedMax
    for (const peer of this.peers.values()) if (!peer.connected) excess += 1
    for (const peer of this.peers.values()) {
      if (excess <= 0) return
      if (peer.connected) continue
      this.peers.delete(peer.key)
      for (const session of this.sessions.values()) {
        session.providers.delete(peer.key)
        session.probes.delete(peer.key)
      }
      excess -= 1
    }
  }
}

function count(total: Counters, peer: Counters, bytes: number): void {
  for (const counters of [total, peer]) {
    counters.blocks += 1
    counters.bytes += bytes
  }
}
