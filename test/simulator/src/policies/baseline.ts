import {
  newCounters,
  type Arrival,
  type Command,
  type ExchangeCore,
  type Gauges,
  type QueueFigures,
  type SessionFigures,
  type SessionId,
  type SessionInit,
  type Standing,
  type WantEntry,
  type Counters
} from '@shardswap/broker'
import { assert, type BlockKey, type CID, type PeerKey } from '@shardswap/interface'
import type { Deadlines } from './deadlines.ts'
import { gaugesOf, queueFigures, sessionFigures } from './figures.ts'
import { Hooks } from './hooks.ts'
import { isHaveAsked, isInFlight, newPeer, newSession, remember } from './state.ts'
import type { Ask, Peer, Session, Want, WantType } from './state.ts'
import { Timers } from './timers.ts'

/** Without progress for so long a want is given up, as in ours. */
const giveUpMs = 60_000
/** Peers remembered after they left. */
const goneMax = 1024

/**
 * What every policy to compare with has in common: who is connected, what stands at whom, messages,
 * deadlines, cancels and figures. A policy adds whom to ask for what: it overrides those of `Hooks`
 * that it needs, and asks by `ask` and `withdraw`.
 */
export abstract class Baseline extends Hooks implements ExchangeCore {
  readonly total: Counters = newCounters()
  protected readonly peers = new Map<PeerKey, Peer>()
  protected readonly sessions = new Map<SessionId, Session>()
  protected readonly wants = new Map<BlockKey, Want>()
  protected readonly timers = new Timers()
  readonly #deadlines: Deadlines
  /** Peers with lines to be sent. */
  readonly #unsent = new Set<Peer>()
  readonly #commands: Command[] = []
  #order = 0
  #gone = 0

  constructor(deadlines: Deadlines) {
    super()
    this.#deadlines = deadlines
  }

  // What a policy may do.

  /** Asks a peer, once: false where the want stands there already as this or as a want-block. */
  protected ask(peer: Peer, want: Want, type: WantType, session: Session, nowMs: number): boolean {
    assert(peer.connected, 'a peer that is not connected is asked')
    const before = want.asks.get(peer.key)
    if (before !== undefined && (before.type === type || before.type === 'want-block')) return false
    const ask: Ask = before ?? {
      want,
      peer,
      session,
      type,
      phase: 'queued',
      bytes: session.averageBytes,
      sentAtMs: undefined,
      answered: false,
      deadline: undefined,
      sequence: 0,
      checkedAtMs: nowMs,
      dueAtMs: nowMs
    }
    if (before !== undefined) this.#count(ask, -1)
    ask.type = type
    ask.phase = 'queued'
    this.#count(ask, 1)
    want.asks.set(peer.key, ask)
    peer.asks.set(want.key, ask)
    this.#line(peer, { type, cid: want.cid, key: want.key }, nowMs)
    return true
  }

  /** Ends an ask before its want ends, and tells the remote if it knows of it. */
  protected withdraw(ask: Ask, nowMs: number): void {
    this.#drop(ask, true, nowMs)
  }

  /** Sends an ask's line once more. */
  protected resend(ask: Ask, nowMs: number): void {
    this.#line(ask.peer, { type: ask.type, cid: ask.want.cid, key: ask.want.key }, nowMs)
  }

  /** Takes an ask as timed out. */
  protected timeOut(ask: Ask, nowMs: number): void {
    this.setPhase(ask, 'late')
    if (ask.type === 'want-block') {
      for (const tally of [this.total, ask.peer.tally, ask.session.tally]) tally.timeouts += 1
      this.#commands.push({ type: 'timed-out', peer: ask.peer.key, cid: ask.want.cid, key: ask.want.key })
    }
    this.askTimedOut(ask, nowMs)
  }

  protected findProviders(session: Session, want: Want): void {
    if (session.fixed === undefined) this.#commands.push({ type: 'find-providers', session: session.id, cid: want.cid })
  }

  /** Connected peers that this session may ask, in the order in which they were met. */
  protected connected(session: Session): Peer[] {
    return [...this.peers.values()].filter((peer) => peer.connected && session.fixed?.has(peer.key) !== false)
  }

