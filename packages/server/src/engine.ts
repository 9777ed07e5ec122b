import { assert, blockKey, cidBytesMax } from '@shardswap/interface'
import type { CID, PeerKey } from '@shardswap/interface'
import type { Admission } from './admission/admission.ts'
import { Gate, type TurnedAway } from './gate.ts'
import { Ledger, type LedgerPorts } from './ledger.ts'
import type { ServeLimits } from './limits.ts'
import { Lookups } from './lookups.ts'
import { type Pool, ResponseMemory } from './memory.ts'
import { MissingBlocks } from './missing.ts'
import { Share } from './share.ts'
import { Turns } from './turns.ts'
import type { Answer, AnsweredBlock, AskedEntry, AskingMessage } from './types.ts'
import { bytesOf, cidKey } from './want.ts'
import type { Envelope, Want } from './want.ts'

/** Sizes in bytes, counts of things: all are 0 once every peer has left and every send has ended. */
export interface ServeGauges {
  readonly ledgers: number
  readonly wants: number
  /** HAVE and DONT_HAVE that wait or are being written. */
  readonly presences: number
  readonly lookups: number
  readonly indexedBlocks: number
  readonly queuedBytes: number
  readonly responseBytes: number
}

/** What to hand to the link. */
export interface Sending {
  readonly envelope: Envelope
  readonly message: Answer
  readonly bytes: number
}

const pendingBytesMax = 2 ** 31 - 1
const identityHash = 0x00
/** HAVE and DONT_HAVE that an envelope may have, however many are being written. */
const presencesAlways = 16

/**
 * Decides what is sent to whom, and when. Knows no store, stream, clock or timer: the server tells it what happened and when,
 * and does what it says. A want's way: `message` → `takeLookups` → `lookedUp` → `nextEnvelope` → `blocksRead` → `startSend`
 * → `sent`. Rules, by number where the code applies them, here or in the files that are named:
 *
 * S1. Peers take turns, each worth the same number of bytes; newcomers have every second turn (turns.ts).
 * S2. Within a peer the highest priority goes first, then first come (want.ts).
 * S3. A peer has at most one envelope being written. Behind it some are read ahead, so that a store that takes long to answer
 *     fills a fast link all the same; they leave in order, small ones that are ready as one (ledger.ts). How large they are
 *     follows what the link takes (pace.ts).
 * S4. All that is in memory is bounded, over all peers and for each; peers that read slowly share a quarter of it (memory.ts).
 *     Who waits for room keeps its turn: else small blocks would pass a large one for ever.
 * S5. A send that takes longer than `sendSlowMs` belongs to the slow ones from then on, and what was read ahead for its peer
 *     is let go. Where they have more than their part by it, the sends that take longest are given up, and who did not read one
 *     is sent nothing for `lateRestMs`: each new stream has room for what nobody reads.
 * S6. Each want that is taken is admitted, or waits, or is refused; clients without an owner yield to those with one (gate.ts).
 * S7. What an envelope could not deliver waits again, at its old place. Nothing is credited that was not written.
 * S8. Where nothing is served (mode `off`), every want is denied at once, and none is kept.
 */
export class Engine {
  readonly #limits: ServeLimits
  readonly #gate: Gate
  readonly #ledgers = new Map<PeerKey, Ledger>()
  readonly #ports: LedgerPorts
  readonly #missing = new MissingBlocks()
  readonly #lookups: Lookups
  readonly #memory: ResponseMemory
  readonly #turns: Readonly<Record<Pool, Turns>>
  /** The slow ones are served before the others at the next opportunity. */
  #isSlowOnesTurn = false
  #presencesSending = 0
  /** When it was last told anything. */
  #nowMs = 0
  #blocksSent = 0
  #bytesSent = 0
  #messagesSent = 0

  /** `limits` must have passed verifyServeLimits. Who is admitted says `admission`, which nobody else asks to admit anybody. */
  constructor(limits: ServeLimits, admission: Admission) {
    this.#limits = limits
    this.#gate = new Gate(admission, limits)
    this.#lookups = new Lookups(limits, this.#missing, (ledger) => this.#offer(ledger))
    this.#memory = new ResponseMemory(limits)
    const isStranger = (ledger: Ledger): boolean => !this.#gate.isAttended(ledger)
    this.#turns = { fast: new Turns(limits, isStranger), slow: new Turns(limits, isStranger) }
    const wants = new Share<Ledger>(limits.wantsMax, (ledger, places) => {
      ledger.yieldWants(places)
      if (ledger.owes) ledger.ripe = true
      this.#offer(ledger)
    })
    const presences = new Share<Ledger>(limits.presencesMax, (ledger, places) => ledger.yieldPresences(places))
    this.#ports = { index: this.#missing, shares: { wants, presences }, refuses: (ledger) => this.#gate.refuses(ledger, this.#nowMs) }
  }

