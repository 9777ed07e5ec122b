import type { CID, PeerKey } from '@shardswap/interface'
import type { DecodedMessage } from '@shardswap/protocol'
import { Engine, sendTimeoutMs, verifyServeLimits } from '@shardswap/server'
import type { Admission, AdmissionReason, Envelope, Ledger, Sending, ServeGauges, ServeLimits, Want } from '@shardswap/server'
import type { Logger } from '@libp2p/interface'
import type { LedgerStat, ServeStat } from '../types.ts'
import { IntakeGate } from './intake-gate.ts'
import type { LocalBlocks, ServerLinks } from './types.ts'

/** What a server needs from around it. */
export interface ServerPorts {
  readonly store: LocalBlocks
  readonly links: ServerLinks
  /** Milliseconds on a clock that never jumps. */
  nowMs(): number
  /** Tells a peer that speaks our side protocol that we have no room for it, before it hears DONT_HAVE of what we have. */
  readonly tellBusy?: ((peer: PeerKey) => Promise<void>) | undefined
  readonly log?: Logger | undefined
}

/** Who is refused for these may be let in soon. */
const loadReasons: ReadonlySet<AdmissionReason> = new Set(['full', 'low-score', 'low-free-score'])

/** Bytes of a block, where it is here. */
type Size = number | undefined

/** An envelope whose blocks are being read, in order. */
interface Reading {
  readonly envelope: Envelope
  next: number
  left: number
}

/**
 * Answers wants from the local store. The engine decides; this part asks the
 * store, hands messages to the links, and keeps their deadlines. Outcomes of
 * the network and the store never throw here.
 */
export class Server {
  readonly #ports: ServerPorts
  readonly #limits: ServeLimits
  readonly #engine: Engine
  readonly #intake: IntakeGate
  readonly #sends = new Map<PeerKey, { readonly abort: AbortController; done: Promise<void> }>()
  readonly #retries = new Map<PeerKey, ReturnType<typeof setTimeout>>()
  /** Peers that are being told that we are busy: nothing leaves for them meanwhile. */
  readonly #busy = new Set<PeerKey>()
  readonly #reading: Reading[] = []
  /** Streams whose reading is held back. */
  #held: { readonly peer: PeerKey; readonly go: () => void }[] = []
  #readers = 0
  #lookups = 0
  /** Since when sizes are looked up without others having had their turn. */
  #turnMs = 0
  #pumpDue = false
  #isPumping = false
  #stopped = false

  /** Errors: InvalidParametersError where the limits contradict each other. */
  constructor(ports: ServerPorts, limits: Partial<ServeLimits>, admission: Admission) {
    this.#ports = ports
    this.#limits = verifyServeLimits(limits)
    this.#engine = new Engine(this.#limits, admission)
    this.#intake = new IntakeGate(this.#limits, () => ports.nowMs())
  }

