import { assert, type BlockKey, type CID, type PeerKey, type Random } from '@shardswap/interface'
import type { BlockView, Decision, Session, SessionOptions } from '@shardswap/session'
import { type Copy, type Member, Wanted } from './blocks.ts'
import { clearRemote, dropCopy, type InFlight, moveCopy, newCopy } from './copies.ts'
import { type Counters, newCounters } from './counters.ts'
import { Deadlines } from './deadlines.ts'
import type { BrokerLimits } from './limits.ts'
import { Lines } from './lines.ts'
import { PeerQueue } from './queue.ts'
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

const unaskedWindowMs = 10 * 60 * 1000

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
  readonly #queues = new Map<PeerKey, PeerQueue>()
  readonly #connected: PeerQueue[] = []
  readonly #sessions = new Map<SessionId, OpenSession>()
  readonly #blocks = new Map<BlockKey, Wanted>()
  readonly #deadlines = new Deadlines()
  readonly #lines: Lines
  /** Sessions that may have something to send, in the order of their turns. */
  readonly #awake = new Set<OpenSession>()
  /** Queues with lines for a message. */
  readonly #outgoing = new Set<PeerQueue>()
  readonly #commands: Command[] = []
  #sessionsLookMs = Number.POSITIVE_INFINITY

  constructor(options: BrokerOptions) {
    this.#limits = options.limits
    this.#random = options.random
    this.#makeSession = options.openSession
    this.#lines = new Lines(options.limits, this.#inFlight)
  }

  get total(): Figures {
    return this.#total
  }

  openSession(id: SessionId, init: SessionInit, nowMs: number): void {
    assert(!this.#sessions.has(id), 'a session is opened once')
    let member: OpenSession | undefined
    const ports: SessionOptions['ports'] = {
      peers: this.#connected,
      hasSpace: (peer, bytes) => member !== undefined && this.#lines.hasSpace(member, peer as PeerQueue, bytes),
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
    for (const key of [...member.session.keys()]) this.#leaveWant(member, key, nowMs)
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

  connectPeer(key: PeerKey, supportsHave: boolean, _nowMs: number): void {
    const queue = this.#queue(key)
    queue.supportsHave = supportsHave
    if (queue.isConnected) return
    queue.isConnected = true
    queue.index = this.#connected.length
    this.#connected.push(queue)
    for (const member of this.#sessions.values()) {
      member.session.peerCame(queue)
      if (member.session.wants > 0) this.#awake.add(member)
    }
  }

  disconnectPeer(key: PeerKey, nowMs: number): void {
    const queue = this.#queues.get(key)
    if (queue === undefined || !queue.isConnected) return
    queue.isConnected = false
    const last = this.#connected.pop() as PeerQueue
    if (last !== queue) {
      this.#connected[queue.index] = last
      last.index = queue.index
    }
    queue.outbox.clear()
    queue.pendingBytes = 0
    queue.timing.pause()
    this.#forsake(queue, nowMs)
    this.#forgetPeers()
  }

  providerFound(id: SessionId, key: PeerKey, _nowMs: number): void {
    const member = this.#sessions.get(id)
    const queue = this.#queues.get(key)
    if (member === undefined || queue?.isConnected !== true) return
    member.session.providerFound(queue)
    this.#awake.add(member)
  }

  peerWants(key: PeerKey, block: BlockKey, _nowMs: number): void {
    const queue = this.#queues.get(key)
    if (queue?.isConnected !== true) return
    for (const { session } of this.#blocks.get(block)?.members ?? []) session.partnerFound(queue)
  }

  receiveBytes(key: PeerKey, bytes: number, nowMs: number): void {
    const queue = this.#queues.get(key)
    queue?.timing.sampleBytes(bytes, queue.inFlight > 0, nowMs)
  }

  receiveTalk(key: PeerKey, bytes: number): void {
    this.#queues.get(key)?.timing.discount(bytes)
  }

  receivePendingBytes(key: PeerKey, bytes: number, _nowMs: number): void {
    const queue = this.#queues.get(key)
    if (queue !== undefined) queue.pendingBytes = bytes
  }

  receiveBlock(key: PeerKey, block: BlockKey, bytes: number, nowMs: number): Arrival {
    const queue = this.#queue(key)
    const wanted = this.#blocks.get(block)
    if (wanted === undefined) return this.#unwanted(queue, block, bytes, nowMs)
    const copy = wanted.stances.get(key)
    if (copy?.phase === 'in-flight' || copy?.phase === 'have-asked') {
      queue.timing.sampleLatency(nowMs - copy.sinceMs)
      if (copy.phase === 'in-flight') queue.timing.deliveredSequence = Math.max(queue.timing.deliveredSequence, copy.sequence)
    }
    queue.sizeBlock(bytes)
    count(this.#total, bytes)
    count(queue.figures, bytes)
    const wasPromised = copy?.promised === true
    const members = [...wanted.members] as OpenSession[]
    this.#endBlock(wanted, key, nowMs)
    for (const member of members) {
      count(member.figures, bytes)
      member.session.delivered(block, queue, bytes, wasPromised, nowMs)
      this.#awake.add(member)
    }
    return { kind: 'wanted', cid: wanted.cid, sessions: members.map(({ id }) => id) }
  }

  receivePresence(key: PeerKey, block: BlockKey, presence: 'have' | 'dont-have', nowMs: number): void {
    const queue = this.#queues.get(key)
    if (queue === undefined) return
    const wanted = this.#blocks.get(block)
    const copy = wanted?.stances.get(key)
    if (wanted === undefined || copy === undefined) {
      // An answer that comes after its block: the peer joins all the same.
      if (presence === 'have') this.#pastSession(queue, block)?.session.joined(queue)
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
    const queue = this.#queue(key)
    this.#total.unaskedBlocks += 1
    queue.figures.unaskedBlocks += 1
    if (queue.shutOutUntilMs > nowMs) return false
    queue.unaskedAtMs = queue.unaskedAtMs.filter((atMs) => nowMs - atMs < unaskedWindowMs)
    queue.unaskedAtMs.push(nowMs)
    if (queue.unaskedAtMs.length < this.#limits.unaskedBlocksMax) return false
    queue.unaskedAtMs = []
    queue.shutOutUntilMs = nowMs + this.#limits.shutOutMs
    for (const copy of queue.copies.values()) this.#cancel(copy, nowMs)
    this.#forsake(queue, nowMs)
    return true
  }

  standingAt(key: PeerKey): Standing[] {
    const standing: Standing[] = []
    for (const { remote, wanted } of this.#queues.get(key)?.copies.values() ?? []) {
      if (remote !== undefined) standing.push({ cid: wanted.cid, key: wanted.key, wantType: remote })
    }
    return standing
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
    this.#releaseAll(left > 0, nowMs)
    return this.#commands.splice(0)
  }

  tick(nowMs: number): Command[] {
    for (const copy of this.#deadlines.due(nowMs)) this.#expire(copy, nowMs)
    if (nowMs >= this.#sessionsLookMs) {
      this.#sessionsLookMs = Number.POSITIVE_INFINITY
      for (const member of this.#sessions.values()) {
        for (const { want, quietMs } of member.session.tick(nowMs)) {
          this.#commands.push({ type: 'give-up', key: want.block.key, reason: this.#whyQuiet(want.block, quietMs, nowMs) })
        }
        this.#sessionsLookMs = Math.min(this.#sessionsLookMs, member.session.nextLookMs)
        if (member.session.wants > 0) this.#awake.add(member)
      }
    }
    return this.decide(nowMs)
  }

  wakeAtMs(): number | undefined {
    if (this.#awake.size > 0) return 0
    let soonest = Math.min(this.#deadlines.nextMs, this.#sessionsLookMs)
    for (const { outboxSinceMs } of this.#outgoing) soonest = Math.min(soonest, outboxSinceMs + this.#limits.holdMs)
    return soonest === Number.POSITIVE_INFINITY ? undefined : soonest
  }

  session(id: SessionId): SessionFigures | undefined {
    const member = this.#sessions.get(id)
    if (member === undefined) return undefined
    const { potential, wants, inFlight } = member.session
    return { potential, wants, inFlight, figures: { ...member.figures } }
  }

  queues(): readonly QueueFigures[] {
    return [...this.#queues.values()].map((queue) => queue.stat())
  }

  gauges(): Gauges {
    let records = this.#lines.size + this.#outgoing.size
    for (const queue of this.#queues.values()) {
      records += queue.copies.size + queue.outbox.size
    }
    for (const { session } of this.#sessions.values()) records += session.records
    return {
      peers: this.#queues.size,
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
    if (type === 'want-block') {
      this.#recall(wanted, queue, nowMs)
      const bytes = member.session.averageBytes
      const deadlineMs = nowMs + queue.timing.timeoutMs(queue.inFlightBytes + bytes)
      moveCopy(copy, { phase: 'in-flight', bytes, owner: member, deadlineMs }, this.#inFlight, nowMs)
      for (const counters of figures) counters.wantBlocksSent += 1
    } else {
      moveCopy(copy, { phase: 'have-asked', deadlineMs: nowMs + queue.timing.timeoutMs(queue.inFlightBytes) }, this.#inFlight, nowMs)
      for (const counters of figures) counters.wantHavesSent += 1
    }
    this.#deadlines.watch(copy, this.#limits.timeoutMaxMs, nowMs)
    // A cancel and a want of one block are two messages: within one, the cancel would win.
    if (queue.outbox.get(wanted.key)?.type === 'cancel') this.#release(queue)
    queue.put(type, wanted.cid, wanted.key, nowMs)
    this.#outgoing.add(queue)
    if (type === 'want-block' && !queue.fits(member.session.averageBytes)) this.#release(queue)
  }

  /** Before another peer is asked for a block, those who denied it and would send it later are told not to. */
  #recall(wanted: Wanted, but: PeerQueue, nowMs: number): void {
    for (const copy of wanted.stances.values()) {
      if (copy.phase !== 'dont-have' || copy.remote !== 'block' || copy.peer === but) continue
      this.#cancel(copy, nowMs)
      clearRemote(copy)
    }
  }

  /** Puts a cancel into the peer's message where the remote keeps the want; one that never left is only taken back. */
  #cancel(copy: Copy, nowMs: number): void {
    const { peer, wanted } = copy
    if (copy.remote === undefined) return
    const unsent = peer.outbox.get(wanted.key)
    if (unsent !== undefined && unsent.type !== 'cancel') peer.outbox.delete(wanted.key)
    if (copy.isReleased && peer.isConnected) peer.put('cancel', wanted.cid, wanted.key, nowMs)
    if (peer.outbox.size > 0) this.#outgoing.add(peer)
    else this.#outgoing.delete(peer)
  }

  /** B25: messages leave that are settled, since no session has a want for their peer now, or have waited long enough. */
  #releaseAll(isSettled: boolean, nowMs: number): void {
    for (const queue of this.#outgoing) {
      if (isSettled || queue.outbox.size === 1 || nowMs - queue.outboxSinceMs >= this.#limits.holdMs) this.#release(queue)
    }
  }

  #release(queue: PeerQueue): void {
    this.#outgoing.delete(queue)
    if (queue.outbox.size === 0) return
    const entries = [...queue.outbox.values()]
    queue.outbox.clear()
    for (const { type, key } of entries) {
      const copy = type === 'cancel' ? undefined : queue.copies.get(key)
      if (copy !== undefined) copy.isReleased = true
    }
    this.#commands.push({ type: 'send', peer: queue.key, entries })
  }

  /** A peer said HAVE. Returns whether that changes anything. */
  #takeHave(copy: Copy, nowMs: number): boolean {
    if (copy.phase === 'in-flight' || copy.phase === 'have') {
      copy.promised = true
      return false
    }
    // After a timeout of the block itself the peer rests for it, whatever it says (B20).
    if (copy.phase === 'timed-out' && copy.failed) return false
    if (copy.phase === 'have-asked') copy.peer.timing.sampleLatency(nowMs - copy.sinceMs)
    moveCopy(copy, { phase: 'have' }, this.#inFlight, nowMs)
    return true
  }

  /** A peer said DONT_HAVE. Returns whether that changes anything. */
  #takeDontHave(copy: Copy, nowMs: number): boolean {
    const { phase, peer } = copy
    if (phase === 'timed-out' || phase === 'dont-have') return false
    if (phase !== 'have') peer.timing.sampleLatency(nowMs - copy.sinceMs)
    for (const counters of [this.#total, peer.figures]) counters.dontHaves += 1
    // What was promised, asked for and then denied is not believed again for a while: a peer that takes turns would keep the want.
    const isBroken = phase === 'in-flight' && copy.promised
    if (!isBroken && peer.standing < this.#limits.standingWantsMax) {
      moveCopy(copy, { phase: 'dont-have' }, this.#inFlight, nowMs)
      return true
    }
    this.#cancel(copy, nowMs)
    copy.failed = isBroken
    copy.promised = false
    moveCopy(copy, { phase: 'timed-out', restMs: this.#restMs(peer) }, this.#inFlight, nowMs)
    return true
  }

  /** T of B20: five times the peer's smoothed latency. */
  #restMs(queue: PeerQueue): number {
    return 5 * (queue.timing.latencyMs ?? this.#limits.timeoutStartMs)
  }

  /** The deadline of a want-block or want-have is to be looked at. */
  #expire(copy: Copy, nowMs: number): void {
    const { wanted, peer, phase } = copy
    const isLate = nowMs >= copy.deadlineMs || peer.timing.isQuiet(copy.sinceMs, nowMs)
    if (!isLate || (phase === 'in-flight' && peer.timing.isStillArriving(copy.sequence, nowMs))) {
      this.#deadlines.again(copy, this.#limits, nowMs)
      return
    }
    if (phase === 'in-flight') {
      const owner = copy.owner as OpenSession
      for (const counters of [this.#total, peer.figures, owner.figures]) counters.timeouts += 1
      owner.session.timedOut(peer.key)
      copy.failed = true
      this.#commands.push({ type: 'timed-out', peer: peer.key, cid: wanted.cid, key: wanted.key })
    }
    this.#cancel(copy, nowMs)
    moveCopy(copy, { phase: 'timed-out', restMs: this.#restMs(peer) }, this.#inFlight, nowMs)
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
      if (copy.peer.key !== deliveredBy) this.#cancel(copy, nowMs)
      dropCopy(copy, this.#inFlight)
      this.#lines.freed(copy.peer)
    }
    this.#blocks.delete(wanted.key)
    this.#deadlines.trim(this.#inFlight.wants + this.#inFlight.haves)
  }

  /** A peer is gone, or gets no more wants: its copies end, and sessions look for others. */
  #forsake(queue: PeerQueue, _nowMs: number): void {
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
    // Small blocks come in place of a HAVE from all who have them: each of them is a provider.
    member?.session.duplicated(queue)
    return { kind: 'duplicate', isAgain: queue.past.repeat(block) }
  }

  /** The session that once asked the peer for this block, if it is still open. */
  #pastSession(queue: PeerQueue, block: BlockKey): OpenSession | undefined {
    const id = queue.past.get(block)?.session
    return id === undefined ? undefined : this.#sessions.get(id)
  }

  /** Says why a want got nowhere: who was asked, and what became of it. */
  #whyQuiet(block: BlockView, quietMs: number, nowMs: number): string {
    const shutOut = this.#connected.filter((queue) => queue.shutOutUntilMs > nowMs).length
    let refused = 0
    let silent = 0
    for (const { phase } of block.stances.values()) {
      if (phase === 'dont-have') refused += 1
      else silent += 1
    }
    const parts = [`${this.#connected.length} connected`, `${refused} said DONT_HAVE`, `${silent} did not deliver`]
    if (shutOut > 0) parts.push(`${shutOut} shut out for blocks that match no want`)
    return `no block for ${Math.round(quietMs / 1000)} s; peers: ${parts.join(', ')}`
  }

  #queue(key: PeerKey): PeerQueue {
    let queue = this.#queues.get(key)
    if (queue === undefined) {
      queue = new PeerQueue(key, this.#limits)
      this.#queues.set(key, queue)
    }
    return queue
  }

  /** Oldest first, those that are not connected leave when there are too many. */
  #forgetPeers(): void {
    let excess = this.#queues.size - this.#connected.length - this.#limits.peersRememberedMax
    for (const queue of this.#queues.values()) {
      if (excess <= 0) return
      if (queue.isConnected) continue
      this.#queues.delete(queue.key)
      excess -= 1
    }
  }
}

function count(counters: Counters, bytes: number): void {
  counters.blocks += 1
  counters.bytes += bytes
}

function firstOf<T>(set: ReadonlySet<T>): T | undefined {
  for (const value of set) return value
  return undefined
}
