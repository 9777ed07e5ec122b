import { Baseline } from './baseline.ts'
import type { Ask, Peer, Session, Want } from './state.ts'
import type { Timer } from './timers.ts'

/** Providers of a session that each want is sent to. */
const providersMax = 5
/** Lines to a peer are gathered for so long. */
const debounceMs = 10
/** How soon routing is asked again where nobody is left; doubles up to a minute. */
const searchStartMs = 1000
const searchMaxMs = 60_000

interface Course {
  readonly providers: Set<Peer>
  /** Those that failed once: not asked again in this session. */
  readonly evicted: Set<Peer>
  /** Wants that were sent to nobody, or of which new providers have to hear. */
  readonly unsent: Set<Want>
  searches: number
  search: Timer | undefined
}

/**
 * As Helia's sessions do: every want goes to every provider of the session at once, as a want-block. The first
 * to answer counts; nothing is ever cancelled. Whoever says DONT_HAVE is evicted for good. While the session has no
 * provider, everybody who is connected is asked, as Helia does outside of sessions, and routing.
 */
export class AllProviders extends Baseline {
  readonly #courses = new Map<Session, Course>()

  protected override sessionOpened(session: Session): void {
    this.#courses.set(session, { providers: new Set(), evicted: new Set(), unsent: new Set(), searches: 0, search: undefined })
  }

  protected override sessionClosed(session: Session): void {
    this.#courses.get(session)?.search?.cancel()
    this.#courses.delete(session)
  }

  protected override wantAdded(want: Want, session: Session): void {
    this.#courses.get(session)?.unsent.add(want)
  }

  protected override wantLeft(want: Want, session: Session): void {
    this.#courses.get(session)?.unsent.delete(want)
  }

  protected override heldUntilMs(peer: Peer): number {
    return peer.outboxSinceMs + debounceMs
  }

  /** It has forgotten how to. */
  protected override cancels(): boolean {
    return false
  }

  protected override providerKnown(session: Session, peer: Peer): void {
    const course = this.#courses.get(session)
    const isWelcome = course !== undefined && course.providers.size < providersMax && !course.evicted.has(peer)
    if (!isWelcome || course.providers.has(peer) || session.fixed?.has(peer.key) === false) return
    course.providers.add(peer)
    for (const want of session.wants.values()) course.unsent.add(want)
  }

  protected override blockReceived(want: Want, peer: Peer): void {
    if (peer.connected) for (const session of want.sessions) this.providerKnown(session, peer)
  }

  protected override duplicateReceived(peer: Peer, key: Want['key']): void {
    const session = peer.past.get(key)?.session
    if (session !== undefined && peer.connected) this.providerKnown(session, peer)
  }

  protected override dontHaveReceived(ask: Ask): void {
    for (const session of ask.want.sessions) this.#evict(session, ask.peer)
  }

  /** Only with deadlines of ours: an error like any other. */
  protected override askTimedOut(ask: Ask): void {
    for (const session of ask.want.sessions) this.#evict(session, ask.peer)
  }

  protected override peerConnected(): void {
    for (const [session, course] of this.#courses) {
      if (course.providers.size === 0) for (const want of session.wants.values()) course.unsent.add(want)
    }
  }

  protected override peerLeft(peer: Peer): void {
    for (const session of this.sessions.values()) this.#evict(session, peer)
  }

  #evict(session: Session, peer: Peer): void {
    const course = this.#courses.get(session)
    if (course?.providers.delete(peer) !== true) return
    course.evicted.add(peer)
    // What was asked of it only is asked of those who are left.
    for (const want of session.wants.values()) course.unsent.add(want)
  }

  protected override recordsKept(): number {
    let records = this.#courses.size
    for (const { unsent } of this.#courses.values()) records += unsent.size
    return records
  }

  protected override place(nowMs: number): void {
    for (const [session, course] of this.#courses) {
      const [first] = course.unsent
      if (first === undefined) continue
      const known = course.providers.size > 0
      const peers = known ? [...course.providers] : this.connected(session)
      for (const want of course.unsent) for (const peer of peers) this.ask(peer, want, 'want-block', session, nowMs)
      course.unsent.clear()
      if (!known && course.search === undefined) this.#search(session, course, first, nowMs)
    }
  }

  #search(session: Session, course: Course, want: Want, nowMs: number): void {
    this.findProviders(session, want)
    const delayMs = Math.min(searchMaxMs, searchStartMs * 2 ** course.searches)
    course.searches += 1
    course.search = this.timers.at(nowMs + delayMs, () => {
      course.search = undefined
      if (course.providers.size === 0) for (const still of session.wants.values()) course.unsent.add(still)
    })
  }
}
