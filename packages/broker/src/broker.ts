import { assert, type BlockKey, type CID, type PeerKey, type Random } from '@shardswap/interface'
import type { Decision, Session, SessionOptions } from '@shardswap/session'
import { type Copy, firstOf, type Member, Wanted } from './blocks.ts'
import { clearRemote, dropCopy, type InFlight, isStanding, moveCopy, newCopy } from './copies.ts'
import { countBlock, type Counters, newCounters } from './counters.ts'
import { Deadlines, unansweredRestMs } from './deadlines.ts'
import type { BrokerLimits } from './limits.ts'
import { Lines } from './lines.ts'
import { Outbox } from './outbox.ts'
import { Peers } from './peers.ts'
import type { PeerQueue } from './queue.ts'
import { whyQuiet } from './why.ts'
import type {
  Arrival,
  Command,
  ExchangeCore,
  Figures,
  Gauges,
  QueueFigures,
  SessionFigures,
  SessionId,
  SessionInit,
  Standing
} from './types.ts'

export interface BrokerOptions {
  readonly limits: BrokerLimits
  readonly random: Random
  /** Makes a session; the broker hands in what it needs of itself. */
  readonly openSession: (options: Pick<SessionOptions, 'ports' | 'fixedPeers' | 'nowMs' | 'random'>) => Session
}

interface OpenSession extends Member {
  readonly figures: Counters
}

/**
 * The peer broker: one bounded want queue a peer over all sessions, matched
 * with what sessions want. Events change its state and wake sessions; `decide`
 * asks those that are awake, round robin, until nobody has a want for a peer
 * with space, and releases one message to each peer (B23–B25).
 *
 * Invariants: 1. No queue holds more than its limits, and all of them together
 * no more than theirs. 2. A block has one copy at a peer at most. 3. What stands
 * at a remote is a copy with `remote` set, so a new stream can tell it again, and
 * it is cancelled before it is forgotten. 4. A session that found no space is in
 * that peer's line, and lines move when space comes.
 */
export class Broker implements ExchangeCore {
  readonly #limits: BrokerLimits
  readonly #random: Random
  readonly #makeSession: BrokerOptions['openSession']
  readonly #total: Counters = newCounters()
  readonly #inFlight: InFlight = { wants: 0, bytes: 0, haves: 0 }
  readonly #peers: Peers
  readonly #sessions = new Map<SessionId, OpenSession>()
  readonly #blocks = new Map<BlockKey, Wanted>()
  readonly #deadlines: Deadlines
  readonly #lines: Lines
  /** Sessions that may have something to send, in the order of their turns. */
  readonly #awake = new Set<OpenSession>()
  readonly #outbox: Outbox
  readonly #commands: Command[] = []
  #sessionsLookMs = Number.POSITIVE_INFINITY
  /** The last `decide` ended before all had their turns. */
  #hasMore = false

  constructor(options: BrokerOptions) {
    this.#limits = options.limits
    this.#random = options.random
    this.#makeSession = options.openSession
    this.#peers = new Peers(options.limits)
    this.#deadlines = new Deadlines(options.limits.timeoutMaxMs)
    this.#lines = new Lines(options.limits, this.#inFlight)
    this.#outbox = new Outbox(options.limits.holdMs, this.#commands)
  }

  get total(): Figures {
    return this.#total
  }

