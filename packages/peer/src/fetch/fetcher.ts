import {
  asError,
  assert,
  type BlockKey,
  blockKey,
  type CID,
  type PeerKey,
  type Random,
  StoppedError,
  TimeoutError
} from '@shardswap/interface'
import type { Command, ExchangeCore, Standing, WantEntry } from '@shardswap/broker'
import { blockKeyFor, isEmptyBlock, isIdentity, isVerifiable, unverifiable } from '@shardswap/hashes'
import { type DecodedMessage, keep, type WireBlock } from '@shardswap/protocol'
import type { Logger } from '@libp2p/interface'
import type { ReliabilityCore } from '@shardswap/reliability'
import type { PeerLimits } from '../limits.ts'
import type { LocalStore } from '../store.ts'
import type { GetOptions, PeerGauges } from '../types.ts'
import { abortError } from './abort.ts'
import { Entry, Waiter } from './entries.ts'
import { createExchangeCore } from './exchange.ts'
import { notFound } from './not-found.ts'
import { type FetchProgress, progressEvent } from './progress.ts'
import { tooLarge } from './refusals.ts'

export interface FetcherPorts {
  readonly store: LocalStore
  readonly nowMs: () => number
  readonly random: Random
  readonly reliability: ReliabilityCore
  /** Whether second peers are asked on the budget of backups. */
  readonly backups: boolean | undefined
  /** Our own peer. */
  readonly self: PeerKey
  readonly log: Logger
  want(peer: PeerKey, cid: CID, key: BlockKey, wantType: 'block' | 'have'): void
  cancel(peer: PeerKey, cid: CID, key: BlockKey): void
  flush(peer: PeerKey): void
  findProviders(session: number, cid: CID): void
  /** A verified block that was wanted came from this peer; the CID where somebody still waits for it. */
  received(peer: PeerKey, bytes: number, cid: CID | undefined): void
  /** A peer says that it has a block that somebody waits for. */
  claimed(peer: PeerKey, cid: CID): void
  /** A verified block was stored. */
  stored(cid: CID, bytes: number): void
}

/** Time between two looks at deadlines, in milliseconds. */
const tickMinMs = 25
const tickMaxMs = 1000

/** The fetching half's shell: callers, timers, the store, and the one place where blocks are hashed. */
export class Fetcher {
  readonly #core: ExchangeCore
  readonly #ports: FetcherPorts
  readonly #limits: PeerLimits
  readonly #entries = new Map<BlockKey, Entry>()
  readonly #sessions = new Set<number>()
  #nextSession = 0
  #immediate: NodeJS.Immediate | undefined
  #timer: NodeJS.Timeout | undefined
  #timerDueMs = 0
  #backlogBytes = 0
  #backlogWaiters: (() => void)[] = []
  /** Callers with an `onProgress`. */
  #listening = 0
  #stopped = false

  constructor(limits: PeerLimits, ports: FetcherPorts) {
    this.#limits = limits
    this.#ports = ports
    this.#core = createExchangeCore({ ...ports, limits })
  }

  get core(): ExchangeCore {
    return this.#core
  }

  openSession(fixed?: ReadonlySet<PeerKey>): number {
    const id = this.#nextSession++
    this.#core.openSession(id, { fixedPeers: fixed }, this.#ports.nowMs())
    this.#sessions.add(id)
    return id
  }

  /** Ends a session: its callers get StoppedError, peers get CANCEL. */
  closeSession(id: number): void {
    for (const entry of this.#entries.values()) {
      for (const waiter of entry.waiters())
        if (waiter.session === id) this.#reject(entry, waiter, new StoppedError('the session was closed'))
    }
    this.#sessions.delete(id)
    this.#core.closeSession(id, this.#ports.nowMs())
    this.#schedule()
  }

