import { assert, blockKey, cidBytesMax } from '@shardswap/interface'
import type { BlockKey, CID, PeerKey } from '@shardswap/interface'
import { Ledger } from './ledger.ts'
import type { Shares } from './ledger.ts'
import type { ServeLimits } from './limits.ts'
import { Share } from './share.ts'
import type { Answer, AnsweredBlock, AskedEntry, AskingMessage } from './types.ts'
import { cidKey, Want } from './want.ts'
import type { Batch, Envelope } from './want.ts'

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
 * Decides what is sent to whom, and when. Knows no store, stream, clock or
 * timer: the server tells it what happened and does what it says.
 *
 * A want's way: `message` → `takeLookups` → `lookedUp` → `nextEnvelope` →
 * `blocksRead` → `startSend` → `sent`. Peers take turns by envelopes. A peer
 * has at most one envelope being written; behind it some are read ahead, so that
 * a store that takes long to answer fills a fast link all the same, and leave in
 * order, small ones that are ready as one. Together all envelopes hold at most
 * `responseBytesMax`: a quarter of it is for peers whose last send was slow, the
 * rest for the others, so that neither waits for the other. Where it is scarce,
 * an envelope gets an eighth of what is left, so some is always left, and what is
 * read ahead leaves half of it alone.
 */