  openSession(id: SessionId, init: SessionInit, nowMs: number): void {
    assert(!this.#sessions.has(id), 'a session is opened once')
    let member: OpenSession | undefined
    const ports: SessionOptions['ports'] = {
      peers: this.#peers.connected,
      hasSpace: (peer, bytes, besides) => member !== undefined && this.#lines.hasSpace(member, peer as PeerQueue, bytes, besides),
      lineUp: (peer) => {
        if (member !== undefined) this.#lines.join(member, peer as PeerQueue)
      },
      wakeBy: (atMs) => {
        this.#sessionsLookMs = Math.min(this.#sessionsLookMs, atMs)
      }
    }
    const session = this.#makeSession({ ports, fixedPeers: init.fixedPeers, nowMs, random: this.#random })
    member = { id, session, figures: newCounters() }
    this.#sessions.set(id, member)
  }

  closeSession(id: SessionId, nowMs: number): void {
    const member = this.#sessions.get(id)
    if (member === undefined) return
    for (const key of Array.from(member.session.keys())) this.#leaveWant(member, key, nowMs)
    this.#lines.leave(member)
    this.#awake.delete(member)
    this.#sessions.delete(id)
  }

  addWant(id: SessionId, cid: CID, key: BlockKey, nowMs: number): void {
    const member = this.#sessions.get(id)
    if (member === undefined) return
    let wanted = this.#blocks.get(key)
    if (wanted === undefined) {
      wanted = new Wanted(cid, key)
      this.#blocks.set(key, wanted)
    }
    if (wanted.members.has(member)) return
    wanted.members.add(member)
    member.session.add(wanted, nowMs)
    this.#awake.add(member)
  }

  dropWant(id: SessionId, key: BlockKey, nowMs: number): void {
    const member = this.#sessions.get(id)
    if (member !== undefined) this.#leaveWant(member, key, nowMs)
  }

  connectPeer(key: PeerKey, supportsHave: boolean, nowMs: number): void {
    const queue = this.#peers.known(key)
    queue.supportsHave = supportsHave
    if (queue.isConnected) return
    this.#peers.connect(queue)
    if (!queue.isUsable(nowMs)) return
    for (const member of this.#sessions.values()) {
      member.session.peerCame(queue)
      if (member.session.wants > 0) this.#awake.add(member)
    }
  }

  disconnectPeer(key: PeerKey, _nowMs: number): void {
    const queue = this.#peers.get(key)
    if (queue === undefined || !queue.isConnected) return
    this.#peers.disconnect(queue)
    this.#outbox.drop(queue)
    queue.pendingBytes = 0
    queue.timing.pause()
    this.#forsake(queue)
    this.#peers.forget()
  }

  providerFound(id: SessionId, key: PeerKey, nowMs: number): void {
    const member = this.#sessions.get(id)
    const queue = this.#peers.get(key)
    if (member === undefined || queue?.isUsable(nowMs) !== true) return
    member.session.providerFound(queue)
    this.#awake.add(member)
  }

  peerWants(key: PeerKey, block: BlockKey, _nowMs: number): void {
    const queue = this.#peers.get(key)
    if (queue?.isConnected !== true) return
    for (const { session } of this.#blocks.get(block)?.members ?? []) session.partnerFound(queue)
  }

  receiveBytes(key: PeerKey, bytes: number, nowMs: number): void {
    const queue = this.#peers.get(key)
    queue?.timing.sampleBytes(bytes, queue.inFlight > 0, nowMs)
  }

  receiveTalk(key: PeerKey, bytes: number): void {
    this.#peers.get(key)?.timing.discount(bytes)
  }

  receivePendingBytes(key: PeerKey, bytes: number, _nowMs: number): void {
    const queue = this.#peers.get(key)
    if (queue !== undefined) queue.pendingBytes = bytes
  }

  receiveBlock(key: PeerKey, block: BlockKey, bytes: number, nowMs: number): Arrival {
    const queue = this.#peers.known(key)
    const wanted = this.#blocks.get(block)
    if (wanted === undefined) return this.#unwanted(queue, block, bytes, nowMs)
    const copy = wanted.stances.get(key)
    if (copy?.phase === 'in-flight' || copy?.phase === 'have-asked') {
      if (copy.phase === 'in-flight') queue.timing.deliver(bytes, copy, nowMs)
      queue.timing.sampleLatency(nowMs - copy.sinceMs, copy.queuedBytes)
    }
    queue.sizeBlock(bytes)
    countBlock(this.#total, bytes)
    countBlock(queue.figures, bytes)
    const wasPromised = copy?.promised === true
    const members = [...wanted.members] as OpenSession[]
    this.#endBlock(wanted, key, nowMs)
    for (const member of members) {
      countBlock(member.figures, bytes)
      member.session.delivered(block, queue, bytes, wasPromised, nowMs)
      this.#awake.add(member)
    }
    return { kind: 'wanted', cid: wanted.cid, sessions: members.map(({ id }) => id) }
  }

  receivePresence(key: PeerKey, block: BlockKey, presence: 'have' | 'dont-have', nowMs: number): void {
    const queue = this.#peers.get(key)
    if (queue === undefined) return
    const wanted = this.#blocks.get(block)
    const copy = wanted?.stances.get(key)
    if (wanted === undefined || copy === undefined) {
      // An answer that comes after its block: the peer joins all the same.
      const member = presence === 'have' && queue.isUsable(nowMs) ? this.#pastSession(queue, block) : undefined
      if (member === undefined) return
      member.session.joined(queue)
      this.#awake.add(member)
      return
    }
    const wasAsked = copy.phase === 'have-asked' || copy.phase === 'in-flight'
    if (presence === 'have' && !this.#takeHave(copy, nowMs)) return
    if (presence === 'dont-have' && !this.#takeDontHave(copy, nowMs)) return
    for (const member of wanted.members as Set<OpenSession>) {
      if (presence === 'dont-have') member.figures.dontHaves += 1
      member.session.answered(block, queue, presence === 'have', wasAsked)
      this.#awake.add(member)
    }
    this.#lines.freed(queue)
  }

  putBlock(key: BlockKey, nowMs: number): void {
    const wanted = this.#blocks.get(key)
    if (wanted === undefined) return
    const members = [...wanted.members] as OpenSession[]
    this.#endBlock(wanted, undefined, nowMs)
    for (const member of members) {
      member.session.remove(key)
      this.#awake.add(member)
    }
  }

  receiveUnasked(key: PeerKey, nowMs: number): boolean {
    const queue = this.#peers.known(key)
    this.#total.unaskedBlocks += 1
    queue.figures.unaskedBlocks += 1
    if (!queue.suspect(nowMs)) return false
    for (const copy of queue.copies.values()) this.#outbox.cancel(copy, nowMs)
    this.#forsake(queue)
    return true
  }

  standingAt(key: PeerKey): Standing[] {
    return this.#peers.get(key)?.standings() ?? []
  }

  decide(nowMs: number): Command[] {
    let left = this.#limits.decisionsMax
    for (; left > 0; left--) {
      const member = firstOf(this.#awake)
      if (member !== undefined) {
        this.#awake.delete(member)
        this.#turn(member, nowMs)
        continue
      }
      // Nobody is awake: what space there is goes to those in line, one want each.
      const next = this.#lines.next()
      if (next === undefined) break
      this.#turn(next as OpenSession, nowMs)
      this.#lines.endTurn()
    }
    this.#hasMore = left === 0
    this.#outbox.releaseAll(!this.#hasMore, nowMs)
    return this.#commands.splice(0)
  }

  tick(nowMs: number): Command[] {
    for (const copy of this.#deadlines.due(nowMs)) this.#expire(copy, nowMs)
    if (nowMs >= this.#sessionsLookMs) {
      this.#sessionsLookMs = Number.POSITIVE_INFINITY
      for (const member of this.#sessions.values()) {
        for (const { want, quietMs } of member.session.tick(nowMs)) {
          this.#commands.push({ type: 'give-up', key: want.block.key, reason: whyQuiet(want.block, quietMs, this.#peers.connected, nowMs) })
        }
        this.#sessionsLookMs = Math.min(this.#sessionsLookMs, member.session.nextLookMs)
        if (member.session.wants > 0) this.#awake.add(member)
      }
    }
    return this.decide(nowMs)
  }

  wakeAtMs(): number | undefined {
    if (this.#awake.size > 0 || this.#hasMore) return 0
    const soonest = Math.min(this.#deadlines.nextMs, this.#sessionsLookMs, this.#outbox.dueMs)
    return soonest === Number.POSITIVE_INFINITY ? undefined : soonest
  }

  session(id: SessionId): SessionFigures | undefined {
    const member = this.#sessions.get(id)
    if (member === undefined) return undefined
    const { potential, wants, inFlight, knownPeers } = member.session
    return { potential, wants, inFlight, knownPeers, figures: { ...member.figures } }
  }

  queues(): readonly QueueFigures[] {
    return Array.from(this.#peers.all(), (queue) => queue.stat())
  }

  gauges(): Gauges {
    let records = this.#lines.size + this.#outbox.size
    for (const queue of this.#peers.all()) records += queue.copies.size + queue.outbox.size
    for (const { session } of this.#sessions.values()) records += session.records
    return {
      peers: this.#peers.size,
      sessions: this.#sessions.size,
      wants: this.#blocks.size,
      inFlight: this.#inFlight.wants,
      inFlightBytes: this.#inFlight.bytes,
      haves: this.#inFlight.haves,
      records
    }
  }

  /** One session's turn: one answer of it, carried out (B24). */
  #turn(member: OpenSession, nowMs: number): void {
    const decision: Decision | undefined = member.session.decide(nowMs)
    if (decision === undefined) return
    if (decision.kind === 'search') this.#commands.push({ type: 'find-providers', session: member.id, cid: decision.cid })
    if (decision.kind === 'ask') {
      const wanted = this.#blocks.get(decision.want.block.key)
      assert(wanted !== undefined, 'a session sends only what it wants')
      for (const { peer, type } of decision.asks) this.#ask(member, wanted, peer as PeerQueue, type, nowMs)
      for (const { session } of wanted.members) session.changed(wanted.key)
    }
    this.#awake.add(member)
  }

  #ask(member: OpenSession, wanted: Wanted, queue: PeerQueue, type: 'want-block' | 'want-have', nowMs: number): void {
    const copy = wanted.stances.get(queue.key) ?? newCopy(wanted, queue)
    assert(copy.phase !== 'in-flight' && queue.isConnected, 'no want is sent twice to a peer, nor to one that is gone')
    const figures = [this.#total, queue.figures, member.figures]
    const bytes = member.session.sizes.expected(wanted.cid)
    if (type === 'want-block') {
      this.#recall(wanted, queue, nowMs)
      const deadlineMs = nowMs + queue.timing.timeoutMs(queue.inFlightBytes + bytes)
      moveCopy(copy, { phase: 'in-flight', bytes, owner: member, deadlineMs }, this.#inFlight, nowMs)
      for (const counters of figures) counters.wantBlocksSent += 1
    } else {
      moveCopy(copy, { phase: 'have-asked', deadlineMs: nowMs + queue.timing.timeoutMs(queue.inFlightBytes) }, this.#inFlight, nowMs)
      for (const counters of figures) counters.wantHavesSent += 1
    }
    this.#deadlines.watch(copy, nowMs)
    this.#outbox.ask(queue, type, wanted, nowMs)
    if (type === 'want-block' && !queue.fits(bytes)) this.#outbox.release(queue)
  }

  /** Before another peer is asked for a block, those who denied it and would send it later are told not to. */
  #recall(wanted: Wanted, but: PeerQueue, nowMs: number): void {
    for (const copy of wanted.stances.values()) {
      if (!isStanding(copy) || copy.remote !== 'block' || copy.peer === but) continue
      this.#outbox.cancel(copy, nowMs)
      clearRemote(copy)
    }
  }

  /** A peer said HAVE. Returns whether that changes anything. */
  #takeHave(copy: Copy, nowMs: number): boolean {
    if (copy.phase === 'in-flight' || copy.phase === 'have') {
      copy.promised = true
      return false
    }
    // After a timeout of the block itself the peer rests for it, whatever it says (B20).
    if (copy.phase === 'timed-out' && copy.failed) return false
    if (copy.phase === 'have-asked') copy.peer.timing.sampleLatency(nowMs - copy.sinceMs, copy.queuedBytes)
    moveCopy(copy, { phase: 'have' }, this.#inFlight, nowMs)
    return true
  }

  /** A peer said DONT_HAVE. Returns whether that changes anything. */
  #takeDontHave(copy: Copy, nowMs: number): boolean {
    const { phase, peer } = copy
    if (phase === 'timed-out' || phase === 'dont-have') return false
    if (phase !== 'have') peer.timing.sampleLatency(nowMs - copy.sinceMs, copy.queuedBytes)
    for (const counters of [this.#total, peer.figures]) counters.dontHaves += 1
    // What was promised, asked for and then denied is not believed again for a while: a peer that takes turns would keep the want.
    if (phase === 'in-flight' && copy.promised) {
      this.#outbox.cancel(copy, nowMs)
      copy.promised = false
      this.#fail(copy, nowMs)
      return true
    }
    if (!peer.mayKeepDenied) {
      this.#outbox.cancel(copy, nowMs)
      clearRemote(copy)
    }
    copy.promised = false
    moveCopy(copy, { phase: 'dont-have' }, this.#inFlight, nowMs)
    return true
  }

  /** A want-block had its time, or its promise was broken. */
  #fail(copy: Copy, nowMs: number): void {
    const { peer, wanted } = copy
    ;(copy.owner as OpenSession).session.timedOut(wanted.key, peer.key, copy.sinceMs, nowMs)
    copy.failed = true
    moveCopy(copy, { phase: 'timed-out', restMs: this.#restMs(peer) }, this.#inFlight, nowMs)
  }

  /** T of B20: five times the peer's smoothed latency. */
  #restMs(queue: PeerQueue): number {
    return 5 * (queue.timing.latencyMs ?? this.#limits.timeoutStartMs)
  }

  /** The deadline of a want-block or want-have is to be looked at. */
  #expire(copy: Copy, nowMs: number): void {
    const { wanted, peer, phase } = copy
    const isLate = nowMs >= copy.deadlineMs || peer.timing.isQuiet(copy.sinceMs, nowMs)
    if (!isLate || (phase === 'in-flight' && peer.timing.isStillArriving(copy.sequence, copy.sinceMs, nowMs))) {
      this.#deadlines.again(copy, nowMs)
      return
    }
    if (phase === 'in-flight') {
      const owner = copy.owner as OpenSession
      for (const counters of [this.#total, peer.figures, owner.figures]) counters.timeouts += 1
      this.#commands.push({ type: 'timed-out', peer: peer.key, cid: wanted.cid, key: wanted.key })
      this.#outbox.cancel(copy, nowMs)
      this.#fail(copy, nowMs)
    } else {
      this.#outbox.cancel(copy, nowMs)
      // Who does not even say whether it has a block is asked again later each time, however quick it once was.
      const restMs = Math.max(this.#restMs(peer), unansweredRestMs(this.#limits.timeoutStartMs, copy.unanswered++))
      moveCopy(copy, { phase: 'timed-out', restMs }, this.#inFlight, nowMs)
    }
    for (const member of wanted.members as Set<OpenSession>) {
      member.session.changed(wanted.key)
      this.#awake.add(member)
    }
    this.#lines.freed(peer)
  }

  /** A session no longer wants a block; the last to go cancels it everywhere. */
  #leaveWant(member: OpenSession, key: BlockKey, nowMs: number): void {
    const wanted = this.#blocks.get(key)
    if (wanted === undefined || !wanted.members.delete(member)) return
    const heir = firstOf(wanted.members as Set<OpenSession>)
    if (heir === undefined) this.#endBlock(wanted, undefined, nowMs)
    else {
      for (const copy of wanted.stances.values()) {
        if (copy.phase !== 'in-flight' || copy.owner !== member) continue
        copy.owner = heir
        member.session.freedBlock(copy.peer.key)
        heir.session.sentBlock(copy.peer)
      }
    }
    member.session.remove(key)
    this.#awake.add(member)
  }

  /** Nobody wants the block any more: CANCEL to all who keep the want, but the one who delivered it. */
  #endBlock(wanted: Wanted, deliveredBy: PeerKey | undefined, nowMs: number): void {
    for (const copy of wanted.stances.values()) {
      if (copy.peer.key !== deliveredBy) this.#outbox.cancel(copy, nowMs)
      if (copy.phase === 'have-asked') for (const { session } of wanted.members) session.unheard(copy.peer.key, nowMs)
      dropCopy(copy, this.#inFlight)
      this.#lines.freed(copy.peer)
    }
    this.#blocks.delete(wanted.key)
    this.#deadlines.trim(this.#inFlight.wants + this.#inFlight.haves)
  }

  /** A peer is gone, or gets no more wants: its copies end, and sessions look for others. */
  #forsake(queue: PeerQueue): void {
    for (const copy of queue.copies.values()) {
      dropCopy(copy, this.#inFlight)
      for (const { session } of copy.wanted.members) session.changed(copy.wanted.key)
    }
    this.#lines.close(queue)
    for (const member of this.#sessions.values()) {
      member.session.peerLeft(queue.key)
      if (member.session.wants > 0) this.#awake.add(member)
    }
    this.#lines.freed(queue)
  }

  #unwanted(queue: PeerQueue, block: BlockKey, bytes: number, nowMs: number): Arrival {
    const past = queue.past.get(block)
    if (past === undefined) return { kind: 'unasked', shutOut: this.receiveUnasked(queue.key, nowMs) }
    const member = this.#pastSession(queue, block)
    for (const counters of [this.#total, queue.figures, ...(member === undefined ? [] : [member.figures])]) {
      counters.duplicateBlocks += 1
      counters.duplicateBytes += bytes
    }
    if (member !== undefined && queue.isUsable(nowMs)) {
      // Small blocks come in place of a HAVE from all who have them: each of them is a provider.
      member.session.duplicated(queue)
      this.#awake.add(member)
    }
    return { kind: 'duplicate', isAgain: queue.past.repeat(block) }
  }

  /** The session that once asked the peer for this block, if it is still open. */
  #pastSession(queue: PeerQueue, block: BlockKey): OpenSession | undefined {
    const id = queue.past.get(block)?.session
    return id === undefined ? undefined : this.#sessions.get(id)
  }
}
