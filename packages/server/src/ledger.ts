import { assert } from '@shardswap/interface'
import type { PeerKey } from '@shardswap/interface'
import type { ServeLimits } from './limits.ts'
import { Pace } from './pace.ts'
import type { Share } from './share.ts'
import type { AskedEntry } from './types.ts'
import { cidKey, WantQueue } from './want.ts'
import type { Announcement, CidKey, Envelope, Want } from './want.ts'

/** Told of each want that starts or stops waiting for its block. */
export interface MissingIndex {
  add(want: Want): void
  remove(want: Want): void
}

/** Places of which all ledgers together have so many. */
interface Shares {
  readonly wants: Share<Ledger>
  readonly presences: Share<Ledger>
}

/** What ledgers need from around them. */
export interface LedgerPorts {
  readonly index: MissingIndex
  readonly shares: Shares
  /** (6) Whether the peer's next want is refused at this moment; if so, that is counted. */
  refuses(ledger: Ledger): boolean
}

/**
 * What one peer wants and is owed. Rules, by number where the code applies them:
 * 1. A want leaves when its block, or for a want-have its HAVE, was written; by a cancel; by a full list.
 * 2. DONT_HAVE ends no want: the block is sent when it comes.
 * 3. At most `wantsPerPeerMax` wants, and its share of `wantsMax`. Above it the oldest want for a block that
 *    we lack goes first, then the one of lowest priority; either is told DONT_HAVE if it asked.
 * 4. A want-block takes the place of a want-have, never the other way round.
 * 5. A want asked again while its block is being written is answered again.
 * 6. What is refused, since nobody lets the peer in now, is told DONT_HAVE if it asked, before any HAVE; and not kept.
 */
export class Ledger {
  readonly peer: PeerKey
  readonly #limits: ServeLimits
  readonly #ports: LedgerPorts
  /** Admitted wants. */
  readonly wants = new Map<CidKey, Want>()
  /** Wants whose size is being looked up, or waits for that. */
  readonly arrived = new Map<CidKey, Want>()
  /** The same in order, with those cancelled meanwhile. */
  lookups: Want[] = []
  readonly #missing = new Set<Want>()
  readonly #queue = new WantQueue()
  readonly #announcements = new Map<CidKey, Announcement>()
  /** Envelopes whose blocks are being read or wait in memory, in the order in which they leave. */
  readonly #ahead: Envelope[] = []
  #aheadBytes = 0
  /** The envelope being written. */
  sending: Envelope | undefined = undefined
  readonly pace: Pace
  /** Something may be sent now, even if it fills no envelope: a message's wants are all looked up, or a block arrived. */
  ripe = false
  /** No send until a timer, a message or a connection says so: the last one failed. */
  resting = false
  failures = 0
  /** Until then asking brings no further try: it did not read the last one. */
  restsUntilMs = Number.NEGATIVE_INFINITY
  /** The last send took long or failed. */
  slow = false
  connected = false
  dropped = false
  /** Its place among those who take turns: what it may have before others do, and when it was last given something. */
  readonly turn: { creditBytes: number; takenMs: number | undefined } = { creditBytes: 0, takenMs: undefined }
  /** It has blocks queued and waits for admission. */
  waits = false
  /** Wants for which there was no room: they had to wait or were refused. */
  turnedAway = 0
  /** When the last of its blocks was written. */
  servedMs: number | undefined = undefined
  readonly counted = { bytesSent: 0, blocksSent: 0, bytesReceived: 0, blocksReceived: 0 }

  constructor(peer: PeerKey, limits: ServeLimits, ports: LedgerPorts) {
    this.peer = peer
    this.#limits = limits
    this.#ports = ports
    this.pace = new Pace(limits)
  }

  /** Whether nothing stands, waits or is being written here. */
  get idle(): boolean {
    return this.wants.size === 0 && this.arrived.size === 0 && !this.hasEnvelope && !this.owes
  }

  /** An envelope is being read, waits or is being written. */
  get hasEnvelope(): boolean {
    return this.#ahead.length > 0 || this.sending !== undefined
  }

  /** Bytes of blocks that wait for the peer, those in memory among them. */
  get pendingBytes(): number {
    return this.#queue.bytes + this.#aheadBytes
  }

