import type { Command, ExchangeCore, SessionId, WantEntry } from '@shardswap/broker'
import type { BlockKey, CID, PeerKey } from '@shardswap/interface'
import type { SimulatedBlock } from '../engine/block.ts'
import type { Scheduled, VirtualClock } from '../engine/clock.ts'
import type { Message, WireEntry } from '../engine/message.ts'
import type { Judge } from '../checkers/judge.ts'
import { FetchFigures } from './figures.ts'
import type { Watch } from './watch.ts'

export interface FetchingPorts {
  readonly clock: VirtualClock
  readonly core: ExchangeCore
  readonly watch: Watch
  /** Of cores with a reliability layer. */
  readonly judge: Judge | undefined
  readonly storeDelayMs: number
  has(block: SimulatedBlock): boolean
  block(cid: CID): SimulatedBlock
  /** A wanted block came and is in the store from now on. */
  store(block: SimulatedBlock): void
  supportsHave(peer: PeerKey): boolean
  send(peer: PeerKey, message: Message): void
  findProviders(session: SessionId, cid: CID): void
}

interface Waiter {
  readonly session: SessionId
  readonly startedMs: number
  readonly done: (ok: boolean) => void
}

interface Entry {
  readonly block: SimulatedBlock
  readonly waiters: Set<Waiter>
  isWanted: boolean
}

/** No timer of a real node is finer. */
const timerMinMs = 1
const priorityMax = 2 ** 31 - 1
/** The key of a block whose bytes are wrong: nobody ever asks for it. */
const wrongKey = 'wrong' as BlockKey

/** The shell around a fetching core: callers, the store, messages and the one timer, as the peer has them. */
export class Fetching {
  readonly figures: FetchFigures
  readonly core: ExchangeCore
  readonly #ports: FetchingPorts
  readonly #entries = new Map<BlockKey, Entry>()
  readonly #firstKeys = new Set<BlockKey>()
  readonly #openSessions = new Map<SessionId, boolean>()
  #nextSession = 0
  #priority = priorityMax
  #isDecisionPlanned = false
  #timer: { readonly atMs: number; readonly scheduled: Scheduled } | undefined
  /** Callers to be told once the message that they waited for is taken in. */
  #settled: (() => void)[] = []

  constructor(ports: FetchingPorts) {
    this.#ports = ports
    this.figures = new FetchFigures(ports.judge)
    this.core = ports.core
  }

