import type { WantEntry } from '@shardswap/broker'
import type { PeerKey, Random } from '@shardswap/interface'
import { Baseline } from '../baseline.ts'
import type { Deadlines } from '../deadlines.ts'
import type { Ask, Peer, Session, Want } from '../state.ts'
import { nextRoundMs, type Timer } from '../timers.ts'
import { Course } from './course.ts'
import { Sender } from './sender.ts'
import { Timeouts } from './timeouts.ts'

/** The next message to a peer leaves so long after the last one, by the number of peers there are. */
const delayPerQueueMs = 0.125
const delayLeastMs = 20
const delayMostMs = 2000
/** How late a queue wakes that does not wake at once. */
const lateWakeMs = 0.1
/** What got no answer for so long is sent again; looked at half as often. */
const rebroadcastMs = 30_000

export interface OneWantBlockOptions {
  readonly random: Random
  /** Undefined for those of its own. */
  readonly deadlines: Deadlines | undefined
  /** Message queues of the whole process, where more nodes live in it: its count is the process's. */
  readonly queuesInProcess: number | undefined
  /** How often a queue wakes late for cancels, so that wants of the same moment leave with them; else these wait for the next message. */
  readonly mergeShare: number
}

interface Link {
  readonly timeouts: Timeouts
  readonly connectedAtMs: number
  rebroadcast: Timer | undefined
  /** The next message is not held back. */
  urgent: boolean
  /** For the outbox that began at this time: whether the queue wakes late. */
  wakes: { readonly sinceMs: number; readonly late: boolean }
  /** The longest that an answer of the last message took. */
  answerMs: number | undefined
}

/**
 * As boxo does now: broadcasts until a peer is known, then a want-block to the likeliest peer and want-haves to
 * all others of the session; whoever does not answer in time counts as saying DONT_HAVE. Each
 * peer has a message queue that debounces. No limit on what is in flight.
 */
export class OneWantBlock extends Baseline {
  readonly #options: OneWantBlockOptions
  readonly #courses = new Map<Session, Course>()
  readonly #links = new Map<Peer, Link>()
  /** What was broadcast; whoever connects is told. */
  readonly #broadcasts = new Map<Want, Session>()
  /** What peers said, of all wants that are open. Who once said HAVE has it for good. */
  readonly #presence = new Map<Want, Map<Peer, boolean>>()
  /** Want-blocks to peers that know no want-haves, by a broadcast. */
  readonly #untargeted: Set<Ask>
  /** Links on which something was answered since the last decision. */
  readonly #answered = new Set<Link>()
  #nowMs = 0

  constructor(options: OneWantBlockOptions) {
    const { deadlines } = options
    const untargeted = new Set<Ask>()
    super({
      forAskMs: (ask, nowMs) =>
        deadlines === undefined || ask.type === 'want-have' || untargeted.has(ask)
          ? Number.POSITIVE_INFINITY
          : deadlines.forAskMs(ask, nowMs),
      extraMs: (ask, nowMs) => deadlines?.extraMs(ask, nowMs) ?? 0
    })
    this.#untargeted = untargeted
    this.#options = options
  }

