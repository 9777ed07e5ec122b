import { timerMsMax } from '@shardswap/interface'

/** Sessions that ask for nothing and still keep their peers in mind; above it the one that rests longest is closed. */
const idleSessionsMax = 64

/** A session of Helia's, as far as its end concerns it. */
export interface Closable {
  close(): void
}

/**
 * Sessions that Helia opened. Helia never says that it needs one no more, so each is closed once it has asked for nothing
 * for a while, and opens anew should it ask again.
 */
export class OpenSessions {
  readonly #idleMs: number
  /** The open ones; with a timer those that rest, the longest first. */
  readonly #open = new Map<Closable, NodeJS.Timeout | undefined>()
  #idle = 0

  constructor(idleMs: number) {
    this.#idleMs = Math.min(idleMs, timerMsMax)
  }

  /** It asks for something. */
  busy(session: Closable): void {
    this.closed(session)
    this.#open.set(session, undefined)
  }

  /** It asks for nothing any more. */
  rests(session: Closable): void {
    if (!this.#open.has(session)) return
    this.closed(session)
    const timer = setTimeout(() => this.#close(session), this.#idleMs)
    timer.unref()
    this.#open.set(session, timer)
    this.#idle += 1
    if (this.#idle <= idleSessionsMax) return
    for (const [oldest, resting] of this.#open) {
      if (resting === undefined) continue
      this.#close(oldest)
      return
    }
  }

  /** It is closed already. */
  closed(session: Closable): void {
    const timer = this.#open.get(session)
    if (timer !== undefined) this.#idle -= 1
    clearTimeout(timer)
    this.#open.delete(session)
  }

  closeAll(): void {
    for (const session of this.#open.keys()) this.#close(session)
  }

  #close(session: Closable): void {
    this.closed(session)
    session.close()
  }
}
