import type { BlockKey, PeerKey } from '@shardswap/interface'
import { Baseline } from './baseline.ts'
import type { Deadlines } from './deadlines.ts'
import { isHaveAsked, isInFlight, type Ask, type Peer, type Session, type Want } from './state.ts'
import type { Timer } from './timers.ts'

export interface ChoosingLimits {
  /** Want-blocks in flight at one peer: so many wants at most one session of go-bitswap had out in 2019. */
  readonly wantsInFlightMax: number
  /** How soon a want that nobody has is asked for again. */
  readonly askAgainMs: number
  /** How soon a second search in routing may follow the first; doubles up to a minute. */
  readonly searchStartMs: number
}

const defaultLimits: ChoosingLimits = { wantsInFlightMax: 32, askAgainMs: 5000, searchStartMs: 1000 }
const searchMaxMs = 60_000
/** Between two rounds through those that had their time: the cancel leaves before the want comes again. */
const roundMs = 1

/** What is kept of one want, beside its asks. */
interface Course {
  readonly want: Want
  /** Peers that had their time for it; asked again when nobody else is left. */
  readonly failed: Set<PeerKey>
  /** Set while nobody has it and it waits to be asked for again. */
  rest: Timer | undefined
}

interface Ring {
  /** Peers that said HAVE, delivered, or were named by routing. */
  readonly providers: Set<Peer>
  /** Wants with nobody asked for the block: those that came back go before the new ones. */
  readonly again: Set<Course>
  readonly fresh: Set<Course>
  /** What was last asked of everybody. */
  asked: Course | undefined
  searches: number
  nextSearchAtMs: number
}

/**
 * The frame of those policies that are a choice among peers and nothing else: the first want is asked of
 * all by want-have, whoever has it is asked for the rest, one want-block at a time for a want, the next
 * peer after a DONT_HAVE or a deadline. A policy says which of the candidates is asked.
 */
export abstract class Choosing extends Baseline {
  protected readonly limits: ChoosingLimits
  readonly #courses = new Map<Want, Course>()
  readonly #rings = new Map<Session, Ring>()

  constructor(deadlines: Deadlines, limits: Partial<ChoosingLimits> = {}) {
    super(deadlines)
    this.limits = { ...defaultLimits, ...limits }
  }

  /** One of the candidates, of which there is at least one; or none, to wait. */
  protected abstract choose(want: Want, candidates: readonly Peer[], session: Session, nowMs: number): Peer | undefined
  /** A want-block has been put in the chosen peer's outbox. */
  protected chosen(_want: Want, _peer: Peer, _session: Session, _nowMs: number): void {}

  /** Those who may be asked for the block now: of the ones who said HAVE if there are any, else of all providers. */
  protected candidates(want: Want, session: Session): Peer[] {
    const ring = this.#rings.get(session)
    const known = [...want.asks.values()].filter((ask) => ask.phase === 'have').map(({ peer }) => peer)
    const fit = (peer: Peer): boolean => peer.connected && this.isFree(want, peer) && session.fixed?.has(peer.key) !== false
    const holders = known.filter(fit)
    if (holders.length > 0) return holders
    return [...(session.fixed === undefined ? (ring?.providers ?? []) : this.connected(session))].filter(fit)
  }

