import type { BlockKey, Random } from '@shardswap/interface'
import type { Peer, Session, Want } from '../state.ts'
import { nextRoundMs, type Timer, type Timers } from '../timers.ts'
import { pick } from '../uniform.ts'
import type { Sender } from './sender.ts'

/** Wants of a session that are broadcast while no peer is known. */
const broadcastWantsMax = 64
const searchDelayMs = 1000
const tickBaseMs = 500
const periodicSearchMs = 60_000
/**
 * Copies that are still taken as an answer to the session after their want has ended at the very same instant. In
 * the original a message is handled while another part still hears of the last one, so that one peer more joins.
 */
const joinsAfterEndMax = 1

/** What a session may do. */
export interface CoursePorts {
  readonly timers: Timers
  readonly random: Random
  broadcast(wants: readonly Want[], session: Session): void
  findProviders(session: Session, want: Want): void
}

/** One session: what it broadcasts, and when it looks for more peers. Whom it asks for what is its sender's choice. */
export class Course {
  readonly session: Session
  readonly sender: Sender
  readonly #ports: CoursePorts
  readonly #openedAtMs: number
  /** Wants that were sent to nobody. */
  readonly #toFetch = new Set<Want>()
  /** Wants that are out, and since when. */
  readonly #live = new Map<Want, number>()
  #requested = false
  #exhausted: Want[] = []
  #latencySumMs = 0
  #latencies = 0
  #ticks = 0
  #idle: Timer | undefined
  #periodic: Timer | undefined
  #ended: { readonly key: BlockKey; readonly atMs: number; joins: number } | undefined

  constructor(session: Session, sender: Sender, ports: CoursePorts, nowMs: number) {
    this.session = session
    this.sender = sender
    this.#ports = ports
    this.#openedAtMs = nowMs
    this.#idle = ports.timers.at(nowMs + searchDelayMs, (atMs) => this.#idleTick(atMs))
  }

  get size(): number {
    return this.#toFetch.size + this.#live.size + this.sender.size
  }

  close(): void {
    this.#idle?.cancel()
    this.#periodic?.cancel()
  }

  add(want: Want, nowMs: number): void {
    this.#toFetch.add(want)
    this.sender.add(want)
    this.#requested = true
    this.#armPeriodic(nowMs)
  }

  /** No longer wanted, for whatever reason. */
  remove(want: Want): void {
    this.#toFetch.delete(want)
    this.#live.delete(want)
    this.sender.remove(want)
    if (this.#toFetch.size + this.#live.size > 0) return
    this.#periodic?.cancel()
    this.#periodic = undefined
  }

  received(want: Want, peer: Peer, nowMs: number): void {
    this.sender.received(peer, want)
    const sentAtMs = this.#live.get(want)
    if (sentAtMs !== undefined) this.#latencySumMs += nowMs - sentAtMs
    this.#latencies += 1
    this.#live.delete(want)
    this.#ticks = 0
    this.#idle?.cancel()
    this.#idle = undefined
    if (this.#live.size > 0) this.#armIdle(nowMs)
    this.#ended = { key: want.key, atMs: nowMs, joins: 0 }
  }

  /** A copy of a block that the session had; whoever sent it may join all the same. */
  receivedAgain(peer: Peer, key: BlockKey, nowMs: number): void {
    const ended = this.#ended
    if (ended?.key !== key || ended.atMs !== nowMs || ended.joins === joinsAfterEndMax) return
    ended.joins += 1
    this.sender.signal(peer, true)
  }

  wantsSent(wants: readonly Want[], nowMs: number): void {
    for (const want of wants) if (this.#toFetch.delete(want)) this.#live.set(want, nowMs)
  }

  exhausted(wants: readonly Want[]): void {
    this.#exhausted.push(...wants)
  }

  /** Does what follows from all that happened. */
  run(nowMs: number): void {
    if (this.#requested && !this.sender.discovered) {
      const next = [...this.#toFetch].slice(0, Math.max(0, broadcastWantsMax - this.#live.size))
      this.wantsSent(next, nowMs)
      this.#ports.broadcast(next, this.session)
    }
    this.#requested = false
    this.sender.run()
    const exhausted = this.#exhausted
    this.#exhausted = []
    if (exhausted.length > 0) this.#broadcast(exhausted, nowMs)
  }

  #broadcast(wants: readonly Want[], nowMs: number): void {
    this.#ports.broadcast(wants, this.session)
    const [first] = wants
    if (first !== undefined && this.#ticks === 0) this.#ports.findProviders(this.session, first)
    if (this.#live.size === 0) return
    this.#armIdle(nowMs)
    this.#ticks += 1
  }

  #idleTick(nowMs: number): void {
    this.#idle = undefined
    const wants = [...this.#live.keys()].slice(0, broadcastWantsMax)
    for (const want of wants) this.#live.set(want, nowMs)
    this.#broadcast(wants, nowMs)
  }

  #armIdle(nowMs: number): void {
    this.#idle?.cancel()
    const delayMs = this.#latencySumMs === 0 ? searchDelayMs : tickBaseMs + (3 * this.#latencySumMs) / this.#latencies
    this.#idle = this.#ports.timers.at(nowMs + delayMs * (1 + this.#ticks), (atMs) => this.#idleTick(atMs))
  }

  /** At whole minutes of the session's life; only while something is wanted, so that an idle session is left alone. */
  #armPeriodic(nowMs: number): void {
    this.#periodic ??= this.#ports.timers.at(nextRoundMs(this.#openedAtMs, periodicSearchMs, nowMs), (atMs) => {
      this.#periodic = undefined
      const want = pick([...this.#live.keys()], this.#ports.random)
      if (want !== undefined) {
        this.#ports.findProviders(this.session, want)
        this.#ports.broadcast([want], this.session)
      }
      if (this.#toFetch.size + this.#live.size > 0) this.#armPeriodic(atMs)
    })
  }
}