  /** Bytes that may be read now; undefined where none is queued or too much is ahead already. */
  get readableBytes(): number | undefined {
    const first = this.#queue.first()
    if (first === undefined) return undefined
    if (this.#ahead.length === 0) return Infinity
    // For a slow one a second envelope in memory would only lie there.
    const leftBytes = this.#ahead.length < (this.slow ? 1 : this.#limits.envelopesAheadMax) ? this.pace.aheadBytes - this.#aheadBytes : 0
    return (first.sizeBytes ?? 0) <= leftBytes ? leftBytes : undefined
  }

  /** Blocks or announcements wait. */
  get owes(): boolean {
    return this.#queue.length > 0 || this.#announcements.size > 0
  }

  /** Whether HAVE or DONT_HAVE waits to be said. */
  get owesAnnouncements(): boolean {
    return this.#announcements.size > 0
  }

  /** What is queued fills an envelope. */
  get isFull(): boolean {
    return this.#queue.bytes >= this.pace.targetBytes || this.#queue.length >= this.#limits.envelopeBlocksMax
  }

  /** Blocks that wait for their turn. */
  get queuedBlocks(): number {
    return this.#queue.length
  }

  /** Wants that were admitted and are not written. */
  get openRequests(): number {
    let requests = this.sending?.requests ?? 0
    for (const envelope of this.#ahead) requests += envelope.requests
    return requests
  }

  /** Their bytes. */
  get queuedBytes(): number {
    return this.#queue.bytes
  }

  /** The block whose turn is next. */
  get firstQueued(): Want | undefined {
    return this.#queue.first()
  }

  /** A want that came in a message; its size is looked up next. */
  arrive(want: Want): void {
    const earlier = this.arrived.get(want.key)
    if (earlier) {
      // (4) Two messages before the first lookup: one want of the stronger kind.
      if (earlier.type === 'block') want.type = 'block'
      if (earlier.sendDontHave) want.sendDontHave = true
      earlier.state = 'gone'
    }
    this.arrived.set(want.key, want)
    this.lookups.push(want)
  }

  /** The size of an arrived want's block is known, or that we lack it. */
  lookedUp(want: Want, sizeBytes: number | undefined): void {
    if (this.arrived.get(want.key) !== want) return
    this.arrived.delete(want.key)
    want.sizeBytes = sizeBytes
    const standing = this.wants.get(want.key)
    if (standing) this.#askedAgain(standing, want)
    else if (this.#hasRoom() || this.#makeRoom(want)) this.#admit(want)
    else this.#refuse(want)
  }

  /** A block that `want` waited for is here. */
  found(want: Want, sizeBytes: number): void {
    assert(want.state === 'missing', 'only a missing want is found')
    this.#stopWaiting(want)
    want.sizeBytes = sizeBytes
    this.#answer(want)
    this.ripe = true
  }

  /** A block whose size we knew turned out not to be here. */
  readMissed(want: Want): void {
    if (want.state !== 'reading') return
    want.sizeBytes = undefined
    this.#answer(want)
    // It may be denied, and where too many are for one message, also in the next.
    this.ripe = true
  }

  /** Frees the want and whatever waits for it. */
  cancel(key: CidKey): void {
    const arrived = this.arrived.get(key)
    if (arrived) {
      arrived.state = 'gone'
      this.arrived.delete(key)
    }
    this.#withdraw(key)
    const want = this.wants.get(key)
    if (want) this.#remove(want)
  }

  /** Frees everything: the list was replaced, or the peer left. */
  clear(): void {
    for (const want of this.arrived.values()) want.state = 'gone'
    this.arrived.clear()
    for (const want of this.#missing) this.#ports.index.remove(want)
    this.#missing.clear()
    for (const want of this.wants.values()) want.state = 'gone'
    this.#ports.shares.wants.give(this, this.wants.size)
    this.wants.clear()
    this.#queue.clear()
    this.#ports.shares.presences.give(this, this.#announcements.size)
    this.#announcements.clear()
    this.ripe = false
  }

  /** Takes blocks to read for the next envelope, at least one where any is queued. */
  takeBlocks(bytesMax: number, wantsMax: number): Want[] {
    const wants = this.#queue.take(bytesMax, Math.min(wantsMax, this.#limits.envelopeBlocksMax))
    for (const want of wants) want.state = 'reading'
    return wants
  }

  /** The envelope is the last of those that leave. */
  prepare(envelope: Envelope): void {
    this.#ahead.push(envelope)
    this.#aheadBytes += envelope.bytes
  }

  /** What may leave now: the first envelope, if it is read, and with it what is read behind it and fits one message. */
  takeReady(): Envelope | undefined {
    const first = this.#takeFirst()
    if (first === undefined) return undefined
    const { wants, blocks } = first
    const all = [...wants]
    for (;;) {
      const next = this.#ahead[0]
      if (next === undefined || next.pool !== first.pool || next.isStrangers !== first.isStrangers) break
      if (first.bytes + next.bytes > this.pace.targetBytes || all.length + next.wants.length > this.#limits.envelopeBlocksMax) break
      if (this.#takeFirst() === undefined) break
      first.bytes += next.bytes
      first.requests += next.requests
      all.push(...next.wants)
      blocks.push(...next.blocks)
      next.blocks = []
      next.released = true
    }
    first.wants = all
    return first
  }

  /** Gives up what is read ahead. */
  takeAhead(): Envelope[] {
    this.#aheadBytes = 0
    return this.#ahead.splice(0)
  }

  #takeFirst(): Envelope | undefined {
    const first = this.#ahead[0]
    if (first?.ready !== true) return undefined
    this.#ahead.shift()
    this.#aheadBytes -= first.bytes
    return first
  }

  /** Takes the announcements that leave now. */
  takeAnnouncements(announcementsMax: number): Announcement[] {
    const taken: Announcement[] = []
    for (const item of this.#announcements.values()) {
      if (taken.length >= announcementsMax) break
      this.#withdraw(item.key)
      if (item.presence === 'have' && item.want) item.want.state = 'sending'
      taken.push(item)
    }
    return taken
  }

  /** (1) What was written is answered. */
  written(want: Want): void {
    if (want.state === 'sending') this.#remove(want)
  }

  /** What could not be written waits again, at its old place. */
  putBack(want: Want): void {
    if (want.state !== 'sending' && want.state !== 'reading') return
    want.state = 'queued'
    this.#queue.add(want)
  }

  /** An announcement was not written, and is to be made again. */
  putBackAnnouncement(item: Announcement): void {
    const { want, key } = item
    if (item.presence === 'have') {
      if (want?.state !== 'sending') return
      want.state = 'queued'
      this.#put(item)
    } else {
      const standing = this.wants.get(key)
      if (standing === undefined || standing.state === 'missing') this.#announce(item)
    }
  }

  /** Gives up to so many wants back: (3) applied for the sake of another peer. */
  yieldWants(places: number): void {
    let left = places
    for (const oldest of this.#missing) {
      if (left-- === 0) return
      this.#remove(oldest)
    }
    for (; left > 0; left--) {
      const lowest = this.#queue.last()
      if (lowest === undefined) return
      this.#remove(lowest)
      this.#refuse(lowest)
    }
  }

  /** (6) All that is queued is refused. */
  refuseQueued(): void {
    for (const want of this.#queue.take(Infinity, Infinity)) {
      this.#remove(want)
      this.#refuse(want)
    }
    this.ripe = true
  }

  /** Gives up to so many DONT_HAVEs back, the oldest first. */
  yieldPresences(places: number): void {
    let left = places
    for (const { key, presence } of this.#announcements.values()) {
      if (left === 0) return
      if (presence === 'have') continue
      this.#withdraw(key)
      left--
    }
  }

  /** DONT_HAVE for a want that is not kept, where it was asked for. */
  refuseEntry(entry: Pick<AskedEntry, 'cid' | 'sendDontHave'>): void {
    if (!entry.sendDontHave) return
    const key = cidKey(entry.cid)
    if (this.wants.has(key) || this.arrived.has(key)) return
    this.#announce({ cid: entry.cid, key, presence: 'dont-have', want: undefined })
  }

  /** The same for one that arrived and is not looked up. */
  denyArrived(want: Want): void {
    if (this.arrived.get(want.key) !== want) return
    this.arrived.delete(want.key)
    want.state = 'gone'
    this.refuseEntry(want)
  }

  #refuse(want: Want): void {
    want.state = 'gone'
    if (want.sendDontHave) this.#announce({ cid: want.cid, key: want.key, presence: 'dont-have', want: undefined })
  }

  #admit(want: Want): void {
    this.wants.set(want.key, want)
    this.#ports.shares.wants.take(this)
    this.#answer(want)
  }

  /** Queues what is due for an admitted want: its block, HAVE, DONT_HAVE, or nothing yet. */
  #answer(want: Want): void {
    const size = want.sizeBytes
    if (size === undefined || size > this.#limits.blockBytesServedMax) {
      // (2) A block above what a message holds is as good as missing, and said so.
      want.sizeBytes = undefined
      if (want.sendDontHave) this.#announce({ cid: want.cid, key: want.key, presence: 'dont-have', want })
      want.rest()
      this.#missing.add(want)
      this.#ports.index.add(want)
      return
    }
    if (this.#ports.refuses(this)) {
      this.#remove(want)
      this.#refuse(want)
      return
    }
    want.state = 'queued'
    // What was to be denied is no longer missing.
    this.#withdraw(want.key)
    if (want.type === 'block' || size <= this.#limits.haveReplaceBytesMax) this.#queue.add(want)
    else this.#put({ cid: want.cid, key: want.key, presence: 'have', want })
  }

  /** `asked` repeats or changes `standing`, which has the same CID. */
  #askedAgain(standing: Want, asked: Want): void {
    // A block that is already on its way, or soon, answers both kinds.
    const answersWithBlock = standing.type === 'block' || (standing.sizeBytes ?? Infinity) <= this.#limits.haveReplaceBytesMax
    const covered =
      (standing.state === 'reading' && answersWithBlock) || (standing.state === 'sending' && answersWithBlock && asked.type === 'have')
    if (covered) {
      if (asked.sendDontHave) standing.sendDontHave = true
      asked.state = 'gone'
      return
    }
    // (4), (5) The newer one stands; what is being written goes on and is counted, but frees nothing.
    if (standing.type === 'block' && standing.state !== 'sending') asked.type = 'block'
    this.#remove(standing)
    this.#admit(asked)
  }

  /** (3) Whether another want may be kept beside all that are. */
  #hasRoom(): boolean {
    return this.wants.size < this.#limits.wantsPerPeerMax && this.#ports.shares.wants.hasRoom(this)
  }

  /** (3) True where a place in the full list was freed for `want`. */
  #makeRoom(want: Want): boolean {
    for (const oldest of this.#missing) {
      // Its DONT_HAVE, if it asked for one, was queued when it was admitted.
      this.#remove(oldest)
      return true
    }
    const lowest = this.#queue.last()
    if (want.sizeBytes === undefined || lowest === undefined || lowest.priority >= want.priority) return false
    this.#remove(lowest)
    this.#refuse(lowest)
    return true
  }

  #remove(want: Want): void {
    if (want.state === 'missing') this.#stopWaiting(want)
    else if (want.state === 'queued') {
      this.#queue.remove(want)
      if (this.#announcements.get(want.key)?.want === want) this.#withdraw(want.key)
    }
    want.state = 'gone'
    if (this.wants.delete(want.key)) this.#ports.shares.wants.give(this, 1)
  }

  #stopWaiting(want: Want): void {
    this.#missing.delete(want)
    this.#ports.index.remove(want)
  }

  #announce(item: Announcement): void {
    const isNew = !this.#announcements.has(item.key)
    if (isNew && this.#announcements.size >= this.#limits.presencesPerPeerMax) return
    if (!isNew || this.#ports.shares.presences.hasRoom(this)) this.#put(item)
  }

  #put(item: Announcement): void {
    if (!this.#announcements.has(item.key)) this.#ports.shares.presences.take(this)
    this.#announcements.set(item.key, item)
  }

  #withdraw(key: CidKey): void {
    if (this.#announcements.delete(key)) this.#ports.shares.presences.give(this, 1)
  }
}