  openSession(fixedPeers?: ReadonlySet<PeerKey>): SessionId {
    const id = this.#nextSession++
    this.core.openSession(id, { fixedPeers }, this.#nowMs)
    this.#openSessions.set(id, false)
    return id
  }

  /** Ends a session: whoever still waits in it fails. */
  closeSession(id: SessionId): void {
    for (const entry of this.#entries.values()) {
      for (const waiter of entry.waiters) if (waiter.session === id) this.#leave(entry, waiter, false)
    }
    this.core.closeSession(id, this.#nowMs)
    this.#openSessions.delete(id)
    this.#plan()
    this.#tellSettled()
  }

  /** Fetches a block; `done` is told once, later at this instant at the soonest. Returns what gives it up. */
  get(session: SessionId, block: SimulatedBlock, done: (ok: boolean) => void): () => void {
    const entry = this.#entries.get(block.key) ?? { block, waiters: new Set(), isWanted: false }
    const waiter: Waiter = { session, startedMs: this.#nowMs, done }
    const isNew = entry.waiters.size === 0
    entry.waiters.add(waiter)
    this.#entries.set(block.key, entry)
    if (entry.isWanted) this.#want(entry, session)
    else if (isNew) this.#ports.clock.in(this.#ports.storeDelayMs, () => this.#lookedUp(entry))
    return () => {
      this.#leave(entry, waiter, false)
      this.#plan()
      this.#tellSettled()
    }
  }

  connect(peer: PeerKey): void {
    const supportsHave = this.#ports.supportsHave(peer)
    this.#ports.watch.connected(peer, supportsHave)
    this.core.connectPeer(peer, supportsHave, this.#nowMs)
    this.#plan()
  }

  disconnect(peer: PeerKey): void {
    this.#ports.watch.disconnected(peer)
    this.core.disconnectPeer(peer, this.#nowMs)
    this.#plan()
  }

  providerFound(session: SessionId, peer: PeerKey): void {
    if (!this.#openSessions.has(session)) return
    this.core.providerFound(session, peer, this.#nowMs)
    this.#plan()
  }

  /** The block is here by other means. */
  put(block: SimulatedBlock): void {
    this.core.putBlock(block.key, this.#nowMs)
    const entry = this.#entries.get(block.key)
    if (entry !== undefined) this.#settle(entry)
    this.#plan()
    this.#tellSettled()
  }

  receiveBytes(peer: PeerKey, bytes: number): void {
    this.core.receiveBytes(peer, bytes, this.#nowMs)
  }

  /** A whole message of so many bytes. */
  receive(peer: PeerKey, message: Message, bytes: number): void {
    this.figures.messagesIn += 1
    let isOfUse = false
    for (const { block, isSound } of message.blocks) if (this.#receiveBlock(peer, block, isSound)) isOfUse = true
    if (!isOfUse) this.core.receiveTalk(peer, bytes)
    for (const { block, presence } of message.presences) {
      this.#ports.watch.presence(peer, block.key, presence)
      this.core.receivePresence(peer, block.key, presence, this.#nowMs)
    }
    if (message.blocks.length > 0 || message.presences.length > 0) {
      this.core.receivePendingBytes(peer, message.pendingBytes, this.#nowMs)
    }
    for (const entry of message.entries) {
      if (!entry.cancel) this.core.peerWants(peer, this.#ports.block(entry.cid).key, this.#nowMs)
    }
    this.#plan()
    this.#tellSettled()
  }

  get #nowMs(): number {
    return this.#ports.clock.nowMs()
  }

  #receiveBlock(peer: PeerKey, block: SimulatedBlock, isSound: boolean): boolean {
    const { figures } = this
    const key = isSound ? block.key : wrongKey
    const entry = this.#entries.get(key)
    const waits = entry?.isWanted === true && entry.waiters.size > 0
    const arrival = this.core.receiveBlock(peer, key, block.bytes, this.#nowMs)
    this.#ports.watch.block(peer, key, block.bytes, arrival, waits)
    figures.blocksIn += 1
    if (arrival.kind === 'unasked') figures.unaskedBlocks += 1
    if (arrival.kind === 'duplicate' && this.#firstKeys.has(key)) figures.firstCopies += 1
    else if (arrival.kind === 'duplicate') {
      figures.duplicateBlocks += 1
      figures.duplicateBytes += block.bytes
    }
    if (arrival.kind !== 'wanted') return arrival.kind === 'duplicate' && !arrival.isAgain
    figures.blocks += 1
    figures.bytes += block.bytes
    const tally = figures.peer(peer)
    tally.blocks += 1
    tally.bytes += block.bytes
    this.#ports.store(block)
    if (entry !== undefined) this.#settle(entry)
    return true
  }

  #lookedUp(entry: Entry): void {
    if (this.#entries.get(entry.block.key) !== entry) return
    if (this.#ports.has(entry.block)) this.#settle(entry)
    else {
      entry.isWanted = true
      for (const session of new Set([...entry.waiters].map((waiter) => waiter.session))) this.#want(entry, session)
    }
    this.#plan()
    this.#tellSettled()
  }

  #want(entry: Entry, session: SessionId): void {
    const { cid, key } = entry.block
    if (this.#openSessions.get(session) === false) {
      this.#openSessions.set(session, true)
      this.#firstKeys.add(key)
    }
    this.#ports.watch.wanted(session, key)
    this.core.addWant(session, cid, key, this.#nowMs)
    this.#plan()
  }

  /** The block is here: everybody who waits has it, and the core knows already. */
  #settle(entry: Entry): void {
    this.#entries.delete(entry.block.key)
    for (const waiter of entry.waiters) {
      if (entry.isWanted) this.#ports.watch.left(waiter.session, entry.block.key)
      this.figures.latenciesMs.push(this.#nowMs - waiter.startedMs)
      this.#settled.push(() => waiter.done(true))
    }
    entry.waiters.clear()
  }

  #leave(entry: Entry, waiter: Waiter, ok: boolean): void {
    if (!entry.waiters.delete(waiter)) return
    this.#settled.push(() => waiter.done(ok))
    if (entry.waiters.size === 0) this.#entries.delete(entry.block.key)
    if (!entry.isWanted) return
    for (const other of entry.waiters) if (other.session === waiter.session) return
    this.#ports.watch.left(waiter.session, entry.block.key)
    this.core.dropWant(waiter.session, entry.block.key, this.#nowMs)
  }

  #tellSettled(): void {
    // Who is told may ask for more at once, so the list may grow meanwhile.
    while (this.#settled.length > 0) for (const tell of this.#settled.splice(0)) tell()
  }

  /** One decision for all events of one instant. */
  #plan(): void {
    if (this.#isDecisionPlanned) return
    this.#isDecisionPlanned = true
    this.#ports.clock.in(0, () => {
      this.#isDecisionPlanned = false
      this.#decide(() => this.core.decide(this.#nowMs))
    })
  }

  #decide(decide: () => readonly Command[]): void {
    const startedMs = performance.now()
    const commands = decide()
    this.figures.decisionMicros += (performance.now() - startedMs) * 1000
    this.#carryOut(commands)
  }

  #carryOut(commands: readonly Command[]): void {
    const { figures } = this
    figures.decisions += 1
    this.#ports.watch.commands(commands)
    for (const command of commands) {
      if (command.type === 'send') this.#send(command.peer, command.entries)
      else if (command.type === 'give-up') this.#giveUp(command.key)
      else if (command.type === 'timed-out') {
        figures.timeouts += 1
        figures.peer(command.peer).timeouts += 1
      } else {
        figures.searches += 1
        this.#ports.findProviders(command.session, command.cid)
      }
    }
    this.#arm()
    this.#tellSettled()
  }

  #send(peer: PeerKey, entries: readonly WantEntry[]): void {
    const sendDontHave = this.#ports.supportsHave(peer)
    const lines: WireEntry[] = []
    for (const { type, cid } of entries) {
      if (type === 'cancel') {
        this.figures.cancels += 1
        lines.push({ cid, priority: 0, cancel: true, wantType: 'block', sendDontHave: false })
        continue
      }
      const wantType = type === 'want-block' ? 'block' : 'have'
      if (wantType === 'have') this.figures.wantHaves += 1
      else {
        this.figures.wantBlocks += 1
        this.figures.peer(peer).wantBlocks += 1
        this.figures.asked.push({ atMs: this.#nowMs, peer })
      }
      lines.push({ cid, priority: this.#priority--, cancel: false, wantType, sendDontHave })
    }
    this.#ports.send(peer, { full: false, entries: lines, blocks: [], presences: [], pendingBytes: 0 })
  }

  /** Simulated callers have no signal of their own. */
  #giveUp(key: BlockKey): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.figures.giveUps += 1
    for (const waiter of entry.waiters) this.#leave(entry, waiter, false)
    this.#plan()
  }

  /** Moves the timer up where something is due sooner; one that fires too soon looks again. */
  #arm(): void {
    const dueMs = this.core.wakeAtMs()
    if (dueMs === undefined) return
    const atMs = Math.max(dueMs, this.#nowMs + timerMinMs)
    if (this.#timer !== undefined && this.#timer.atMs <= atMs) return
    this.#timer?.scheduled.cancel()
    this.#timer = { atMs, scheduled: this.#ports.clock.at(atMs, () => this.#wake()) }
  }

  #wake(): void {
    this.#timer = undefined
    const dueMs = this.core.wakeAtMs()
    if (dueMs === undefined) return
    if (dueMs > this.#nowMs) this.#arm()
    else this.#decide(() => this.core.tick(this.#nowMs))
  }
}