  /** Whether the want may go to this peer: it did not have its time for it, and nothing of it stands there but perhaps a want-have. */
  protected isFree(want: Want, peer: Peer): boolean {
    if (this.#courses.get(want)?.failed.has(peer.key) === true) return false
    const ask = want.asks.get(peer.key)
    return ask === undefined || (ask.type === 'want-have' && ask.phase !== 'dont-have')
  }

  protected hasSpace(peer: Peer): boolean {
    return peer.inFlight < this.limits.wantsInFlightMax
  }

  protected providers(session: Session): ReadonlySet<Peer> {
    return this.#rings.get(session)?.providers ?? new Set()
  }

  protected override sessionOpened(session: Session, nowMs: number): void {
    this.#rings.set(session, {
      providers: new Set(),
      again: new Set(),
      fresh: new Set(),
      asked: undefined,
      searches: 0,
      nextSearchAtMs: nowMs
    })
  }

  protected override sessionClosed(session: Session, _nowMs: number): void {
    this.#rings.delete(session)
  }

  protected override wantAdded(want: Want, session: Session, _nowMs: number): void {
    const course = this.#courses.get(want) ?? { want, failed: new Set(), rest: undefined }
    this.#courses.set(want, course)
    if (want.inFlight === 0 && course.rest === undefined) this.#rings.get(session)?.fresh.add(course)
  }

  protected override wantLeft(want: Want, session: Session, _nowMs: number): void {
    const course = this.#courses.get(want)
    if (course === undefined) return
    this.#unidle(course, session)
    const ring = this.#rings.get(session)
    if (ring?.asked === course) ring.asked = undefined
    if (want.sessions.size > 0) return
    course.rest?.cancel()
    this.#courses.delete(want)
  }

  protected override peerConnected(_peer: Peer, nowMs: number): void {
    // Somebody to be asked for what nobody had.
    for (const course of this.#courses.values()) if (course.rest !== undefined) this.#wake(course, nowMs)
  }

  protected override peerLeft(peer: Peer, lost: readonly Ask[], _nowMs: number): void {
    for (const { providers } of this.#rings.values()) providers.delete(peer)
    for (const { want } of lost) this.#idle(want)
  }

  protected override providerKnown(session: Session, peer: Peer, nowMs: number): void {
    if (session.fixed?.has(peer.key) === false) return
    this.#rings.get(session)?.providers.add(peer)
    for (const want of session.wants.values()) {
      const course = this.#courses.get(want)
      if (course?.rest !== undefined) this.#wake(course, nowMs)
    }
  }

  protected override haveReceived(ask: Ask, nowMs: number): void {
    for (const session of ask.want.sessions) this.providerKnown(session, ask.peer, nowMs)
  }

  protected override dontHaveReceived(ask: Ask, _nowMs: number): void {
    this.#idle(ask.want)
  }

  protected override askTimedOut(ask: Ask, nowMs: number): void {
    this.#courses.get(ask.want)?.failed.add(ask.peer.key)
    this.withdraw(ask, nowMs)
    this.#idle(ask.want)
  }

  protected override blockReceived(want: Want, peer: Peer, _bytes: number, nowMs: number): void {
    if (peer.connected) for (const session of want.sessions) this.providerKnown(session, peer, nowMs)
  }

  protected override duplicateReceived(peer: Peer, key: BlockKey, nowMs: number): void {
    // A small block comes in place of a HAVE from everybody who has it.
    const session = peer.past.get(key)?.session
    if (session !== undefined && peer.connected) this.providerKnown(session, peer, nowMs)
  }

  /** Ends an ask before its time and without a fault, so that its want is placed anew. */
  protected takeBack(ask: Ask, nowMs: number): void {
    this.withdraw(ask, nowMs)
    this.#idle(ask.want)
  }

  protected override recordsKept(): number {
    return this.#courses.size + this.#rings.size
  }

  protected override place(nowMs: number): void {
    for (const [session, ring] of this.#rings) this.#placeSession(session, ring, nowMs)
  }

  #placeSession(session: Session, ring: Ring, nowMs: number): void {
    for (const queue of [ring.again, ring.fresh]) {
      for (const course of queue) {
        // Until somebody is known, one want is looked for at a time.
        if (ring.providers.size === 0 && ring.asked !== undefined && ring.asked !== course && isAskedAbout(ring.asked.want)) return
        const fate = this.#placeWant(course, session, nowMs)
        if (fate === 'full') return
        if (fate === 'asked') this.#unidleAll(course)
      }
    }
  }

  #placeWant(course: Course, session: Session, nowMs: number): 'asked' | 'full' | 'waits' {
    const { want } = course
    const candidates = this.candidates(want, session)
    if (candidates.length > 0) {
      const free = candidates.filter((peer) => this.hasSpace(peer))
      if (free.length === 0) return this.#allFull(session) ? 'full' : 'waits'
      const peer = this.choose(want, free, session, nowMs)
      if (peer === undefined) return 'waits'
      this.ask(peer, want, 'want-block', session, nowMs)
      this.chosen(want, peer, session, nowMs)
      return 'asked'
    }
    if ([...want.asks.values()].some(isHaveAsked)) return 'waits'
    return this.#discover(course, session, nowMs)
  }

  #allFull(session: Session): boolean {
    for (const peer of this.providers(session)) if (this.hasSpace(peer)) return false
    return true
  }

  /** Asks everybody who was not asked yet, and looks for more; then those again that had their time, or, where nobody is left, the want rests. */
  #discover(course: Course, session: Session, nowMs: number): 'asked' | 'waits' {
    const { want } = course
    if (session.fixed === undefined && this.askAround(want, session, nowMs)) {
      const ring = this.#rings.get(session)
      if (ring !== undefined) ring.asked = course
      return want.inFlight > 0 ? 'asked' : 'waits'
    }
    this.#search(course, session, nowMs)
    this.#unidleAll(course)
    course.rest =
      course.failed.size > 0
        ? this.timers.at(nowMs + roundMs, () => this.#goRound(course))
        : this.timers.at(nowMs + this.limits.askAgainMs, (atMs) => this.#wake(course, atMs))
    return 'waits'
  }

  /** Those that had their time may be asked once more. */
  #goRound(course: Course): void {
    course.rest = undefined
    course.failed.clear()
    this.#idle(course.want)
  }

  /** Asks all who were not asked; by want-block where a peer cannot say HAVE. Returns whether anybody was asked. */
  protected askAround(want: Want, session: Session, nowMs: number): boolean {
    const failed = this.#courses.get(want)?.failed
    let asked = false
    for (const peer of this.connected(session)) {
      if (failed?.has(peer.key) === true || want.asks.has(peer.key)) continue
      asked = this.ask(peer, want, peer.supportsHave ? 'want-have' : 'want-block', session, nowMs) || asked
    }
    return asked
  }

  #search({ want }: Course, session: Session, nowMs: number): void {
    const ring = this.#rings.get(session)
    if (ring === undefined || ring.nextSearchAtMs > nowMs) return
    ring.nextSearchAtMs = nowMs + Math.min(searchMaxMs, this.limits.searchStartMs * 2 ** ring.searches)
    ring.searches += 1
    this.findProviders(session, want)
  }

  /** Everything that was said about it is forgotten, and it is asked for afresh. */
  #wake(course: Course, nowMs: number): void {
    course.rest?.cancel()
    course.rest = undefined
    course.failed.clear()
    for (const ask of course.want.asks.values()) if (ask.phase === 'dont-have') this.withdraw(ask, nowMs)
    this.#idle(course.want)
  }

  /** Nobody is asked for the block any more: its sessions have to choose again. */
  #idle(want: Want): void {
    const course = this.#courses.get(want)
    if (course === undefined || course.rest !== undefined || [...want.asks.values()].some(isInFlight)) return
    for (const session of want.sessions) this.#rings.get(session)?.again.add(course)
  }

  #unidle(course: Course, session: Session): void {
    const ring = this.#rings.get(session)
    ring?.again.delete(course)
    ring?.fresh.delete(course)
  }

  #unidleAll(course: Course): void {
    for (const session of course.want.sessions) this.#unidle(course, session)
  }
}

/** Whether any answer about it is still waited for. */
function isAskedAbout(want: Want): boolean {
  return want.inFlight > 0 || [...want.asks.values()].some(isHaveAsked)
}