  /** A connection to the peer stands; also the sign that sends to it may be tried again. */
  peerConnected(peer: PeerKey): void {
    if (this.#stopped) return
    this.#engine.connected(peer)
    this.#pump()
  }

  /** The last connection to the peer is gone: its wants are forgotten. */
  peerDisconnected(peer: PeerKey): void {
    this.#engine.disconnected(peer)
    this.#intake.left(peer)
    this.#cancelRetry(peer)
    this.#sends.get(peer)?.abort.abort()
    this.#letGo()
    this.#pump()
  }

  /** A message of the peer's was read; `talkMs` of that for what is no block. */
  took(peer: PeerKey, talkMs: number): void {
    this.#intake.took(peer, talkMs)
  }

  /** A promise where the peer has said more than its share: its next message has to wait for it, unread. */
  mayTake(peer: PeerKey): Promise<void> | undefined {
    return this.#intake.wait(peer)
  }

  /**
   * Takes the wantlist of a message; its blocks and presences are none of the
   * server's business. A promise, where the peer asks faster than the store
   * can say what is there, should hold the reading of its stream back.
   */
  handleMessage(peer: PeerKey, message: DecodedMessage): Promise<void> | undefined {
    if (this.#stopped) return undefined
    const retryMs = this.#engine.message(peer, message, this.#ports.nowMs())
    if (retryMs !== undefined && !this.#retries.has(peer)) this.#retryIn(peer, retryMs)
    this.#lookUp()
    this.#pump()
    if (!this.#engine.isBehind(peer)) return undefined
    return new Promise((resolve) => this.#held.push({ peer, go: resolve }))
  }

  /** A block of `sizeBytes` is in the store now. */
  blockArrived(cid: CID, sizeBytes: number): void {
    if (this.#stopped || !this.#engine.blockArrived(cid, sizeBytes, this.#ports.nowMs())) return
    // Blocks often arrive by the hundred; those of one tick leave together.
    if (this.#pumpDue) return
    this.#pumpDue = true
    queueMicrotask(() => {
      this.#pumpDue = false
      this.#pump()
    })
  }

  /** Whether a client waits for a block that was not here when it asked. */
  isWanted(cid: CID): boolean {
    return this.#engine.isWanted(cid)
  }

  /** The peer sent us verified blocks that we wanted; only its ledger's counters change. */
  blocksReceived(peer: PeerKey, blocks: number, bytes: number): void {
    this.#engine.blocksReceived(peer, blocks, bytes)
  }

  /** What is known of a peer; undefined for one that is neither connected nor wants anything. */
  ledger(peer: PeerKey): LedgerStat | undefined {
    const ledger = this.#engine.ledger(peer)
    return ledger && ledgerStat(ledger, this.#ports.nowMs())
  }

  /** The same of every peer. */
  ledgers(): LedgerStat[] {
    return Array.from(this.#engine.ledgers(), (ledger) => ledgerStat(ledger, this.#ports.nowMs()))
  }

  stat(): ServeStat {
    return this.#engine.stat()
  }

  gauges(): ServeGauges {
    return this.#engine.gauges()
  }

  /** Gives up what is not written and forgets everybody. Resolves once no send is running. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#intake.stop()
    this.#engine.clear()
    for (const peer of Array.from(this.#retries.keys())) this.#cancelRetry(peer)
    const sends = Array.from(this.#sends.values())
    for (const send of sends) send.abort.abort()
    this.#letGo()
    await Promise.all(sends.map((send) => send.done))
  }

  /** Asks the store for sizes, a few batches at a time. */
  #lookUp(): void {
    while (this.#lookups < this.#limits.lookupBatchesMax) {
      const wants = this.#engine.takeLookups()
      if (wants.length === 0) return
      const sizes = wants.map((want) => this.#size(want))
      if (sizes.every((size): size is Size => !(size instanceof Promise))) {
        this.#engine.lookedUp(wants, sizes, this.#ports.nowMs())
        this.#pump()
        continue
      }
      this.#lookups++
      void this.#lookUpBatch(wants, sizes)
    }
  }

  async #lookUpBatch(wants: readonly Want[], sizes: readonly (Size | Promise<Size>)[]): Promise<void> {
    const known = await Promise.all(sizes.map(async (size) => await size))
    // A store may answer within the turn: thousands of wants, one batch after another, would hold up what others are sent.
    if (this.#ports.nowMs() - this.#turnMs > this.#limits.lookupTurnMs) {
      await new Promise((resolve) => setImmediate(resolve))
      this.#turnMs = this.#ports.nowMs()
    }
    this.#lookups--
    this.#engine.lookedUp(wants, known, this.#ports.nowMs())
    this.#lookUp()
    this.#pump()
    this.#letGo()
  }

  /** Lets streams be read again whose peers' wants are mostly looked up. */
  #letGo(): void {
    if (this.#held.length === 0) return
    const held = this.#held
    this.#held = held.filter(({ peer }) => this.#engine.isBehind(peer))
    for (const { peer, go } of held) if (!this.#engine.isBehind(peer)) go()
  }

  /** A store that cannot say has nothing to serve; the client asks another peer. */
  #size(want: Want): Size | Promise<Size> {
    try {
      const size = this.#ports.store.size(want.cid, want.blockKey)
      return size instanceof Promise ? size.catch(() => undefined) : size
    } catch {
      return undefined
    }
  }

  /** Starts whatever the engine allows. An envelope is begun when a reader is free, so that whose turn it is is known late. */
  #pump(): void {
    // What a store in memory gave within the loop is seen by its next round.
    if (this.#isPumping) return
    this.#isPumping = true
    try {
      this.#serveAll()
    } finally {
      this.#isPumping = false
    }
  }

  #serveAll(): void {
    for (;;) {
      const canRead = this.#readers < this.#limits.readsMax
      if (canRead && this.#reading.length > 0) {
        this.#readers++
        void this.#read()
        continue
      }
      const envelope = this.#engine.nextEnvelope(this.#ports.nowMs(), canRead)
      if (!envelope) return
      if (envelope.ready) this.#flush(envelope.ledger.peer)
      else this.#reading.push({ envelope, next: 0, left: envelope.wants.length })
    }
  }

  /** One of up to `readsMax` readers: reads block after block until none is left. */
  async #read(): Promise<void> {
    for (;;) {
      const reading = this.#reading[0]
      if (!reading) break
      const index = reading.next++
      if (reading.next === reading.envelope.wants.length) this.#reading.shift()
      const want = reading.envelope.wants[index] as Want
      if (want.state === 'reading' && !reading.envelope.discarded) {
        const found = this.#block(want)
        const bytes = found instanceof Promise ? await found : found
        if (!reading.envelope.discarded) reading.envelope.blocks[index] = bytes
      }
      if (--reading.left === 0) this.#readAll(reading.envelope)
    }
    // All were busy until now: there may be envelopes that nobody could begin.
    if (this.#readers-- === this.#limits.readsMax) this.#pump()
  }

  #readAll(envelope: Envelope): void {
    this.#engine.blocksRead(envelope)
    this.#flush(envelope.ledger.peer)
    this.#pump()
  }

  #block(want: Want): Uint8Array | undefined | Promise<Uint8Array | undefined> {
    try {
      const block = this.#ports.store.get(want.cid, want.blockKey)
      return block instanceof Promise ? block.catch(() => undefined) : block
    } catch {
      return undefined
    }
  }

  /** Writes the peer's prepared envelope, unless an earlier one is still being written. */
  #flush(peer: PeerKey): void {
    if (this.#stopped || this.#sends.has(peer)) return
    this.#noteTurnedAway()
    // DONT_HAVE of what it was promised would make it look elsewhere for good.
    if (this.#busy.has(peer)) return
    const sending = this.#engine.startSend(peer, this.#ports.nowMs())
    if (!sending) return
    const abort = new AbortController()
    const running = { abort, done: Promise.resolve() }
    this.#sends.set(peer, running)
    running.done = this.#send(peer, sending, abort)
  }

  /** Says in the log who has to wait or is refused, and why; and to those who are refused for load that we are busy. */
  #noteTurnedAway(): void {
    for (const { peer, decision, requests } of this.#engine.takeTurnedAway()) {
      this.#ports.log?.trace('%s: %d wants %s (%s)', peer, requests, decision.action === 'wait' ? 'wait' : 'are refused', decision.reason)
      if (decision.action !== 'refuse' || !loadReasons.has(decision.reason) || this.#ports.tellBusy === undefined) continue
      if (this.#busy.has(peer)) continue
      this.#busy.add(peer)
      const goOn = (): void => {
        this.#busy.delete(peer)
        this.#flush(peer)
      }
      void this.#ports.tellBusy(peer).then(goOn, goOn)
    }
  }

  async #send(peer: PeerKey, sending: Sending, abort: AbortController): Promise<void> {
    const timeoutMs = sendTimeoutMs(sending.bytes, this.#limits)
    const slowMs = Math.min(this.#limits.sendSlowMs, timeoutMs)
    // Most sends end long before they are slow.
    let timer = setTimeout(() => {
      timer = setTimeout(() => abort.abort(), timeoutMs - slowMs)
      this.#late(sending.envelope)
    }, slowMs)
    let ok = false
    try {
      ok = await this.#ports.links.send(peer, sending.message, abort.signal)
    } catch {
      // A link that throws wrote nothing that may be counted.
    }
    clearTimeout(timer)
    this.#sends.delete(peer)
    const retryMs = this.#engine.sent(sending.envelope, ok, this.#ports.nowMs())
    if (this.#stopped) return
    if (retryMs !== undefined) this.#retryIn(peer, retryMs)
    this.#flush(peer)
    this.#pump()
  }

  #late(envelope: Envelope): void {
    for (const peer of this.#engine.late(envelope, this.#ports.nowMs())) this.#sends.get(peer)?.abort.abort()
    this.#pump()
  }

  #retryIn(peer: PeerKey, delayMs: number): void {
    this.#cancelRetry(peer)
    const timer = setTimeout(() => {
      this.#retries.delete(peer)
      this.#engine.rearm(peer)
      this.#pump()
    }, delayMs)
    this.#retries.set(peer, timer)
  }

  #cancelRetry(peer: PeerKey): void {
    clearTimeout(this.#retries.get(peer))
    this.#retries.delete(peer)
  }
}

function ledgerStat(ledger: Ledger, nowMs: number): LedgerStat {
  const { peer, wants, counted, openRequests, queuedBytes, servedMs, slow: isSlow, waits: isWaiting, turnedAway } = ledger
  const cids = Array.from(wants.values(), (want) => want.cid)
  const last = servedMs === undefined ? {} : { lastServedMsAgo: nowMs - servedMs }
  return { peer, wants: cids, ...counted, openRequests, queuedBytes, isSlow, isWaiting, turnedAway, ...last }
}
