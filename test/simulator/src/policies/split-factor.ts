import type { Random } from '@shardswap/interface'
import { Baseline } from './baseline.ts'
import type { Deadlines } from './deadlines.ts'
import type { Ask, Peer, Session, Want } from './state.ts'
import type { Timer } from './timers.ts'
import { pick } from './uniform.ts'

/** Wants of a session that are out at once: sent to chosen peers, or to all while none is known. */
const liveTargetedMax = 32
const liveBroadcastMax = 64
/** Peers of a session that wants are split over. */
const splitPeersMax = 32
/** Groups of peers; each group gets its part of the wants, so each want goes to all peers of one group. */
const splitStart = 2
const splitMax = 16
/** Blocks received before the split is changed. */
const receivedMin = 2
const duplicatesMax = 0.4
const duplicatesMin = 0.2
/** Without a block for so long the live wants go to everybody: at first, and by the average latency later. */
const searchDelayMs = 1000
const tickBaseMs = 500
/** Between a cancel and the same want again. */
const roundMs = 1

interface Course {
  /** Peers that delivered or were found, and how soon they answer; undefined where nothing was measured. */
  readonly peers: Map<Peer, number | undefined>
  /** Wants that were not sent yet, in the order in which they came. */
  readonly waiting: Set<Want>
  /** Wants that are out, and since when. */
  readonly live: Map<Want, number>
  split: number
  received: number
  duplicates: number
  latencySumMs: number
  latencies: number
  ticks: number
  idle: Timer | undefined
}

/**
 * As go-bitswap split wants in 2019, before HAVE and DONT_HAVE: want-blocks only. The peers of a session
 * are dealt out into groups, and the wants over the groups; every peer of a group is sent its wants.
 * More duplicates than are acceptable make more groups, few make fewer.
 */
export class SplitFactor extends Baseline {
  readonly #courses = new Map<Session, Course>()
  readonly #random: Random

  constructor(deadlines: Deadlines, random: Random) {
    super(deadlines)
    this.#random = random
  }

  protected override sessionOpened(session: Session, nowMs: number): void {
    const course: Course = {
      peers: new Map(),
      waiting: new Set(),
      live: new Map(),
      split: splitStart,
      received: 0,
      duplicates: 0,
      latencySumMs: 0,
      latencies: 0,
      ticks: 0,
      idle: undefined
    }
    this.#courses.set(session, course)
    this.#arm(session, course, nowMs)
  }

  protected override sessionClosed(session: Session): void {
    this.#courses.get(session)?.idle?.cancel()
    this.#courses.delete(session)
  }

  protected override wantAdded(want: Want, session: Session, nowMs: number): void {
    const course = this.#courses.get(session)
    course?.waiting.add(want)
    if (course !== undefined && course.idle === undefined) this.#arm(session, course, nowMs)
  }

  protected override wantLeft(want: Want, session: Session): void {
    const course = this.#courses.get(session)
    course?.waiting.delete(want)
    course?.live.delete(want)
  }

  protected override blockReceived(want: Want, peer: Peer, _bytes: number, nowMs: number): void {
    for (const session of want.sessions) {
      const course = this.#courses.get(session)
      if (course === undefined) continue
      const sentAtMs = course.live.get(want)
      if (sentAtMs !== undefined) {
        course.latencySumMs += nowMs - sentAtMs
        course.latencies += 1
      }
      if (peer.connected) course.peers.set(peer, peer.timing.latencyMs)
      course.received += 1
      this.#adjust(course)
      course.ticks = 0
      this.#arm(session, course, nowMs)
    }
  }

  protected override duplicateReceived(peer: Peer, key: Want['key']): void {
    const session = peer.past.get(key)?.session
    const course = session === undefined ? undefined : this.#courses.get(session)
    if (course === undefined) return
    if (peer.connected && !course.peers.has(peer)) course.peers.set(peer, peer.timing.latencyMs)
    course.received += 1
    course.duplicates += 1
    this.#adjust(course)
  }