  /** Does all that follows from what has happened; its commands are told of by the next decision. */
  protected settle(nowMs: number): void {
    this.place(nowMs)
    for (const peer of this.#unsent) this.#release(peer, nowMs)
  }

  protected setPhase(ask: Ask, phase: Ask['phase']): void {
    this.#count(ask, -1)
    ask.phase = phase
    this.#count(ask, 1)
  }

  // The face of the fetching half.

  openSession(id: SessionId, init: SessionInit, nowMs: number): void {
    const session = newSession(id, init.fixedPeers, nowMs)
    this.sessions.set(id, session)
    this.sessionOpened(session, nowMs)
  }

  closeSession(id: SessionId, nowMs: number): void {
    const session = this.sessions.get(id)
    if (session === undefined) return
    for (const key of session.wants.keys()) this.dropWant(id, key, nowMs)
    this.sessions.delete(id)
    this.sessionClosed(session, nowMs)
  }

  addWant(id: SessionId, cid: CID, key: BlockKey, nowMs: number): void {
    const session = this.sessions.get(id)
    if (session === undefined || session.wants.has(key)) return
    const known = this.wants.get(key)
    const want: Want = known ?? { cid, key, sessions: new Set(), asks: new Map(), addedAtMs: nowMs, inFlight: 0, giveUp: undefined }
    this.wants.set(key, want)
    want.sessions.add(session)
    session.wants.set(key, want)
    want.giveUp ??= this.timers.at(nowMs + giveUpMs, (atMs) => this.#giveUp(want, atMs))
    this.wantAdded(want, session, nowMs)
  }

  dropWant(id: SessionId, key: BlockKey, nowMs: number): void {
    const session = this.sessions.get(id)
    const want = session?.wants.get(key)
    if (session === undefined || want === undefined) return
    this.#leave(want, session, nowMs)
    if (want.sessions.size === 0) this.#end(want, undefined, nowMs)
  }

  connectPeer(key: PeerKey, supportsHave: boolean, nowMs: number): void {
    const peer = this.#peer(key, nowMs)
    peer.supportsHave = supportsHave
    if (peer.connected) return
    // Anew at the end: those that left are forgotten in the order in which they came.
    this.peers.delete(key)
    this.peers.set(key, peer)
    peer.connected = true
    this.#gone -= 1
    this.peerConnected(peer, nowMs)
  }

  disconnectPeer(key: PeerKey, nowMs: number): void {
    const peer = this.peers.get(key)
    if (peer === undefined || !peer.connected) return
    peer.connected = false
    const lost = [...peer.asks.values()]
    for (const ask of lost) this.#drop(ask, false, nowMs)
    peer.outbox.clear()
    this.#settle(peer)
    this.#gone += 1
    this.peerLeft(peer, lost, nowMs)
    for (const [other, { connected }] of this.peers) {
      if (this.#gone <= goneMax) break
      if (connected) continue
      this.peers.delete(other)
      this.#gone -= 1
    }
  }

  providerFound(id: SessionId, key: PeerKey, nowMs: number): void {
    const session = this.sessions.get(id)
    const peer = this.peers.get(key)
    if (session !== undefined && peer?.connected === true) this.providerKnown(session, peer, nowMs)
  }

  /** No policy but ours learns from what others ask for. */
  peerWants(_peer: PeerKey, _key: BlockKey, _nowMs: number): void {}

  receiveBytes(key: PeerKey, bytes: number, nowMs: number): void {
    const peer = this.#peer(key, nowMs)
    peer.timing.sampleBytes(bytes, peer.inFlight > 0, nowMs)
  }

  /** No policy but ours is told. */
  receiveBusy(): void {}

  /** Stores of the simulator are never behind. */
  holdReading(): void {}

  receiveTalk(key: PeerKey, bytes: number): void {
    this.peers.get(key)?.timing.discount(bytes)
  }

  receiveBlock(key: PeerKey, block: BlockKey, bytes: number, nowMs: number): Arrival {
    const peer = this.#peer(key, nowMs)
    const want = this.wants.get(block)
    const past = peer.past.get(block)
    if (want === undefined) {
      if (past === undefined) return { kind: 'unasked', shutOut: this.receiveUnasked(key, nowMs) }
      for (const tally of [this.total, peer.tally, past.session.tally]) {
        tally.duplicateBlocks += 1
        tally.duplicateBytes += bytes
      }
      const isAgain = past.hasCome
      past.hasCome = true
      this.duplicateReceived(peer, block, nowMs)
      return { kind: 'duplicate', isAgain }
    }
    if (past !== undefined) past.hasCome = true
    const ask = want.asks.get(key)
    if (ask !== undefined) {
      this.#answer(ask, nowMs)
      if (isInFlight(ask)) peer.timing.deliveredSequence = Math.max(peer.timing.deliveredSequence, ask.sequence)
    }
    const sessions = [...want.sessions]
    for (const tally of [this.total, peer.tally, ...sessions.map((session) => session.tally)]) {
      tally.blocks += 1
      tally.bytes += bytes
    }
    for (const session of sessions) {
      session.averageBytes += (bytes - session.averageBytes) / Math.min(8, session.tally.blocks)
      session.progressAtMs = nowMs
    }
    this.blockReceived(want, peer, bytes, nowMs)
    for (const session of sessions) this.#leave(want, session, nowMs)
    this.#end(want, peer, nowMs)
    return { kind: 'wanted', cid: want.cid, sessions: sessions.map(({ id }) => id) }
  }

  receiveUnasked(key: PeerKey, nowMs: number): boolean {
    for (const tally of [this.total, this.#peer(key, nowMs).tally]) tally.unaskedBlocks += 1
    return false
  }

  receivePresence(key: PeerKey, block: BlockKey, presence: 'have' | 'dont-have', nowMs: number): void {
    const ask = this.wants.get(block)?.asks.get(key)
    if (ask === undefined || ask.sentAtMs === undefined) return
    this.#answer(ask, nowMs)
    if (presence === 'dont-have') {
      for (const tally of [this.total, ask.peer.tally, ask.session.tally]) tally.dontHaves += 1
      this.#stopClock(ask)
      this.setPhase(ask, 'dont-have')
      this.dontHaveReceived(ask, nowMs)
      return
    }
    // Said of a want-block that is out it means that the block is still to come.
    if (ask.type === 'want-have') {
      this.#stopClock(ask)
      this.setPhase(ask, 'have')
    }
    this.haveReceived(ask, nowMs)
  }

  /** No other implementation reads it. */
  receivePendingBytes(_peer: PeerKey, _bytes: number, _nowMs: number): void {}

  putBlock(key: BlockKey, nowMs: number): void {
    const want = this.wants.get(key)
    if (want === undefined) return
    for (const session of want.sessions) this.#leave(want, session, nowMs)
    this.#end(want, undefined, nowMs)
  }

  standingAt(key: PeerKey): Standing[] {
    const asks = [...(this.peers.get(key)?.asks.values() ?? [])].filter(({ sentAtMs }) => sentAtMs !== undefined)
    return asks.map(({ want, type }) => ({ cid: want.cid, key: want.key, wantType: type === 'want-block' ? 'block' : 'have' }))
  }

  decide(nowMs: number): Command[] {
    this.settle(nowMs)
    return this.#commands.splice(0)
  }

  tick(nowMs: number): Command[] {
    this.timers.runDue(nowMs)
    return this.decide(nowMs)
  }

  wakeAtMs(): number | undefined {
    return this.timers.nextAtMs()
  }

  session(id: SessionId): SessionFigures | undefined {
    const session = this.sessions.get(id)
    return session === undefined ? undefined : sessionFigures(session)
  }

  queues(): readonly QueueFigures[] {
    return [...this.peers.values()].map(queueFigures)
  }

  gauges(): Gauges {
    return gaugesOf(this.peers.values(), this.sessions.size, this.wants.size, this.recordsKept() + this.timers.size)
  }

  // What is kept in step.

  #peer(key: PeerKey, nowMs: number): Peer {
    const known = this.peers.get(key)
    if (known !== undefined) return known
    const peer = newPeer(key, this.#order++, nowMs)
    this.peers.set(key, peer)
    this.#gone += 1
    return peer
  }

  #count(ask: Ask, by: 1 | -1): void {
    if (isInFlight(ask)) {
      ask.want.inFlight += by
      ask.peer.inFlight += by
      ask.peer.inFlightBytes += by * ask.bytes
      if (ask.phase === 'open') ask.peer.sentBytes += by * ask.bytes
      if (ask.peer.inFlight === 0) ask.peer.timing.pause()
    }
    if (isHaveAsked(ask)) ask.peer.haves += by
  }

  #line(peer: Peer, entry: WantEntry, nowMs: number): void {
    if (peer.outbox.size === 0) peer.outboxSinceMs = nowMs
    peer.outbox.delete(entry.key)
    peer.outbox.set(entry.key, entry)
    this.#unsent.add(peer)
  }

  /** Nothing is left to be sent to this peer. */
  #settle(peer: Peer): void {
    peer.release?.cancel()
    peer.release = undefined
    this.#unsent.delete(peer)
  }

  #release(peer: Peer, nowMs: number): void {
    const untilMs = this.heldUntilMs(peer, nowMs)
    if (untilMs > nowMs) {
      if (peer.release?.atMs === untilMs) return
      peer.release?.cancel()
      // The tick that it makes is all that is needed.
      peer.release = this.timers.at(untilMs, () => (peer.release = undefined))
      return
    }
    const entries = this.nextMessage(peer, [...peer.outbox.values()], nowMs)
    for (const { key } of entries) peer.outbox.delete(key)
    this.#settle(peer)
    peer.lastSentAtMs = nowMs
    const asks: Ask[] = []
    for (const { type, key } of entries) {
      const ask = peer.asks.get(key)
      if (type === 'cancel' || ask === undefined) continue
      asks.push(ask)
      this.#open(ask, nowMs)
    }
    this.#commands.push({ type: 'send', peer: peer.key, entries })
    this.messageSent(peer, asks, nowMs)
    if (peer.outbox.size === 0) return
    this.#unsent.add(peer)
    this.#release(peer, nowMs)
  }

  #open(ask: Ask, nowMs: number): void {
    const name = ask.type === 'want-block' ? 'wantBlocksSent' : 'wantHavesSent'
    for (const tally of [this.total, ask.peer.tally, ask.session.tally]) tally[name] += 1
    remember(ask.peer, ask.want.key, ask.session)
    if (ask.phase === 'queued') this.setPhase(ask, 'open')
    ask.sentAtMs = nowMs
    ask.answered = false
    ask.sequence = ask.peer.nextSequence++
    this.#stopClock(ask)
    this.#startClock(ask, this.#deadlines.forAskMs(ask, nowMs), nowMs)
  }

