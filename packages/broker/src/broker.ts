import { assert, type BlockKey, type CID, type PeerKey, type Random } from '@shardswap/interface'
import type { BackupReason, Outcome, ReliabilityCore } from '@shardswap/reliability'
import type { SessionOptions } from '@shardswap/session'
import { Answers } from './answers.ts'
import { Asking } from './asking.ts'
import { Backups } from './backups.ts'
import { type Copy, firstOf, type Member, Wanted } from './blocks.ts'
import { Conduct } from './conduct.ts'
import { dropCopy, type InFlight, moveCopy } from './copies.ts'
import { countBlock, countDuplicate, type Counters, figuresOf, gaugesOf, newCounters, recordsOf } from './counters.ts'
import { Deadlines, unansweredRestMs } from './deadlines.ts'
import { Hearing } from './hearing.ts'
import { indifferent } from './indifferent.ts'
import type { BrokerLimits } from './limits.ts'
import { Lines } from './lines.ts'
import type { BrokerOptions } from './options.ts'
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
  readonly #inFlight: InFlight = { wants: 0, bytes: 0, backups: 0, haves: 0 }
  readonly #reliability: ReliabilityCore
  readonly #hearing = new Hearing()
  readonly #conduct: Conduct
  readonly #backups: Backups
  readonly #asking: Asking
  readonly #answers: Answers
  readonly #peers: Peers
  readonly #sessions = new Map<SessionId, Member>()
  readonly #blocks = new Map<BlockKey, Wanted>()
  readonly #deadlines: Deadlines
  readonly #lines: Lines
  /** Sessions that may have something to send, in the order of their turns. */
  readonly #awake = new Set<Member>()
  readonly #outbox: Outbox
  readonly #commands: Command[] = []
  #sessionsLookMs = Number.POSITIVE_INFINITY
  /** The last `decide` ended before all had their turns. */
  #hasMore = false

  constructor(options: BrokerOptions) {
    this.#limits = options.limits
    this.#random = options.random
    this.#makeSession = options.openSession
    this.#reliability = options.reliability ?? indifferent
    this.#peers = new Peers(options.limits)
    this.#conduct = new Conduct(this.#reliability, () => this.#sessions.values(), this.#peers, this.#hearing)
    const backupsMax = options.backups === false ? 0 : options.limits.backupsInFlightMax
    this.#backups = new Backups(this.#reliability, backupsMax, this.#inFlight, this.#hearing)
    this.#deadlines = new Deadlines(options.limits.timeoutMaxMs)
    this.#lines = new Lines(options.limits, this.#inFlight)
    this.#outbox = new Outbox(options.limits.holdMs, this.#commands)
    const [total, inFlight, deadlines, outbox] = [this.#total, this.#inFlight, this.#deadlines, this.#outbox]
    const parts = { limits: options.limits, total, inFlight, deadlines, outbox, reliability: this.#reliability, conduct: this.#conduct }
    this.#asking = new Asking(parts)
    this.#answers = new Answers(parts)
  }

  get total(): Figures {
    return this.#total
  }

  openSession(id: SessionId, init: SessionInit, nowMs: number): void {
    assert(!this.#sessions.has(id), 'a session is opened once')
    let member: Member | undefined
    const ports: SessionOptions['ports'] = {
      peers: this.#peers.connected,
      vetted: this.#peers.vetted,
      hasSpace: (peer, bytes, besides) => member !== undefined && this.#lines.hasSpace(member, peer as PeerQueue, bytes, besides),
      lineUp: (peer) => {
        if (member !== undefined) this.#lines.join(member, peer as PeerQueue)
      },
      mayPickNewcomer: () => this.#reliability.mayPickNewcomer(),
      wakeBy: (atMs) => void (this.#sessionsLookMs = Math.min(this.#sessionsLookMs, atMs))
    }
    const session = this.#makeSession({ ports, fixedPeers: init.fixedPeers, nowMs, random: this.#random })
    member = { id, session, figures: newCounters() }
    this.#sessions.set(id, member)
  }

  closeSession(id: SessionId, nowMs: number): void {
    const member = this.#sessions.get(id)
    if (member === undefined) return
    for (const key of Array.from(member.session.keys())) this.#leaveWant(member, key, nowMs)
    this.#backups.orphan(member)
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
    this.#backups.adopt(wanted, member)
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
    this.#conduct.meet(queue, nowMs)
    if (!queue.isUsable(nowMs)) return
    for (const member of this.#sessions.values()) {
      member.session.peerCame(queue)
      if (member.session.wants > 0) this.#awake.add(member)
    }
  }

  disconnectPeer(key: PeerKey, nowMs: number): void {
    const queue = this.#peers.get(key)
    if (queue === undefined || !queue.isConnected) return
    this.#peers.disconnect(queue)
    this.#outbox.drop(queue)
    queue.pendingBytes = 0
    queue.timing.pause()
    this.#forsake(queue, 'reset', nowMs)
    this.#reliability.peerDisconnected(key, nowMs)
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
    queue?.timing.sampleBytes(bytes, queue.blocksAsked > 0, nowMs)
  }

  receiveTalk(key: PeerKey, bytes: number): void {
    this.#peers.get(key)?.timing.discount(bytes)
  }

  receivePendingBytes(key: PeerKey, bytes: number, _nowMs: number): void {
    const queue = this.#peers.get(key)
    if (queue !== undefined) queue.pendingBytes = bytes
  }

  receiveBusy(key: PeerKey, forMs: number, nowMs: number): void {
    const queue = this.#peers.get(key)
    if (queue?.isConnected === true) this.#peers.busy(queue, nowMs + forMs)
  }

  receiveBlock(key: PeerKey, block: BlockKey, bytes: number, nowMs: number): Arrival {
    const queue = this.#peers.known(key)
    const wanted = this.#blocks.get(block)
    if (wanted === undefined) return this.#unwanted(queue, block, bytes, nowMs)
    const copy = wanted.stances.get(key)
    // Of what came from a backup, its primary alone is still to answer for.
    if (wanted.members.size === 0 && copy?.phase !== 'in-flight') return this.#unwanted(queue, block, bytes, nowMs)
    const wasBackup = copy?.phase === 'in-flight' && copy.role === 'backup'
    const wasPromised = copy?.promised === true
    if (copy?.phase === 'in-flight' || copy?.phase === 'have-asked') {
      if (copy.phase === 'in-flight') queue.timing.deliver(bytes, copy, nowMs)
      queue.timing.sampleLatency(nowMs - copy.sinceMs, copy.queuedBytes)
      this.#conduct.settle(copy, 'success', nowMs, bytes)
    }
    queue.sizeBlock(bytes)
    if (wanted.members.size === 0) return this.#completed(copy as Copy, bytes, nowMs)
    countBlock(this.#total, bytes)
    countBlock(queue.figures, bytes)
    const members = [...wanted.members]
    this.#endBlock(wanted, key, nowMs)
    for (const member of members) {
      countBlock(member.figures, bytes)
      member.session.arrived(block, bytes, nowMs)
      if (!wasBackup) member.session.completed(queue, wasPromised, nowMs)
      this.#awake.add(member)
    }
    return { kind: 'wanted', cid: wanted.cid, sessions: members.map(({ id }) => id) }
  }

  /** A primary delivered in time what its backup had brought before: it has the credit (P6), and its copy was one too many. */
  #completed({ wanted, peer, owner, promised }: Copy, bytes: number, nowMs: number): Arrival {
    this.#endBlock(wanted, peer.key, nowMs)
    owner?.session.completed(peer, promised, nowMs)
    if (owner !== undefined) this.#awake.add(owner)
    this.#countDuplicate(peer, owner, bytes)
    return { kind: 'duplicate', isAgain: false }
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
    this.#peers.endBusy(nowMs)
    const wasAsked = (copy.phase === 'have-asked' || copy.phase === 'in-flight') && (presence === 'have' || !queue.isBusy)
    if (presence === 'have' && !this.#answers.takeHave(copy, nowMs)) return
    if (presence === 'dont-have' && !this.#answers.takeDontHave(copy, nowMs)) return
    for (const member of wanted.members) {
      if (presence === 'dont-have') member.figures.dontHaves += 1
      member.session.answered(block, queue, presence === 'have', wasAsked)
      this.#awake.add(member)
    }
    this.#lines.freed(queue)
    this.#sweep(wanted, nowMs)
  }

  holdReading(isHeld: boolean, nowMs: number): void {
    if (isHeld) this.#hearing.hold(nowMs)
    else this.#deadlines.standStill(this.#peers.all(), this.#hearing.readOn(nowMs), nowMs)
  }

  putBlock(key: BlockKey, nowMs: number): void {
    const wanted = this.#blocks.get(key)
    if (wanted === undefined) return
    const members = [...wanted.members]
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
    if (!this.#conduct.suspect(queue, nowMs)) return false
    for (const copy of queue.copies.values()) this.#outbox.cancel(copy, nowMs)
    this.#forsake(queue, 'withdrawn', nowMs)
    return true
  }

  standingAt(key: PeerKey): Standing[] {
    return this.#peers.get(key)?.standings() ?? []
  }

  decide(nowMs: number): Command[] {
    this.#hearing.wake(nowMs)
    this.#peers.endBusy(nowMs)
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
      this.#turn(next, nowMs)
      this.#lines.endTurn()
    }
    this.#hasMore = left === 0
    this.#outbox.releaseAll(!this.#hasMore, nowMs)
    return this.#commands.splice(0)
  }

  tick(nowMs: number): Command[] {
    if (this.#hearing.isHeld) return this.decide(nowMs)
    this.#hearing.wake(nowMs)
    for (const copy of this.#deadlines.due(nowMs)) this.#expire(copy, nowMs)
    if (nowMs >= this.#sessionsLookMs) {
      this.#sessionsLookMs = Number.POSITIVE_INFINITY
      for (const member of this.#sessions.values()) {
        for (const { want, quietMs } of member.session.tick(nowMs)) {
          this.#commands.push({ type: 'give-up', key: want.block.key, ...whyQuiet(want.block, quietMs, this.#peers.connected, nowMs) })
        }
        this.#sessionsLookMs = Math.min(this.#sessionsLookMs, member.session.nextLookMs)
        if (member.session.wants > 0) this.#awake.add(member)
      }
    }
    return this.decide(nowMs)
  }

  wakeAtMs(): number | undefined {
    if (this.#awake.size > 0 || this.#hasMore) return 0
    const times = this.#hearing.isHeld ? Number.POSITIVE_INFINITY : Math.min(this.#deadlines.nextMs, this.#sessionsLookMs)
    const soonest = Math.min(times, this.#outbox.dueMs)
    this.#hearing.expect(soonest)
    return soonest === Number.POSITIVE_INFINITY ? undefined : soonest
  }

  session(id: SessionId): SessionFigures | undefined {
    const member = this.#sessions.get(id)
    return member === undefined ? undefined : figuresOf(member)
  }

  queues(): readonly QueueFigures[] {
    return Array.from(this.#peers.all(), (queue) => queue.stat())
  }

  gauges(): Gauges {
    const records = this.#lines.size + this.#outbox.size + recordsOf(this.#peers.all(), this.#sessions.values())
    const wants = this.#blocks.size - this.#backups.graces
    return gaugesOf(this.#inFlight, { peers: this.#peers.size, sessions: this.#sessions.size, wants, records })
  }

  /** One session's turn: one answer of it, carried out (B24). */
  #turn(member: Member, nowMs: number): void {
    const decision = member.session.decide(nowMs)
    if (decision === undefined) {
      if (member.session.isEnding) this.#asking.hurry(member, this.#blocks, nowMs)
      return
    }
    if (decision.kind === 'search') this.#commands.push({ type: 'find-providers', session: member.id, cid: decision.cid })
    if (decision.kind === 'ask') {
      const wanted = this.#blocks.get(decision.want.block.key)
      assert(wanted !== undefined, 'a session sends only what it wants')
      const blockAsks = decision.asks.filter(({ type }) => type === 'want-block')
      const copies = blockAsks.map((ask) => this.#asking.ask(member, wanted, ask, 'primary', nowMs))
      for (const copy of copies) this.#backUp(copy, 'proactive', nowMs)
      for (const ask of decision.asks) {
        // Who is asked for the block itself need not be asked whether it has it.
        if (wanted.stances.get(ask.peer.key)?.phase !== 'in-flight') this.#asking.ask(member, wanted, ask, 'primary', nowMs)
      }
      for (const { session } of wanted.members) session.changed(wanted.key)
    }
    this.#awake.add(member)
  }

  /** A second peer is asked for what is in flight at a first one, where one is to be had and the budget lets (C5). */
  #backUp(copy: Copy, reason: BackupReason, nowMs: number): void {
    const peer = this.#backups.peerFor(copy, reason, nowMs)
    if (peer === undefined) return
    this.#asking.ask(copy.owner as Member, copy.wanted, { peer, type: 'want-block' }, 'backup', nowMs)
    for (const { session } of copy.wanted.members) session.changed(copy.wanted.key)
  }

  /** The deadline of a want-block or want-have is to be looked at. */
  #expire(copy: Copy, nowMs: number): void {
    const { wanted, peer, phase } = copy
    if (phase === 'in-flight') this.#answers.shorten(copy)
    const isLate = nowMs >= copy.deadlineMs || peer.timing.isQuiet(copy.sinceMs, nowMs)
    if (!isLate || (phase === 'in-flight' && peer.timing.isStillArriving(copy.sequence, copy.sinceMs, nowMs))) {
      if (this.#backups.isLate(copy, nowMs)) this.#backUp(copy, this.#backups.lateReason(copy), nowMs)
      this.#deadlines.again(copy, nowMs)
      return
    }
    if (phase === 'in-flight') {
      for (const counters of [this.#total, peer.figures, copy.owner?.figures]) if (counters !== undefined) counters.timeouts += 1
      this.#commands.push({ type: 'timed-out', peer: peer.key, cid: wanted.cid, key: wanted.key })
      this.#outbox.cancel(copy, nowMs)
      this.#answers.fail(copy, copy.promised ? 'silence' : 'timeout', nowMs)
      this.#answers.shortenAll(peer, nowMs)
    } else {
      this.#outbox.cancel(copy, nowMs)
      // Who does not even say whether it has a block is asked again later each time, however quick it once was.
      const restMs = Math.max(this.#answers.restMs(peer), unansweredRestMs(this.#limits.timeoutStartMs, copy.unanswered++))
      moveCopy(copy, { phase: 'timed-out', restMs }, this.#inFlight, nowMs)
    }
    for (const member of wanted.members) {
      member.session.changed(wanted.key)
      this.#awake.add(member)
    }
    this.#lines.freed(peer)
    this.#sweep(wanted, nowMs)
  }

  /** A session no longer wants a block; the last to go cancels it everywhere. */
  #leaveWant(member: Member, key: BlockKey, nowMs: number): void {
    const wanted = this.#blocks.get(key)
    if (wanted === undefined || !wanted.members.delete(member)) return
    const heir = firstOf(wanted.members)
    if (heir === undefined) this.#endBlock(wanted, undefined, nowMs)
    else {
      for (const copy of wanted.stances.values()) {
        if (copy.phase !== 'in-flight' || copy.owner !== member) continue
        this.#backups.hand(copy, heir)
      }
    }
    member.session.remove(key)
    this.#awake.add(member)
  }

  /**
   * Nobody wants the block any more: CANCEL to all who keep the want, but the one who delivered it. Where that was a
   * backup, a primary that has time left keeps it: it may earn its credit yet (P6).
   */
  #endBlock(wanted: Wanted, deliveredBy: PeerKey | undefined, nowMs: number): void {
    const kept = deliveredBy === undefined ? undefined : this.#backups.primaryOf(wanted, deliveredBy)
    for (const copy of wanted.stances.values()) {
      if (copy === kept) continue
      if (copy.peer.key !== deliveredBy) {
        this.#outbox.cancel(copy, nowMs)
        this.#conduct.settle(copy, 'withdrawn', nowMs)
      }
      if (copy.phase === 'have-asked') for (const { session } of wanted.members) session.unheard(copy.peer.key, nowMs)
      dropCopy(copy, this.#inFlight)
      this.#lines.freed(copy.peer)
    }
    this.#reliability.ended(wanted.key, nowMs)
    if (kept !== undefined) return this.#backups.keep(wanted)
    this.#backups.release(wanted)
    this.#blocks.delete(wanted.key)
    wanted.members.clear()
    this.#deadlines.trim(this.#inFlight.wants + this.#inFlight.haves)
  }

  /** A primary that was left its time after its backup had delivered did not use it. */
  #sweep(wanted: Wanted, nowMs: number): void {
    if (wanted.members.size === 0 && wanted.inFlight === 0) this.#endBlock(wanted, undefined, nowMs)
  }

  /** A peer is gone, or gets no more wants: its copies end, and sessions look for others. */
  #forsake(queue: PeerQueue, outcome: Outcome, nowMs: number): void {
    for (const copy of queue.copies.values()) {
      this.#conduct.settle(copy, copy.owner === undefined ? 'withdrawn' : outcome, nowMs)
      dropCopy(copy, this.#inFlight)
      for (const { session } of copy.wanted.members) session.changed(copy.wanted.key)
      this.#sweep(copy.wanted, nowMs)
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
    this.#countDuplicate(queue, member, bytes)
    if (member !== undefined && queue.isUsable(nowMs)) {
      // Small blocks come in place of a HAVE from all who have them: each of them is a provider.
      member.session.duplicated(queue)
      this.#awake.add(member)
    }
    return { kind: 'duplicate', isAgain: queue.past.repeat(block) }
  }

  #countDuplicate(queue: PeerQueue, member: Member | undefined, bytes: number): void {
    for (const counters of [this.#total, queue.figures, member?.figures]) countDuplicate(counters, bytes)
    this.#reliability.duplicated(queue.key, bytes)
  }

  /** The session that once asked the peer for this block, if it is still open. */
  #pastSession(queue: PeerQueue, block: BlockKey): Member | undefined {
    const id = queue.past.get(block)?.session
    return id === undefined ? undefined : this.#sessions.get(id)
  }
}