  stop(): void {
    this.#stopped = true
    for (const entry of this.#entries.values()) {
      for (const waiter of entry.waiters()) this.#reject(entry, waiter, new StoppedError('the peer was stopped'))
    }
    for (const id of this.#sessions) this.#core.closeSession(id, this.#ports.nowMs())
    this.#sessions.clear()
    // On a node of the caller's the connections stay, and with them whatever was not cancelled.
    this.#carryOut(this.#core.decide(this.#ports.nowMs()))
    clearTimeout(this.#timer)
    clearImmediate(this.#immediate)
    this.#immediate = undefined
    this.#timer = undefined
  }

  /** Sizes of what is held for callers; see PeerGauges. */
  gauges(): Pick<PeerGauges, 'sessions' | 'blocksAwaited' | 'wants' | 'wantsAtPeers' | 'records' | 'storeBacklogBytes'> {
    const { wants, inFlight, haves, records } = this.#core.gauges()
    return {
      sessions: this.#sessions.size,
      blocksAwaited: this.#entries.size,
      wants,
      wantsAtPeers: inFlight + haves,
      records,
      storeBacklogBytes: this.#backlogBytes
    }
  }

  /** CIDs that somebody waits for now. */
  wantlist(): CID[] {
    return [...this.#entries.values()].filter((entry) => entry.state === 'wanted').map((entry) => entry.cid)
  }

  /**
   * A verified block, from the store or from peers. Callers of one block share one want.
   * Patient callers wait without progress as long as their signal or timeout lets them.
   */
  get(session: number, cid: CID, options: GetOptions = {}): Promise<Uint8Array> {
    try {
      if (options.signal?.aborted === true) throw abortError(options.signal)
      if (!isVerifiable(cid)) throw unverifiable(cid)
      if (isIdentity(cid)) return Promise.resolve(cid.multihash.digest)
      if (this.#stopped) throw new StoppedError('the peer was stopped')
      if (!this.#sessions.has(session)) throw new StoppedError('the session was closed')
      assert(!Number.isNaN(options.timeoutMs), 'timeoutMs is a number of milliseconds')
    } catch (error) {
      return Promise.reject(asError(error))
    }
    return this.#wait(session, cid, options)
  }

  connectPeer(peer: PeerKey, supportsHave: boolean): void {
    this.#core.connectPeer(peer, supportsHave, this.#ports.nowMs())
    this.#schedule()
  }

  disconnectPeer(peer: PeerKey): void {
    this.#core.disconnectPeer(peer, this.#ports.nowMs())
    this.#schedule()
  }

  /** Routing named this peer, which is connected, for a CID of the session. */
  providerFound(session: number, peer: PeerKey): void {
    this.#core.providerFound(session, peer, this.#ports.nowMs())
    this.#schedule()
  }

  /** The peer asked us for blocks: where we want them too, it fetches the same. */
  peerWants(peer: PeerKey, cids: Iterable<CID>): void {
    if (this.#entries.size === 0 || this.#stopped) return
    const nowMs = this.#ports.nowMs()
    for (const cid of cids) this.#core.peerWants(peer, blockKey(cid), nowMs)
  }

  receiveBytes(peer: PeerKey, bytes: number): void {
    this.#core.receiveBytes(peer, bytes, this.#ports.nowMs())
  }

  /** The peer says that it refuses wants for load, for so long. */
  peerBusy(peer: PeerKey, forMs: number): void {
    this.#core.receiveBusy(peer, forMs, this.#ports.nowMs())
  }

  standingAt(peer: PeerKey): Standing[] {
    return this.#core.standingAt(peer)
  }

  /** Takes in blocks and presences of a message of so many bytes. A promise, where the store is behind, holds the reading back. */
  receive(peer: PeerKey, message: DecodedMessage, bytes: number): Promise<void> | undefined {
    if (this.#stopped) return undefined
    let isOfUse = false
    for (const block of message.blocks) if (this.#receiveBlock(peer, block)) isOfUse = true
    if (!isOfUse) this.#core.receiveTalk(peer, bytes)
    const nowMs = this.#ports.nowMs()
    this.#core.receivePendingBytes(peer, message.pendingBytes, nowMs)
    for (const { cid, presence } of message.presences) {
      const key = blockKey(cid)
      this.#core.receivePresence(peer, key, presence, nowMs)
      const entry = presence === 'have' ? this.#entries.get(key) : undefined
      if (entry !== undefined) this.#ports.claimed(peer, entry.cid)
      if (presence === 'dont-have' && this.#listening > 0) this.progress(progressEvent('shardswap:dont-have', { cid, peer }))
    }
    if (message.blocks.length > 0 || message.presences.length > 0) this.#schedule()
    if (this.#backlogBytes <= this.#limits.storeBacklogBytesMax) return undefined
    if (this.#backlogWaiters.length === 0) this.#core.holdReading(true, nowMs)
    return new Promise((resolve) => this.#backlogWaiters.push(resolve))
  }

  /** Somebody put a block here: whoever waits for it has it. */
  put(cid: CID, bytes: Uint8Array): void {
    const key = blockKey(cid)
    this.#core.putBlock(key, this.#ports.nowMs())
    const entry = this.#entries.get(key)
    if (entry !== undefined) this.#settle(entry, bytes)
    this.#schedule()
  }

  #wait(session: number, cid: CID, options: GetOptions): Promise<Uint8Array> {
    return new Promise<Uint8Array>((resolve, reject) => this.#join(cid, new Waiter(session, options, resolve, reject), options.timeoutMs))
  }

  #join(cid: CID, waiter: Waiter, timeoutMs: number | undefined): void {
    const key = blockKey(cid)
    const known = this.#entries.get(key)
    const entry = known ?? new Entry(cid, key)
    entry.add(waiter)
    if (waiter.onProgress !== undefined) this.#listening += 1
    waiter.watchSignal((signal) => this.#reject(entry, waiter, abortError(signal)))
    if (timeoutMs !== undefined) this.#watchTime(entry, waiter, timeoutMs)
    if (known === undefined) {
      this.#entries.set(key, entry)
      this.#lookUp(entry)
    } else if (entry.state === 'wanted') {
      this.#core.addWant(waiter.session, entry.cid, key, this.#ports.nowMs())
      this.#schedule()
    }
  }

  #watchTime(entry: Entry, waiter: Waiter, timeoutMs: number): void {
    waiter.watchTime(timeoutMs, () =>
      this.#reject(entry, waiter, new TimeoutError(`no block for ${entry.cid.toString()} within ${timeoutMs} ms`))
    )
  }

  /** The store first; what is not there is wanted from peers by every session that waits by then. */
  #lookUp(entry: Entry): void {
    let found: ReturnType<LocalStore['find']>
    try {
      found = this.#ports.store.find(entry.cid, entry.key)
    } catch (error) {
      this.#fail(entry, error)
      return
    }
    if (!(found instanceof Promise)) {
      this.#lookedUp(entry, found)
      return
    }
    this.#lookUpLater(entry, found)
  }

  #lookUpLater(entry: Entry, found: Promise<Uint8Array | undefined>): void {
    found.then(
      (bytes) => this.#lookedUp(entry, bytes),
      (error: unknown) => this.#fail(entry, error)
    )
  }

  #lookedUp(entry: Entry, bytes: Uint8Array | undefined): void {
    if (this.#entries.get(entry.key) !== entry || entry.state !== 'looking') return
    if (bytes !== undefined) {
      this.#settle(entry, bytes)
      return
    }
    if (isEmptyBlock(entry.cid)) {
      // Kubo and others say DONT_HAVE to it although they have it: its size is 0.
      this.#store(entry, new Uint8Array(0))
      return
    }
    entry.state = 'wanted'
    const nowMs = this.#ports.nowMs()
    // A session that wants it already is told so once more: that changes nothing.
    for (const { session } of entry.waiters()) this.#core.addWant(session, entry.cid, entry.key, nowMs)
    this.#schedule()
  }

  #resolve(entry: Entry, waiter: Waiter, bytes: Uint8Array): void {
    if (bytes.byteLength > waiter.maxBytes) this.#reject(entry, waiter, tooLarge(entry.cid, bytes, waiter.maxBytes))
    else if (this.#leave(entry, waiter)) waiter.resolve(bytes)
  }

  #reject(entry: Entry, waiter: Waiter, error: unknown): void {
    if (!this.#leave(entry, waiter)) return
    waiter.reject(error)
  }

  /** The last of a session to leave ends its want. False where the waiter had left. */
  #leave(entry: Entry, waiter: Waiter): boolean {
    if (!entry.remove(waiter)) return false
    if (waiter.onProgress !== undefined) this.#listening -= 1
    if (entry.isDeserted && entry.state !== 'storing') this.#forget(entry)
    if (entry.state === 'wanted' && !this.#stopped && !entry.has(waiter.session)) {
      this.#core.dropWant(waiter.session, entry.key, this.#ports.nowMs())
      this.#schedule()
    }
    return true
  }

  #settle(entry: Entry, bytes: Uint8Array): void {
    this.#forget(entry)
    // The want is over: leaving must not drop it again.
    entry.state = 'storing'
    for (const waiter of entry.waiters()) this.#resolve(entry, waiter, bytes)
  }

  /** While one entry was being stored somebody may have put its block, and others asked for it anew: theirs stays. */
  #forget(entry: Entry): void {
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key)
  }

  #fail(entry: Entry, error: unknown): void {
    this.#forget(entry)
    entry.state = 'storing'
    for (const waiter of entry.waiters()) this.#reject(entry, waiter, error)
  }

  /** The one place where a block that came from a peer is hashed; nothing sees it before. Returns whether it answers what we asked. */
  #receiveBlock(peer: PeerKey, block: WireBlock): boolean {
    const { hashCode, digestBytes } = block.prefix
    const nowMs = this.#ports.nowMs()
    const key = blockKeyFor(hashCode, digestBytes, block.data)
    if (key === undefined) {
      if (this.#core.receiveUnasked(peer, nowMs)) this.#logShutOut(peer)
      return false
    }
    const arrival = this.#core.receiveBlock(peer, key, block.data.byteLength, nowMs)
    if (arrival.kind === 'unasked' && arrival.shutOut) this.#logShutOut(peer)
    if (arrival.kind !== 'wanted') return arrival.kind === 'duplicate' && !arrival.isAgain
    const entry = this.#entries.get(key)
    this.#ports.received(peer, block.data.byteLength, entry?.cid)
    if (entry === undefined) return true
    const bytes = keep(block.data)
    if (this.#listening > 0) {
      this.progress(progressEvent('shardswap:block', { cid: entry.cid, peer, bytes: bytes.byteLength }))
    }
    this.#store(entry, bytes)
    return true
  }

  /** Stores, then delivers: what a caller has seen is as durable as the store promises. */
  #store(entry: Entry, bytes: Uint8Array): void {
    entry.state = 'storing'
    for (const waiter of entry.waiters()) if (bytes.byteLength > waiter.maxBytes) this.#resolve(entry, waiter, bytes)
    if (entry.isDeserted) this.#forget(entry)
    else this.#storeFor(entry, bytes)
  }

  #storeFor(entry: Entry, bytes: Uint8Array): void {
    let stored: void | Promise<void>
    try {
      stored = this.#ports.store.put(entry.cid, bytes, entry.key)
    } catch (error) {
      this.#fail(entry, error)
      return
    }
    if (stored === undefined) this.#stored(entry, bytes)
    else this.#storeLater(entry, bytes, stored)
  }

  #stored(entry: Entry, bytes: Uint8Array): void {
    this.#settle(entry, bytes)
    this.#ports.stored(entry.cid, bytes.byteLength)
  }

  #storeLater(entry: Entry, bytes: Uint8Array, stored: Promise<void>): void {
    this.#backlogBytes += bytes.byteLength
    const finish = (): void => {
      this.#backlogBytes -= bytes.byteLength
      if (this.#backlogBytes > this.#limits.storeBacklogBytesMax / 2) return
      if (this.#backlogWaiters.length > 0) this.#readOn()
    }
    stored
      .then(
        () => this.#stored(entry, bytes),
        (error: unknown) => this.#fail(entry, error)
      )
      .finally(finish)
      .catch((error: unknown) => this.#ports.log.error('after storing a block - %e', error))
  }

  /** The store has caught up. */
  #readOn(): void {
    this.#core.holdReading(false, this.#ports.nowMs())
    for (const waiter of this.#backlogWaiters.splice(0)) waiter()
    this.#schedule()
  }

  #logShutOut(peer: PeerKey): void {
    this.#ports.log(
      'peer %s sent %d blocks that match no want: it gets none for %d ms',
      peer,
      this.#limits.unaskedBlocksMax,
      this.#limits.shutOutMs
    )
  }

  /** Whether somebody waits for the block. */
  wants(key: BlockKey): boolean {
    return this.#entries.has(key)
  }

  /** Tells those who wait. A mistake in a callback is logged: thrown from here, it would take the wants of others with it. */
  progress(event: FetchProgress): void {
    if (this.#listening === 0) return
    for (const waiter of this.#entries.get(blockKey(event.detail.cid))?.waiters() ?? []) {
      try {
        waiter.onProgress?.(event)
      } catch (error) {
        this.#ports.log.error('an onProgress callback threw - %e', error)
      }
    }
  }

  /** One decision a turn of the event loop, so that a burst of events makes few messages. */
  #schedule(): void {
    if (this.#immediate !== undefined || this.#stopped) return
    this.#immediate = setImmediate(() => {
      this.#immediate = undefined
      this.#carryOut(this.#core.decide(this.#ports.nowMs()))
      this.#arm()
    })
  }

  #carryOut(commands: readonly Command[]): void {
    for (const command of commands) {
      switch (command.type) {
        case 'send':
          this.#send(command.peer, command.entries)
          break
        case 'timed-out':
          this.progress(progressEvent('shardswap:timeout', { cid: command.cid, peer: command.peer }))
          break
        case 'give-up':
          this.#giveUp(command)
          break
        case 'find-providers':
          this.#ports.findProviders(command.session, command.cid)
          break
      }
    }
  }