  #startClock(ask: Ask, limitMs: number, nowMs: number): void {
    if (limitMs === Number.POSITIVE_INFINITY) return
    ask.checkedAtMs = nowMs
    ask.deadline = this.timers.at(nowMs + limitMs, (atMs) => {
      ask.deadline = undefined
      const extraMs = this.#deadlines.extraMs(ask, atMs)
      if (extraMs > 0) this.#startClock(ask, extraMs, atMs)
      else this.timeOut(ask, atMs)
    })
  }

  #stopClock(ask: Ask): void {
    ask.deadline?.cancel()
    ask.deadline = undefined
  }

  /** The first answer to what was last sent tells the peer's latency. */
  #answer(ask: Ask, nowMs: number): void {
    if (ask.sentAtMs === undefined || ask.answered) return
    ask.answered = true
    const latencyMs = nowMs - ask.sentAtMs
    ask.peer.timing.sampleLatency(latencyMs, 0)
    this.answered(ask, latencyMs)
  }

  #drop(ask: Ask, cancel: boolean, nowMs: number): void {
    const { want, peer } = ask
    this.#stopClock(ask)
    this.#count(ask, -1)
    want.asks.delete(peer.key)
    peer.asks.delete(want.key)
    this.askEnded(ask)
    if (peer.outbox.get(want.key)?.type !== 'cancel') peer.outbox.delete(want.key)
    if (cancel && ask.sentAtMs !== undefined) this.#line(peer, { type: 'cancel', cid: want.cid, key: want.key }, nowMs)
    else if (peer.outbox.size === 0) this.#settle(peer)
  }

  #leave(want: Want, session: Session, nowMs: number): void {
    want.sessions.delete(session)
    session.wants.delete(want.key)
    this.wantLeft(want, session, nowMs)
  }

  #end(want: Want, deliveredBy: Peer | undefined, nowMs: number): void {
    for (const ask of want.asks.values()) this.#drop(ask, this.cancels(ask, deliveredBy), nowMs)
    want.giveUp?.cancel()
    this.wants.delete(want.key)
  }

  #giveUp(want: Want, nowMs: number): void {
    let progressAtMs = want.addedAtMs
    for (const session of want.sessions) progressAtMs = Math.max(progressAtMs, session.progressAtMs)
    for (const ask of want.asks.values()) if (isInFlight(ask)) progressAtMs = Math.max(progressAtMs, ask.peer.timing.lastBytesAtMs)
    // Sums, never differences, on both sides: the timer below must not be due again at this very instant.
    const isOver = nowMs >= progressAtMs + giveUpMs
    if (isOver) this.#commands.push({ type: 'give-up', key: want.key, reason: `no block for ${nowMs - progressAtMs} ms`, isAlone: false })
    // Waiters with a signal of their own stay.
    want.giveUp = this.timers.at(isOver ? nowMs + giveUpMs : progressAtMs + giveUpMs, (atMs) => this.#giveUp(want, atMs))
  }
}