export class Engine {
  readonly #limits: ServeLimits
  readonly #ledgers = new Map<PeerKey, Ledger>()
  readonly #shares: Shares
  /** Wants that wait for a block, or whose size is being asked at this moment. Most blocks are wanted by one peer. */
  readonly #waiting = new Map<BlockKey, Want | Set<Want>>()
  /** Ledgers with sizes to look up, and those that may get an envelope, each in turn. */
  readonly #toLookUp = new Set<Ledger>()
  readonly #toServe = new Set<Ledger>()
  readonly #index = {
    add: (want: Want): void => {
      const there = this.#waiting.get(want.blockKey)
      if (there === undefined) this.#waiting.set(want.blockKey, want)
      else if (there instanceof Set) there.add(want)
      else this.#waiting.set(want.blockKey, new Set([there, want]))
    },
    remove: (want: Want): void => {
      const there = this.#waiting.get(want.blockKey)
      if (there === want || (there instanceof Set && there.delete(want) && there.size === 0)) this.#waiting.delete(want.blockKey)
    }
  }
  #lookupsWaiting = 0
  #presencesSending = 0
  readonly #responseBytes = { fast: 0, slow: 0 }
  #order = 0
  #blocksSent = 0
  #bytesSent = 0
  #messagesSent = 0

  /** `limits` must have passed verifyServeLimits. */
  constructor(limits: ServeLimits) {
    this.#limits = limits
    this.#shares = {
      wants: new Share(limits.wantsMax, (ledger, places) => {
        ledger.yieldWants(places)
        if (ledger.owes) ledger.ripe = true
        this.#offer(ledger)
      }),
      presences: new Share(limits.presencesMax, (ledger, places) => ledger.yieldPresences(places))
    }
  }

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

  /** Takes a peer's wants and cancels. */
  message(peer: PeerKey, message: AskingMessage): void {
    const { entries, full } = message
    // An empty full list clears, but not where it merely accompanies blocks: old Go servers send it so.
    const clears = full && (entries.length > 0 || (message.blocks.length === 0 && message.presences.length === 0))
    if (entries.length === 0 && !clears) return
    const ledger = this.#ledgers.get(peer) ?? this.#open(peer)
    if (!ledger) return
    if (clears) ledger.clear()
    const asked: AskedEntry[] = []
    for (const entry of entries) {
      if (entry.cid.bytes.length > cidBytesMax) continue
      if (entry.cancel) ledger.cancel(cidKey(entry.cid))
      // An identity CID carries its own bytes: nobody needs it sent.
      else if (entry.cid.multihash.code !== identityHash) asked.push(entry)
    }
    this.#arrive(ledger, asked)
    // A peer that asks is there: try again, unless a timer is about to.
    if (ledger.failures >= this.#limits.sendTriesMax) this.rearm(peer)
    this.#offer(ledger)
  }

  /** Whoever waits for this block is answered now. False where nobody does. */
  blockArrived(cid: CID, sizeBytes: number): boolean {
    const wants = this.#waiting.size === 0 ? undefined : this.#waiting.get(blockKey(cid))
    if (!wants || sizeBytes > this.#limits.blockBytesServedMax) return false
    for (const want of wants instanceof Set ? Array.from(wants) : [wants]) {
      // Its lookup may have missed the block by a moment.
      if (want.state === 'arrived') want.sizeBytes = sizeBytes
      if (want.state !== 'missing') continue
      want.ledger.found(want, sizeBytes)
      this.#offer(want.ledger)
    }
    return true
  }

  /** Of every peer that is connected or wants something. */
  ledgers(): Iterable<Ledger> {
    return this.#ledgers.values()
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
    for (const ledger of this.#toLookUp) {
      this.#toLookUp.delete(ledger)
      const taken = ledger.lookups.splice(0, this.#limits.lookupBatchMax)
      this.#lookupsWaiting -= taken.length
      if (ledger.lookups.length > 0) this.#toLookUp.add(ledger)
      const live: Want[] = []
      for (const want of taken) {
        if (want.state === 'arrived') {
          this.#index.add(want)
          live.push(want)
        } else this.#answeredOne(want)
      }
      if (live.length > 0) return live
      this.#offer(ledger)
    }
    return []
  }

  /** Whether so many sizes are still to be looked up that the peer should wait before it asks for more. */
  isBehind(peer: PeerKey): boolean {
    const waiting = this.#ledgers.get(peer)?.lookups.length ?? 0
    if (waiting === 0) return false
    return waiting * 2 > this.#limits.lookupsPerPeerMax || this.#lookupsWaiting * 2 > this.#limits.lookupsMax
  }

  /** Sizes of the blocks that `takeLookups` named, in its order; undefined where we lack one. */
  lookedUp(wants: readonly Want[], sizesBytes: readonly (number | undefined)[]): void {
    assert(wants.length === sizesBytes.length, 'a size for each want')
    for (const [index, want] of wants.entries()) {
      this.#index.remove(want)
      const { ledger } = want
      if (!ledger.dropped) ledger.lookedUp(want, sizesBytes[index] ?? want.sizeBytes)
      this.#answeredOne(want)
    }
    const ledger = wants[0]?.ledger
    if (!ledger || ledger.dropped) return
    this.#offer(ledger)
  }

  /**
   * The envelope whose blocks are to be read next, or undefined where no peer may have one now.
   * While nothing more can be read, `canRead` is false: then only one that needs no reading is given.
   */
  nextEnvelope(canRead = true): Envelope | undefined {
    // One that waits for room keeps its turn: else small blocks would pass a large one for ever.
    const full = { fast: !canRead, slow: !canRead }
    for (const ledger of this.#toServe) {
      const pool = ledger.slow ? 'slow' : 'fast'
      const readableBytes = full[pool] ? undefined : ledger.readableBytes
      if (readableBytes !== undefined) {
        const isAhead = ledger.hasEnvelope
        const poolBytes = this.#limits.responseBytesMax * (pool === 'slow' ? 0.25 : 0.75)
        // What is read ahead leaves half to those who have nothing yet.
        const roomBytes = poolBytes / (isAhead ? 2 : 1) - this.#responseBytes[pool]
        const needBytes = ledger.firstQueued?.sizeBytes ?? 0
        if (needBytes <= roomBytes) {
          const share = Math.min(ledger.pace.targetBytes, readableBytes, Math.floor(roomBytes / 8))
          return this.#prepare(ledger, pool, ledger.takeBlocks(Math.max(needBytes, share)))
        }
        full[pool] = !isAhead
      }
      // Announcements need no room; where blocks are on their way, they leave with those.
      if (!ledger.hasEnvelope && ledger.owesAnnouncements) return this.#prepare(ledger, pool, [])
    }
    return undefined
  }

  /** All blocks of the envelope are read, or found missing. */
  blocksRead(envelope: Envelope): void {
    envelope.ready = true
    if (envelope.discarded) this.#release(envelope)
  }

  /** What to hand to the peer's link now, if anything. One at a time: `sent` must follow. */
  startSend(peer: PeerKey, nowMs: number): Sending | undefined {
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
    const { ledger } = envelope
    this.#release(envelope)
    if (ok) this.#credit(envelope)
    if (ledger.dropped) return undefined
    assert(ledger.sending === envelope, 'one send at a time')
    ledger.sending = undefined
    ledger.slow = !ok || nowMs - envelope.startedMs > this.#limits.sendSlowMs
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
    if (ledger.failures >= this.#limits.sendTriesMax) return undefined
    return this.#limits.sendRetryDelayMs * 2 ** (ledger.failures - 1)
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

  ledger(peer: PeerKey): Ledger | undefined {
    return this.#ledgers.get(peer)
  }

  stat(): { blocksSent: number; bytesSent: number; messagesSent: number } {
    return { blocksSent: this.#blocksSent, bytesSent: this.#bytesSent, messagesSent: this.#messagesSent }
  }

  gauges(): ServeGauges {
    let queuedBytes = 0
    for (const ledger of this.#ledgers.values()) queuedBytes += ledger.queuedBytes
    return {
      ledgers: this.#ledgers.size,
      wants: this.#shares.wants.taken,
      presences: this.#shares.presences.taken + this.#presencesSending,
      lookups: this.#lookupsWaiting,
      indexedBlocks: this.#waiting.size,
      queuedBytes,
      responseBytes: this.#responseBytes.fast + this.#responseBytes.slow
    }
  }

  #arrive(ledger: Ledger, asked: readonly AskedEntry[]): void {
    const room = Math.min(this.#limits.lookupsPerPeerMax - ledger.lookups.length, this.#limits.lookupsMax - this.#lookupsWaiting)
    const chosen = asked.length <= room ? undefined : highest(asked, room)
    const batch: Batch = { left: 0 }
    for (const [index, entry] of asked.entries()) {
      if (chosen === undefined || chosen[index] === 1) {
        ledger.arrive(new Want(ledger, entry.cid, cidKey(entry.cid), entry, this.#order++, batch))
        batch.left++
      } else ledger.refuseEntry(entry)
    }
    this.#lookupsWaiting += batch.left
    if (batch.left > 0) this.#toLookUp.add(ledger)
    else if (asked.length > 0) ledger.ripe = true
  }

  /** One want of a message is dealt with; after the last the message's answer may leave. */
  #answeredOne(want: Want): void {
    if (--want.batch.left === 0 && want.ledger.owes) want.ledger.ripe = true
  }

  /** HAVE and DONT_HAVE for one envelope: an eighth of what peers that read slowly have left, and always some. */
  #presencesNow(): number {
    const { presencesMax, presencesPerEnvelopeMax } = this.#limits
    return Math.min(presencesPerEnvelopeMax, Math.max(presencesAlways, Math.floor((presencesMax - this.#presencesSending) / 8)))
  }

  #prepare(ledger: Ledger, pool: Envelope['pool'], wants: Want[]): Envelope {
    let bytes = 0
    for (const want of wants) bytes += want.sizeBytes ?? 0
    const envelope: Envelope = {
      ledger,
      wants,
      blocks: Array.from({ length: wants.length }, () => undefined),
      bytes,
      pool,
      ready: wants.length === 0,
      discarded: false,
      released: false,
      announcements: [],
      blocksSent: 0,
      bytesSent: 0,
      startedMs: 0
    }
    this.#responseBytes[pool] += bytes
    ledger.prepare(envelope)
    // What comes from now on is another answer.
    if (!ledger.owes) ledger.ripe = false
    // The next has its turn.
    this.#toServe.delete(ledger)
    this.#offer(ledger)
    return envelope
  }

  /** Puts the ledger into the line of those who may get an envelope, at its end, or takes it out. */
  #offer(ledger: Ledger): void {
    const isDue = ledger.readableBytes !== undefined || (ledger.owesAnnouncements && !ledger.hasEnvelope)
    if ((ledger.ripe || ledger.isFull) && isDue && !ledger.resting && !ledger.dropped) this.#toServe.add(ledger)
    else this.#toServe.delete(ledger)
  }

  #takeBack(envelope: Envelope): void {
    for (const want of envelope.wants) envelope.ledger.putBack(want)
    for (const item of envelope.announcements) envelope.ledger.putBackAnnouncement(item)
  }

  /** Gives up the envelopes that were not sent; their wants wait again. */
  #discardAhead(ledger: Ledger): void {
    for (const envelope of ledger.takeAhead()) {
      envelope.discarded = true
      this.#takeBack(envelope)
      if (envelope.ready) this.#release(envelope)
    }
  }

  #release(envelope: Envelope): void {
    assert(!envelope.released, 'no envelope is released twice')
    envelope.released = true
    this.#responseBytes[envelope.pool] -= envelope.bytes
    this.#presencesSending -= envelope.announcements.length
    envelope.blocks = []
    assert(this.#responseBytes[envelope.pool] >= 0, 'no more is released than was read')
  }

  #credit(envelope: Envelope): void {
    this.#blocksSent += envelope.blocksSent
    this.#bytesSent += envelope.bytesSent
    this.#messagesSent++
    envelope.ledger.counted.blocksSent += envelope.blocksSent
    envelope.ledger.counted.bytesSent += envelope.bytesSent
  }

  #open(peer: PeerKey): Ledger | undefined {
    if (this.#ledgers.size >= this.#limits.ledgersMax && !this.#forgetOne()) return undefined
    const ledger = new Ledger(peer, this.#limits, this.#index, this.#shares)
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
    this.#lookupsWaiting -= ledger.lookups.length
    ledger.lookups = []
    ledger.clear()
    this.#discardAhead(ledger)
    this.#toLookUp.delete(ledger)
    this.#toServe.delete(ledger)
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

/** Marks (1) the `count` entries of highest priority, earlier ones first among equals. */
function highest(entries: readonly AskedEntry[], count: number): Uint8Array {
  const marks = new Uint8Array(entries.length)
  if (count <= 0) return marks
  const priorities = Int32Array.from(entries, (entry) => entry.priority).sort()
  const threshold = priorities[priorities.length - count] as number
  let left = count
  for (const [index, entry] of entries.entries()) {
    if (entry.priority <= threshold) continue
    marks[index] = 1
    left--
  }
  for (const [index, entry] of entries.entries()) {
    if (left === 0) break
    if (entry.priority !== threshold) continue
    marks[index] = 1
    left--
  }
  return marks
}