  /** The peer is connected: what it says from now on is kept. */
  connected(peer: PeerKey): void {
    const ledger = this.#ledgers.get(peer) ?? this.#open(peer)
    if (!ledger) return
    ledger.connected = true
    ledger.failures = 0
    this.rearm(peer)
  }

  /** Forgets the peer's wants and counters. What is being written is let go when its send ends. */
  disconnected(peer: PeerKey): void {
    const ledger = this.#ledgers.get(peer)
    if (ledger) this.#drop(ledger)
  }

  /** Takes a peer's wants and cancels. Returns when to `rearm` the peer, in milliseconds from now; undefined: not by a timer. */
  message(peer: PeerKey, message: AskingMessage, nowMs: number): number | undefined {
    this.#nowMs = nowMs
    const { entries, full } = message
    // An empty full list clears, but not where it merely accompanies blocks: old Go servers send it so.
    const clears = full && (entries.length > 0 || (message.blocks.length === 0 && message.presences.length === 0))
    if (entries.length === 0 && !clears) return undefined
    const ledger = this.#ledgers.get(peer) ?? this.#open(peer)
    if (!ledger) return undefined
    if (clears) ledger.clear()
    const asked: AskedEntry[] = []
    for (const entry of entries) {
      if (entry.cid.bytes.length > cidBytesMax) continue
      if (entry.cancel) ledger.cancel(cidKey(entry.cid))
      // An identity CID carries its own bytes: nobody needs it sent.
      else if (entry.cid.multihash.code !== identityHash) asked.push(entry)
    }
    if (this.#gate.isShut) this.#deny(ledger, asked)
    else this.#lookups.arrive(ledger, asked)
    // A peer that asks is there: try again, unless a timer is about to, or it asks and does not read (S5).
    const isGivenUp = ledger.failures >= this.#limits.sendTriesMax
    if (isGivenUp && nowMs >= ledger.restsUntilMs) this.rearm(peer)
    this.#offer(ledger)
    return isGivenUp && ledger.resting ? ledger.restsUntilMs - nowMs : undefined
  }

  /** Whoever waits for this block is answered now. False where nobody does. */
  blockArrived(cid: CID, sizeBytes: number, nowMs: number): boolean {
    this.#nowMs = nowMs
    const wants = this.#missing.size === 0 ? [] : this.#missing.of(blockKey(cid))
    if (wants.length === 0 || sizeBytes > this.#limits.blockBytesServedMax) return false
    for (const want of wants) {
      // Its lookup may have missed the block by a moment.
      if (want.state === 'arrived') want.sizeBytes = sizeBytes
      if (want.state !== 'missing') continue
      want.ledger.found(want, sizeBytes)
      this.#offer(want.ledger)
    }
    return true
  }

  /** Whether anybody waits for a block that was not here when it asked. */
  isWanted(cid: CID): boolean {
    return this.#missing.size > 0 && this.#missing.of(blockKey(cid)).length > 0
  }

  /** Verified blocks came from the peer. */
  blocksReceived(peer: PeerKey, blocks: number, bytes: number): void {
    const counted = this.#ledgers.get(peer)?.counted
    if (!counted) return
    counted.blocksReceived += blocks
    counted.bytesReceived += bytes
  }

  /** The next wants of one peer whose sizes are to be asked; empty when there are none. Each goes to `lookedUp`. */
  takeLookups(): Want[] {
    return this.#lookups.take()
  }

  /** Whether so many sizes are still to be looked up that the peer should wait before it asks for more. */
  isBehind(peer: PeerKey): boolean {
    return this.#lookups.isBehind(this.#ledgers.get(peer))
  }

  /** Sizes of the blocks that `takeLookups` named, in its order; undefined where we lack one. */
  lookedUp(wants: readonly Want[], sizesBytes: readonly (number | undefined)[], nowMs: number): void {
    this.#nowMs = nowMs
    this.#lookups.known(wants, sizesBytes)
    const ledger = wants[0]?.ledger
    if (ledger && !ledger.dropped) this.#offer(ledger)
  }

  /**
   * The envelope whose blocks are to be read next, or undefined where no peer may have one now.
   * While nothing more can be read, `canRead` is false: then only one that needs no reading is given.
   */
  nextEnvelope(nowMs: number, canRead = true): Envelope | undefined {
    this.#nowMs = nowMs
    const [first, second] = this.#isSlowOnesTurn ? (['slow', 'fast'] as const) : (['fast', 'slow'] as const)
    this.#isSlowOnesTurn = !this.#isSlowOnesTurn
    return this.#nextOf(first, canRead) ?? this.#nextOf(second, canRead)
  }

  /** All blocks of the envelope are read, or found missing. */
  blocksRead(envelope: Envelope): void {
    envelope.ready = true
    if (envelope.discarded) this.#release(envelope)
  }

  /** What to hand to the peer's link now, if anything. One at a time: `sent` must follow. */
  startSend(peer: PeerKey, nowMs: number): Sending | undefined {
    this.#nowMs = nowMs
    const ledger = this.#ledgers.get(peer)
    if (!ledger || ledger.sending) return undefined
    for (;;) {
      const envelope = ledger.takeReady()
      if (!envelope) break
      const blocks = blocksOf(envelope)
      envelope.announcements = ledger.takeAnnouncements(this.#presencesNow())
      this.#presencesSending += envelope.announcements.length
      if (!ledger.owes) ledger.ripe = false
      if (blocks.length > 0 || envelope.announcements.length > 0) {
        ledger.sending = envelope
        envelope.startedMs = nowMs
        this.#offer(ledger)
        const presences = envelope.announcements.map(({ cid, presence }) => ({ cid, presence }))
        const message = { blocks, presences, pendingBytes: Math.min(ledger.pendingBytes, pendingBytesMax) }
        return { envelope, message, bytes: envelope.bytesSent + presences.length * 64 }
      }
      // All of it was cancelled.
      this.#release(envelope)
    }
    this.#offer(ledger)
    return undefined
  }

  /** The link's answer. Returns when to `rearm` the peer, in milliseconds from now; undefined: not by a timer. */
  sent(envelope: Envelope, ok: boolean, nowMs: number): number | undefined {
    this.#nowMs = nowMs
    const { ledger } = envelope
    this.#release(envelope, ok ? envelope.blocksSent : 0)
    if (ok) this.#credit(envelope)
    if (ledger.dropped) return undefined
    assert(ledger.sending === envelope, 'one send at a time')
    ledger.sending = undefined
    this.#setSlow(ledger, !ok || nowMs - envelope.startedMs > this.#limits.sendSlowMs)
    if (ok) {
      ledger.pace.sent(envelope.bytesSent, nowMs - envelope.startedMs)
      ledger.failures = 0
      for (const want of envelope.wants) ledger.written(want)
      for (const item of envelope.announcements) if (item.want && item.presence === 'have') ledger.written(item.want)
      this.#offer(ledger)
      return undefined
    }
    this.#takeBack(envelope)
    this.#discardAhead(ledger)
    ledger.resting = true
    ledger.ripe = true
    this.#offer(ledger)
    ledger.failures++
    const restMs = envelope.isLate ? this.#limits.lateRestMs : 0
    ledger.restsUntilMs = nowMs + restMs
    if (ledger.failures >= this.#limits.sendTriesMax) return undefined
    return Math.max(restMs, this.#limits.sendRetryDelayMs * 2 ** (ledger.failures - 1))
  }

  /** (S5) The send takes longer than `sendSlowMs`. Returns the peers whose sends should be given up, this one perhaps among them. */
  late(envelope: Envelope, nowMs: number): PeerKey[] {
    this.#nowMs = nowMs
    const { ledger } = envelope
    if (envelope.released || envelope.isLate) return []
    envelope.isLate = true
    this.#memory.slow(envelope)
    this.#gate.late(envelope)
    if (!ledger.dropped) {
      this.#discardAhead(ledger)
      this.#setSlow(ledger, true)
      this.#offer(ledger)
    }
    return this.#gate.tooLate(this.#memory.slowExcessBytes)
  }

  /** The peer may be sent to again after a failed send. */
  rearm(peer: PeerKey): void {
    const ledger = this.#ledgers.get(peer)
    if (!ledger) return
    if (ledger.failures >= this.#limits.sendTriesMax) ledger.failures = 0
    ledger.resting = false
    this.#offer(ledger)
  }

  /** Forgets everybody. */
  clear(): void {
    for (const ledger of Array.from(this.#ledgers.values())) this.#drop(ledger)
  }

  /** Who had to wait or was refused since this was last asked, and why. */
  takeTurnedAway(): readonly TurnedAway[] {
    return this.#gate.takeTurnedAway()
  }

  /** Every peer that is connected or wants something. */
  ledgers(): Iterable<Ledger> {
    return this.#ledgers.values()
  }

  /** What is known of one client; undefined for one that is neither connected nor wants anything. */
  ledger(peer: PeerKey): Ledger | undefined {
    return this.#ledgers.get(peer)
  }

  /** What was served, in all. */
  stat(): { blocksSent: number; bytesSent: number; messagesSent: number } {
    return { blocksSent: this.#blocksSent, bytesSent: this.#bytesSent, messagesSent: this.#messagesSent }
  }

  /** How much is held now. */
  gauges(): ServeGauges {
    let queuedBytes = 0
    for (const ledger of this.#ledgers.values()) queuedBytes += ledger.queuedBytes
    return {
      ledgers: this.#ledgers.size,
      wants: this.#ports.shares.wants.taken,
      presences: this.#ports.shares.presences.taken + this.#presencesSending,
      lookups: this.#lookups.waiting,
      indexedBlocks: this.#missing.size,
      queuedBytes,
      responseBytes: this.#memory.bytes
    }
  }

  /** HAVE and DONT_HAVE for one envelope: an eighth of what peers that read slowly have left, and always some. */
  #presencesNow(): number {
    const { presencesMax, presencesPerEnvelopeMax } = this.#limits
    return Math.min(presencesPerEnvelopeMax, Math.max(presencesAlways, Math.floor((presencesMax - this.#presencesSending) / 8)))
  }

  /** (S8) */
  #deny(ledger: Ledger, asked: readonly AskedEntry[]): void {
    if (asked.length === 0) return
    for (const entry of asked) ledger.refuseEntry(entry)
    this.#gate.turnAway(ledger, asked.length, this.#nowMs)
    ledger.ripe = true
  }

  /** (S1) */
  #nextOf(pool: Pool, canRead: boolean): Envelope | undefined {
    let isFull = !canRead
    const turns = this.#turns[pool]
    for (const ledger of turns.order()) {
      if (!isFull && ledger.readableBytes !== undefined) {
        const wantsMax = this.#gate.room(ledger, turns.size === 1, this.#nowMs)
        // All of it may have been refused.
        if (ledger.queuedBlocks === 0) this.#offer(ledger)
        if (wantsMax > 0) {
          if (turns.sitsOut(ledger)) continue
          const isAhead = ledger.hasEnvelope
          const roomBytes = this.#memory.roomBytes(pool, isAhead)
          if ((ledger.firstQueued?.sizeBytes ?? 0) <= roomBytes) return this.#take(ledger, pool, roomBytes, wantsMax)
          // (S4)
          isFull = !isAhead
        }
      }
      // Announcements need no room; where blocks are on their way, they leave with those.
      if (!ledger.hasEnvelope && ledger.owesAnnouncements) return this.#prepare(ledger, pool, [])
    }
    return undefined
  }

  /** (S2), (S3), (S6) Takes blocks of a peer whose turn it is, and for which there is room. */
  #take(ledger: Ledger, pool: Pool, roomBytes: number, wantsMax: number): Envelope {
    const shareBytes = Math.min(ledger.pace.targetBytes, ledger.readableBytes ?? 0, this.#memory.shareOf(roomBytes))
    const wants = ledger.takeBlocks(Math.max(ledger.firstQueued?.sizeBytes ?? 0, shareBytes), wantsMax)
    // Before it may leave the line.
    this.#turns[pool].took(ledger, bytesOf(wants), this.#nowMs)
    return this.#prepare(ledger, pool, wants)
  }

  #setSlow(ledger: Ledger, isSlow: boolean): void {
    if (ledger.slow === isSlow) return
    this.#turns[ledger.slow ? 'slow' : 'fast'].delete(ledger)
    ledger.slow = isSlow
  }

  #prepare(ledger: Ledger, pool: Pool, wants: Want[]): Envelope {
    const bytes = bytesOf(wants)
    const envelope: Envelope = {
      ledger,
      wants,
      blocks: Array.from({ length: wants.length }, () => undefined),
      bytes,
      pool,
      requests: wants.length,
      isLate: false,
      isStrangers: this.#gate.isStranger(ledger.peer, this.#nowMs),
      ready: wants.length === 0,
      discarded: false,
      released: false,
      announcements: [],
      blocksSent: 0,
      bytesSent: 0,
      startedMs: 0
    }
    this.#memory.take(pool, bytes)
    this.#gate.took(envelope, this.#nowMs)
    ledger.prepare(envelope)
    // What comes from now on is another answer.
    if (!ledger.owes) ledger.ripe = false
    this.#offer(ledger)
    return envelope
  }

  /** Puts the ledger into the line of those who may get an envelope, at its end, or takes it out. */
  #offer(ledger: Ledger): void {
    const isDue = ledger.readableBytes !== undefined || (ledger.owesAnnouncements && !ledger.hasEnvelope)
    const turns = this.#turns[ledger.slow ? 'slow' : 'fast']
    const takesPart = (ledger.ripe || ledger.isFull) && isDue && !ledger.resting && !ledger.dropped
    if (takesPart) turns.add(ledger, this.#nowMs)
    else turns.delete(ledger)
    if (!takesPart || ledger.slow) this.#gate.waitsNoMore(ledger)
    this.#gate.attend(ledger, !ledger.dropped && !ledger.slow && (takesPart || ledger.hasEnvelope), this.#nowMs)
  }

  /** (S7) */
  #takeBack(envelope: Envelope): void {
    for (const want of envelope.wants) envelope.ledger.putBack(want)
    for (const item of envelope.announcements) envelope.ledger.putBackAnnouncement(item)
  }

  /** (S5), (S7) Gives up the envelopes that were not sent; their wants wait again. */
  #discardAhead(ledger: Ledger): void {
    for (const envelope of ledger.takeAhead()) {
      envelope.discarded = true
      this.#takeBack(envelope)
      if (envelope.ready) this.#release(envelope)
    }
  }

  /** (S6) Its memory is free, and what it was admitted for is over; so many of the blocks were written. */
  #release(envelope: Envelope, blocksWritten = 0): void {
    assert(!envelope.released, 'no envelope is released twice')
    envelope.released = true
    this.#memory.give(envelope.pool, envelope.bytes)
    this.#presencesSending -= envelope.announcements.length
    envelope.blocks = []
    this.#gate.ended(envelope, blocksWritten, this.#nowMs)
  }

  /** (S7) */
  #credit(envelope: Envelope): void {
    this.#blocksSent += envelope.blocksSent
    this.#bytesSent += envelope.bytesSent
    this.#messagesSent++
    envelope.ledger.counted.blocksSent += envelope.blocksSent
    envelope.ledger.counted.bytesSent += envelope.bytesSent
    if (envelope.blocksSent > 0) envelope.ledger.servedMs = this.#nowMs
  }

  #open(peer: PeerKey): Ledger | undefined {
    if (this.#ledgers.size >= this.#limits.ledgersMax && !this.#forgetOne()) return undefined
    const ledger = new Ledger(peer, this.#limits, this.#ports)
    this.#ledgers.set(peer, ledger)
    return ledger
  }

  /** Makes room for a ledger: a peer that is not connected goes first, then one that wants nothing. */
  #forgetOne(): boolean {
    let idle: Ledger | undefined
    for (const ledger of this.#ledgers.values()) {
      if (!ledger.connected) {
        this.#drop(ledger)
        return true
      }
      if (!idle && ledger.idle) idle = ledger
    }
    if (idle) this.#drop(idle)
    return idle !== undefined
  }

  #drop(ledger: Ledger): void {
    ledger.dropped = true
    this.#lookups.forget(ledger)
    ledger.clear()
    this.#discardAhead(ledger)
    this.#turns.fast.delete(ledger)
    this.#turns.slow.delete(ledger)
    this.#gate.forget(ledger)
    this.#ledgers.delete(ledger.peer)
  }
}

/** Blocks of an envelope that still go, from now on the message's; a want whose block was missing is answered so. */
function blocksOf(envelope: Envelope): AnsweredBlock[] {
  const blocks: AnsweredBlock[] = []
  for (const [index, want] of envelope.wants.entries()) {
    if (want.state !== 'reading') continue
    const bytes = envelope.blocks[index]
    if (bytes === undefined) {
      envelope.ledger.readMissed(want)
      continue
    }
    want.state = 'sending'
    blocks.push({ cid: want.cid, bytes })
    envelope.bytesSent += bytes.length
  }
  // Nothing else keeps them once they are written.
  envelope.blocks = []
  envelope.blocksSent = blocks.length
  return blocks
}
