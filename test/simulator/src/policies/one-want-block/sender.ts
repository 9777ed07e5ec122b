import type { Random } from '@shardswap/interface'
import type { Peer, Want } from '../state.ts'
import { SessionWant } from './want.ts'

/** DONT_HAVEs in a row, real ones and timeouts; the one after them drops the peer from the session. */
const dontHavesMax = 16

/** What one message said, or what is taken as said. */
export interface Update {
  readonly peer: Peer
  readonly blocks: Want[]
  readonly haves: Want[]
  readonly dontHaves: Want[]
}

/** What a sender needs of the peer around it. */
export interface SenderPorts {
  readonly random: Random
  /** What a peer said of a want, to any session. */
  hasBlock(peer: Peer, want: Want): boolean | undefined
  /** Forgets all that it said. */
  forgetPresence(peer: Peer): void
  /** Sends what was not sent to this peer before. */
  sendWants(peer: Peer, blocks: readonly Want[], haves: readonly Want[]): void
  /** Nobody in the session has these. */
  exhausted(wants: readonly Want[]): void
}

/**
 * Who of a session's peers is sent which want: one want-block to the best, and want-haves to all the others.
 * Works on what has happened since the last time, as a whole.
 */
export class Sender {
  readonly peers = new Set<Peer>()
  /** Whether there has ever been one. */
  discovered = false
  readonly #ports: SenderPorts
  readonly #wants = new Map<Want, SessionWant>()
  readonly #firsts = new Map<Peer, number>()
  readonly #dontHaves = new Map<Peer, number>()
  #updates: Update[] = []
  #availability = new Map<Peer, boolean>()
  #changed = false

  constructor(ports: SenderPorts) {
    this.#ports = ports
  }

  get size(): number {
    return this.#wants.size + this.#updates.length
  }

  add(want: Want): void {
    const info = new SessionWant(this.#firsts, this.#ports.random)
    for (const peer of this.peers) info.learn(peer, this.#presence(peer, want))
    this.#wants.set(want, info)
    this.#changed = true
  }

  remove(want: Want): void {
    this.#wants.delete(want)
  }

  /** A wanted block came, for the first time. */
  received(peer: Peer, want: Want): void {
    if (this.#wants.delete(want)) this.#firsts.set(peer, (this.#firsts.get(peer) ?? 0) + 1)
    this.update(peer, 'blocks', want)
  }

  update(peer: Peer, what: 'blocks' | 'haves' | 'dontHaves', want: Want): void {
    this.#changed = true
    if (what !== 'dontHaves') this.#availability.set(peer, true)
    let last = this.#updates.at(-1)
    if (last?.peer !== peer) {
      last = { peer, blocks: [], haves: [], dontHaves: [] }
      this.#updates.push(last)
    }
    last[what].push(want)
  }

  signal(peer: Peer, available: boolean): void {
    this.#changed = true
    this.#availability.set(peer, available)
  }

  /** Takes in all that happened, and sends what follows from it. */
  run(): void {
    while (this.#changed) {
      this.#changed = false
      const updates = this.#updates
      const availability = this.#availability
      this.#updates = []
      this.#availability = new Map()
      const { came, left } = this.#takeAvailability(availability)
      const dontHaves = this.#takeUpdates(updates)
      this.#checkExhausted(dontHaves, left)
      if (this.peers.size > 0) this.#send(came)
    }
  }

  #presence(peer: Peer, want: Want): 'have' | 'unknown' | 'dont-have' {
    const has = this.#ports.hasBlock(peer, want)
    if (has === undefined) return 'unknown'
    return has ? 'have' : 'dont-have'
  }

  #takeAvailability(availability: ReadonlyMap<Peer, boolean>): { came: Peer[]; left: boolean } {
    const came: Peer[] = []
    let left = false
    for (const [peer, available] of availability) {
      if (available === this.peers.has(peer) || (available && !peer.connected)) continue
      this.#dontHaves.delete(peer)
      if (available) {
        this.peers.add(peer)
        this.discovered = true
        came.push(peer)
        for (const [want, info] of this.#wants) info.learn(peer, this.#presence(peer, want))
      } else {
        this.peers.delete(peer)
        this.#firsts.delete(peer)
        left = true
        for (const info of this.#wants.values()) info.forget(peer)
      }
    }
    return { came, left }
  }

  /** Returns the wants that somebody said DONT_HAVE to. */
  #takeUpdates(updates: readonly Update[]): Set<Want> {
    const dontHaves = new Set<Want>()
    const prune = new Set<Peer>()
    for (const { peer, blocks } of updates) if (blocks.length > 0) this.#dontHaves.delete(peer)
    for (const { peer, dontHaves: wants } of updates) {
      for (const want of wants) {
        const count = this.#dontHaves.get(peer) ?? 0
        if (count === dontHavesMax) prune.add(peer)
        else this.#dontHaves.set(peer, count + 1)
        const info = this.#wants.get(want)
        if (info === undefined) continue
        dontHaves.add(want)
        info.learn(peer, this.#presence(peer, want))
        if (info.sentTo === peer) info.sentTo = undefined
      }
    }
    for (const { peer, haves } of updates) {
      for (const want of haves) {
        this.#wants.get(want)?.learn(peer, this.#presence(peer, want))
        this.#dontHaves.delete(peer)
        prune.delete(peer)
      }
    }
    for (const peer of prune) this.#prune(peer)
    return dontHaves
  }

  /** Too often without a block: it leaves the session, unless it has something that is wanted. */
  #prune(peer: Peer): void {
    for (const want of this.#wants.keys()) if (this.#ports.hasBlock(peer, want) === true) return
    this.#ports.forgetPresence(peer)
    this.signal(peer, false)
  }

  #checkExhausted(dontHaves: ReadonlySet<Want>, left: boolean): void {
    const asked = left ? this.#wants.keys() : dontHaves
    const none = this.peers.size === 0 && left
    const exhausted: Want[] = []
    for (const want of asked) {
      const info = this.#wants.get(want)
      if (info === undefined || info.exhausted) continue
      if (!none && ![...this.peers].every((peer) => this.#ports.hasBlock(peer, want) === false)) continue
      info.exhausted = true
      exhausted.push(want)
    }
    if (exhausted.length > 0) this.#ports.exhausted(exhausted)
  }

  #send(came: readonly Peer[]): void {
    const sends = new Map<Peer, { blocks: Want[]; haves: Want[] }>()
    const to = (peer: Peer): { blocks: Want[]; haves: Want[] } => {
      const lists = sends.get(peer) ?? { blocks: [], haves: [] }
      sends.set(peer, lists)
      return lists
    }
    for (const [want, info] of this.#wants) {
      for (const peer of came) if (peer !== info.best || info.sentTo !== undefined) to(peer).haves.push(want)
      if (info.sentTo !== undefined || info.best === undefined) continue
      to(info.best).blocks.push(want)
      for (const peer of this.peers) if (peer !== info.best) to(peer).haves.push(want)
      // Also where that peer has the want-block already and nothing is sent: then it is waited for in vain.
      info.sentTo = info.best
    }
    for (const [peer, { blocks, haves }] of sends) this.#ports.sendWants(peer, blocks, haves)
  }
}