  #adjust(course: Course): void {
    if (course.received <= receivedMin) return
    const share = course.duplicates / course.received
    if (share > duplicatesMax) course.split = Math.min(splitMax, course.split + 1)
    else if (share < duplicatesMin) course.split = Math.max(1, course.split - 1)
  }

  protected override providerKnown(session: Session, peer: Peer): void {
    const course = this.#courses.get(session)
    if (course !== undefined && !course.peers.has(peer)) course.peers.set(peer, undefined)
  }

  protected override peerConnected(peer: Peer, nowMs: number): void {
    // What is out to everybody goes to whoever comes as well.
    for (const [session, course] of this.#courses) {
      if (course.peers.size > 0 || session.fixed?.has(peer.key) === false) continue
      for (const want of course.live.keys()) this.ask(peer, want, 'want-block', session, nowMs)
    }
  }

  protected override peerLeft(peer: Peer): void {
    for (const course of this.#courses.values()) course.peers.delete(peer)
  }

  /** Only with deadlines of ours: a want that had its time is cancelled there and split anew. */
  protected override askTimedOut(ask: Ask, nowMs: number): void {
    this.withdraw(ask, nowMs)
    if (ask.want.inFlight > 0) return
    // The cancel leaves before the want comes again.
    this.timers.at(nowMs + roundMs, () => this.#again(ask.want))
  }

  #again(want: Want): void {
    for (const session of want.sessions) {
      const course = this.#courses.get(session)
      if (course?.live.delete(want) === true) course.waiting.add(want)
    }
  }

  protected override recordsKept(): number {
    let records = this.#courses.size
    for (const { waiting, live } of this.#courses.values()) records += waiting.size + live.size
    return records
  }

  protected override place(nowMs: number): void {
    for (const [session, course] of this.#courses) {
      if (course.waiting.size === 0) continue
      const peers = this.#splitPeers(course)
      const room = (peers.length > 0 ? liveTargetedMax : liveBroadcastMax) - course.live.size
      if (room <= 0) continue
      const wants = [...course.waiting].slice(0, room)
      for (const want of wants) {
        course.waiting.delete(want)
        course.live.set(want, nowMs)
      }
      if (peers.length === 0) this.#send(this.connected(session), wants, session, nowMs)
      else this.#splitOver(peers, wants, session, course.split, nowMs)
    }
  }

  /** The fastest first; those of which nothing was measured are behind, in any order. */
  #splitPeers({ peers }: Course): Peer[] {
    const measured = [...peers].filter((entry): entry is [Peer, number] => entry[1] !== undefined)
    const sorted = measured.sort(([, a], [, b]) => a - b).map(([peer]) => peer)
    const others = [...peers].filter(([, latencyMs]) => latencyMs === undefined).map(([peer]) => peer)
    while (others.length > 0 && sorted.length < splitPeersMax) {
      const other = pick(others, this.#random)
      if (other === undefined) break
      others.splice(others.indexOf(other), 1)
      sorted.push(other)
    }
    return sorted.slice(0, splitPeersMax)
  }

  #splitOver(peers: readonly Peer[], wants: readonly Want[], session: Session, split: number, nowMs: number): void {
    const peerGroups = deal(peers, Math.min(split, peers.length))
    const wantGroups = deal(wants, Math.min(split, peers.length, wants.length))
    for (const [index, group] of wantGroups.entries()) this.#send(peerGroups[index] ?? [], group, session, nowMs)
  }

  /** Whoever is about to be told a cancel hears of the want when it is split again. */
  #send(peers: readonly Peer[], wants: readonly Want[], session: Session, nowMs: number): void {
    for (const peer of peers) {
      for (const want of wants) if (!peer.outbox.has(want.key)) this.ask(peer, want, 'want-block', session, nowMs)
    }
  }

  #arm(session: Session, course: Course, nowMs: number): void {
    course.idle?.cancel()
    const delayMs = course.latencies === 0 ? searchDelayMs : tickBaseMs + 3 * (course.latencySumMs / course.latencies)
    course.idle = this.timers.at(nowMs + delayMs * (1 + course.ticks), (atMs) => this.#tick(session, course, atMs))
  }

  /** No block for a while: everybody is asked for all that is out, and somebody new is looked for. */
  #tick(session: Session, course: Course, nowMs: number): void {
    course.idle = undefined
    const [first] = course.live.keys()
    if (first === undefined) return
    for (const want of course.live.keys()) course.live.set(want, nowMs)
    this.#send(this.connected(session), [...course.live.keys()], session, nowMs)
    if (course.ticks === 0) this.findProviders(session, first)
    this.#arm(session, course, nowMs)
    course.ticks += 1
  }
}

/** Into so many groups, as cards are dealt. */
function deal<T>(items: readonly T[], groups: number): T[][] {
  const dealt = Array.from({ length: groups }, (): T[] => [])
  for (const [index, item] of items.entries()) dealt[index % groups]?.push(item)
  return dealt
}