  #send(peer: PeerKey, entries: readonly WantEntry[]): void {
    for (const { type, cid, key } of entries) {
      if (type === 'cancel') this.#ports.cancel(peer, cid, key)
      else {
        const wantType = type === 'want-block' ? 'block' : 'have'
        this.#ports.want(peer, cid, key, wantType)
        if (this.#listening > 0) this.progress(progressEvent('shardswap:want', { cid, peer, wantType }))
      }
    }
    this.#ports.flush(peer)
  }

  #giveUp(command: Command & { type: 'give-up' }): void {
    const entry = this.#entries.get(command.key)
    if (entry === undefined) return
    const error = notFound(entry.cid, command)
    for (const waiter of entry.waiters()) if (!waiter.patient) this.#reject(entry, waiter, error)
  }

  /** One timer for all deadlines; none while nothing is to be looked at. */
  #arm(): void {
    if (this.#stopped) return
    const wakeMs = this.#core.wakeAtMs()
    if (wakeMs === undefined) return
    const nowMs = this.#ports.nowMs()
    if (wakeMs === 0) {
      this.#schedule()
      return
    }
    const inMs = Math.min(Math.max(wakeMs - nowMs, tickMinMs), tickMaxMs)
    if (this.#timer !== undefined) {
      if (this.#timerDueMs <= nowMs + inMs + tickMinMs) return
      clearTimeout(this.#timer)
    }
    this.#timerDueMs = nowMs + inMs
    this.#timer = setTimeout(() => this.#tick(nowMs + inMs), inMs)
  }

  #tick(dueMs: number): void {
    this.#timer = undefined
    // Late: our own event loop was busy, and answers may wait unread. They are read before anybody is blamed.
    const lateMs = this.#ports.nowMs() - dueMs
    if (lateMs > 2 * tickMinMs) {
      this.#timerDueMs = this.#ports.nowMs() + tickMinMs
      this.#timer = setTimeout(() => this.#tick(this.#ports.nowMs()), tickMinMs)
      return
    }
    this.#carryOut(this.#core.tick(this.#ports.nowMs()))
    this.#arm()
  }
}