  protected override sessionOpened(session: Session, nowMs: number): void {
    const sender = new Sender({
      random: this.#options.random,
      hasBlock: (peer, want) => this.#presence.get(want)?.get(peer),
      forgetPresence: (peer) => {
        for (const peers of this.#presence.values()) peers.delete(peer)
      },
      sendWants: (peer, blocks, haves) => this.#sendWants(peer, blocks, haves, session),
      exhausted: (wants) => this.#courses.get(session)?.exhausted(wants)
    })
    const ports = {
      timers: this.timers,
      random: this.#options.random,
      broadcast: (wants: readonly Want[]) => this.#broadcast(wants, session),
      findProviders: (_: Session, want: Want) => this.findProviders(session, want)
    }
    this.#courses.set(session, new Course(session, sender, ports, nowMs))
  }

  protected override sessionClosed(session: Session): void {
    this.#courses.get(session)?.close()
    this.#courses.delete(session)
  }

  protected override wantAdded(want: Want, session: Session, nowMs: number): void {
    this.#courses.get(session)?.add(want, nowMs)
  }

  protected override wantLeft(want: Want, session: Session): void {
    this.#courses.get(session)?.remove(want)
    if (want.sessions.size > 0) return
    this.#presence.delete(want)
    this.#broadcasts.delete(want)
  }

  /** Told at the end of a message: each is answered by itself, also where more come at the same moment. */
  override receivePendingBytes(_peer: PeerKey, _bytes: number, nowMs: number): void {
    this.settle(nowMs)
  }

  protected override peerConnected(peer: Peer, nowMs: number): void {
    const timeouts = new Timeouts(this.timers, (ask, atMs) => this.#expire(ask, atMs))
    this.#links.set(peer, {
      timeouts,
      connectedAtMs: nowMs,
      rebroadcast: undefined,
      urgent: false,
      wakes: { sinceMs: -1, late: false },
      answerMs: undefined
    })
    for (const [want, session] of this.#broadcasts) this.#broadcastTo(peer, want, session, nowMs)
  }

  protected override peerLeft(peer: Peer): void {
    this.#links.get(peer)?.rebroadcast?.cancel()
    this.#links.delete(peer)
    for (const { sender } of this.#courses.values()) if (sender.peers.has(peer)) sender.signal(peer, false)
  }

  protected override providerKnown(session: Session, peer: Peer): void {
    this.#courses.get(session)?.sender.signal(peer, true)
  }

  protected override blockReceived(want: Want, peer: Peer, _bytes: number, nowMs: number): void {
    for (const session of want.sessions) this.#courses.get(session)?.received(want, peer, nowMs)
  }

  protected override duplicateReceived(peer: Peer, key: Want['key'], nowMs: number): void {
    const session = peer.past.get(key)?.session
    if (session !== undefined) this.#courses.get(session)?.receivedAgain(peer, key, nowMs)
  }

  protected override haveReceived({ peer, want }: Ask): void {
    this.#learn(peer, want, true)
    this.#tell(want, (course) => course.sender.update(peer, 'haves', want))
  }

  protected override dontHaveReceived({ peer, want }: Ask): void {
    this.#learn(peer, want, false)
    this.#tell(want, (course) => course.sender.update(peer, 'dontHaves', want))
  }

  /** As if it had said DONT_HAVE; the want-block stands there all the same. */
  protected override askTimedOut(ask: Ask): void {
    this.dontHaveReceived(ask)
  }

  protected override answered({ peer }: Ask, latencyMs: number): void {
    const link = this.#links.get(peer)
    if (link === undefined) return
    link.answerMs = Math.max(link.answerMs ?? 0, latencyMs)
    this.#answered.add(link)
  }

  protected override askEnded(ask: Ask): void {
    this.#untargeted.delete(ask)
    const link = this.#links.get(ask.peer)
    link?.timeouts.remove(ask)
    if (ask.peer.asks.size > 0 || link === undefined) return
    link.rebroadcast?.cancel()
    link.rebroadcast = undefined
  }

  protected override messageSent(peer: Peer, asks: readonly Ask[], nowMs: number): void {
    const link = this.#links.get(peer)
    if (link === undefined) return
    link.urgent = false
    if (asks.length > 0) this.#armRebroadcast(peer, link, nowMs)
    if (this.#options.deadlines !== undefined) return
    for (const ask of asks) if (ask.type === 'want-block' && !this.#untargeted.has(ask)) link.timeouts.add(ask, nowMs)
  }

  protected override heldUntilMs(peer: Peer, nowMs: number): number {
    if (this.#links.get(peer)?.urgent === true) return nowMs
    const queues = this.#options.queuesInProcess ?? this.#links.size
    const fromMs = peer.lastSentAtMs + Math.min(delayMostMs, Math.max(delayLeastMs, queues * delayPerQueueMs))
    if (fromMs > nowMs || peer.outboxSinceMs !== nowMs || !this.#wakesLate(peer, nowMs)) return fromMs
    return [...peer.outbox.values()].every(({ type }) => type === 'cancel') ? nowMs + lateWakeMs : nowMs
  }

  protected override nextMessage(peer: Peer, lines: readonly WantEntry[], nowMs: number): readonly WantEntry[] {
    const cancels = lines.filter(({ type }) => type === 'cancel')
    const isNew = lines.some(({ key }) => this.wants.get(key)?.addedAtMs === nowMs)
    // What was held back leaves together, and so does what a message made of wants that were known.
    if (cancels.length === 0 || !isNew || peer.outboxSinceMs !== nowMs) return lines
    return this.#wakesLate(peer, nowMs) ? lines : cancels
  }

  #wakesLate(peer: Peer, nowMs: number): boolean {
    const link = this.#links.get(peer)
    if (link === undefined) return false
    if (link.wakes.sinceMs !== nowMs) link.wakes = { sinceMs: nowMs, late: this.#options.random.next() < this.#options.mergeShare }
    return link.wakes.late
  }

  /** Also to whoever delivered the block. */
  protected override cancels(): boolean {
    return true
  }

  protected override recordsKept(): number {
    let records = this.#courses.size + this.#broadcasts.size + this.#presence.size + this.#untargeted.size
    for (const course of this.#courses.values()) records += course.size
    for (const { timeouts } of this.#links.values()) records += timeouts.size
    return records
  }

  protected override place(nowMs: number): void {
    this.#nowMs = nowMs
    for (const link of this.#answered) {
      if (link.answerMs !== undefined) link.timeouts.sample(link.answerMs)
      link.answerMs = undefined
    }
    this.#answered.clear()
    for (const course of this.#courses.values()) course.run(nowMs)
  }

  #learn(peer: Peer, want: Want, has: boolean): void {
    const peers = this.#presence.get(want) ?? new Map<Peer, boolean>()
    this.#presence.set(want, peers)
    if (peers.get(peer) !== true) peers.set(peer, has)
  }

  #tell(want: Want, tell: (course: Course) => void): void {
    for (const session of want.sessions) {
      const course = this.#courses.get(session)
      if (course !== undefined) tell(course)
    }
  }

  #expire(ask: Ask, nowMs: number): void {
    if (ask.phase === 'open') this.timeOut(ask, nowMs)
    else this.askTimedOut(ask)
  }

  #sendWants(peer: Peer, blocks: readonly Want[], haves: readonly Want[], session: Session): void {
    if (!peer.connected) return
    for (const want of blocks) {
      const broadcast = want.asks.get(peer.key)
      if (broadcast !== undefined && this.#untargeted.delete(broadcast)) this.resend(broadcast, this.#nowMs)
      else this.ask(peer, want, 'want-block', session, this.#nowMs)
    }
    if (peer.supportsHave) {
      for (const want of haves) if (!this.#broadcasts.has(want)) this.ask(peer, want, 'want-have', session, this.#nowMs)
    }
    this.#courses.get(session)?.wantsSent([...blocks, ...haves], this.#nowMs)
  }

  #broadcast(wants: readonly Want[], session: Session): void {
    for (const want of wants) {
      if (this.#broadcasts.has(want) || want.sessions.size === 0) continue
      this.#broadcasts.set(want, session)
      for (const peer of this.connected(session)) this.#broadcastTo(peer, want, session, this.#nowMs)
    }
  }

  #broadcastTo(peer: Peer, want: Want, session: Session, nowMs: number): void {
    if (want.asks.has(peer.key) || session.fixed?.has(peer.key) === false) return
    this.ask(peer, want, peer.supportsHave ? 'want-have' : 'want-block', session, nowMs)
    const ask = want.asks.get(peer.key)
    if (ask !== undefined && !peer.supportsHave) this.#untargeted.add(ask)
  }

  #armRebroadcast(peer: Peer, link: Link, nowMs: number): void {
    link.rebroadcast ??= this.timers.at(nextRoundMs(link.connectedAtMs, rebroadcastMs / 2, nowMs), (atMs) => {
      link.rebroadcast = undefined
      for (const ask of peer.asks.values()) {
        if (ask.answered || ask.sentAtMs === undefined || atMs - ask.sentAtMs < rebroadcastMs) continue
        link.urgent = true
        this.resend(ask, atMs)
      }
      this.#armRebroadcast(peer, link, atMs)
    })
  }
}
