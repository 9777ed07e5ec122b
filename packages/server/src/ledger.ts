import { assert } from '@shardswap/interface'
import type { PeerKey } from '@shardswap/interface'
import type { ServeLimits } from './limits.ts'
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
export interface Shares {
  readonly wants: Share<Ledger>
  readonly presences: Share<Ledger>
}

/**
 * What one peer wants and is owed. Rules, by number where the code applies them:
 * 1. A want leaves when its block, or for a want-have its HAVE, was written; by a cancel; by a full list.
 * 2. DONT_HAVE ends no want: the block is sent when it comes.
 * 3. At most `wantsPerPeerMax` wants, and its share of `wantsMax`. Above it the oldest want for a block that
 *    we lack goes first, then the one of lowest priority; either is told DONT_HAVE if it asked.
 * 4. A want-block takes the place of a want-have, never the other way round.
 * 5. A want asked again while its block is being written is answered again.
 */
export class Ledger {
  readonly peer: PeerKey
  readonly #limits: ServeLimits
  readonly #index: MissingIndex
  readonly #shares: Shares
  /** Admitted wants. */
  readonly wants = new Map<CidKey, Want>()
  /** Wants whose size is being looked up, or waits for that. */
  readonly arrived = new Map<CidKey, Want>()
  /** The same in order, with those cancelled meanwhile. */
  lookups: Want[] = []
  readonly #missing = new Set<Want>()
  readonly #queue = new WantQueue()
  readonly #announcements = new Map<CidKey, Announcement>()
  /** The envelope whose blocks are being read or wait in memory, and the one being written. */
  readonly prepared: Envelope[] = []
  sending: Envelope | undefined = undefined
  /** Something may be sent now: a message's wants are all looked up, or an envelope is full. */
  ripe = false
  /** No send until a timer, a message or a connection says so: the last one failed. */
  resting = false
  failures = 0
  /** The last send took long or failed. */
  slow = false
  connected = false
  dropped = false
  readonly counted = { bytesSent: 0, blocksSent: 0, bytesReceived: 0, blocksReceived: 0 }

  constructor(peer: PeerKey, limits: ServeLimits, index: MissingIndex, shares: Shares) {
    this.peer = peer
    this.#limits = limits
    this.#index = index
    this.#shares = shares
  }

  get idle(): boolean {
    return this.wants.size === 0 && this.arrived.size === 0 && this.prepared.length === 0 && !this.sending && !this.owes
  }

  /** An envelope of its is being read, waits or is written. */
  get isBusy(): boolean {
    return this.sending !== undefined || this.prepared.length > 0
  }

  /** Blocks or announcements wait. */
  get owes(): boolean {
    return this.#queue.length > 0 || this.#announcements.size > 0
  }

  get owesAnnouncements(): boolean {
    return this.#announcements.size > 0
  }

  get queuedBlocks(): number {
    return this.#queue.length
  }

  get queuedBytes(): number {
    return this.#queue.bytes
  }

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
    for (const want of this.#missing) this.#index.remove(want)
    this.#missing.clear()
    for (const want of this.wants.values()) want.state = 'gone'
    this.#shares.wants.give(this, this.wants.size)
    this.wants.clear()
    this.#queue.clear()
    this.#shares.presences.give(this, this.#announcements.size)
    this.#announcements.clear()
    this.ripe = false
  }

  /** Takes blocks to read for the next envelope, at least one where any is queued. */
  takeBlocks(bytesMax: number): Want[] {
    const wants = this.#queue.take(bytesMax, this.#limits.envelopeBlocksMax)
    for (const want of wants) want.state = 'reading'
    return wants
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
  refuseEntry(entry: AskedEntry): void {
    if (!entry.sendDontHave) return
    const key = cidKey(entry.cid)
    if (this.wants.has(key) || this.arrived.has(key)) return
    this.#announce({ cid: entry.cid, key, presence: 'dont-have', want: undefined })
  }

  #refuse(want: Want): void {
    want.state = 'gone'
    if (want.sendDontHave) this.#announce({ cid: want.cid, key: want.key, presence: 'dont-have', want: undefined })
  }

  #admit(want: Want): void {
    this.wants.set(want.key, want)
    this.#shares.wants.take(this)
    this.#answer(want)
  }

  /** Queues what is due for an admitted want: its block, HAVE, DONT_HAVE, or nothing yet. */
  #answer(want: Want): void {
    const size = want.sizeBytes
    if (size === undefined || size > this.#limits.blockBytesServedMax) {
      // (2) A block above what a message holds is as good as missing, and said so.
      want.sizeBytes = undefined
      want.state = 'missing'
      this.#missing.add(want)
      this.#index.add(want)
      if (want.sendDontHave) this.#announce({ cid: want.cid, key: want.key, presence: 'dont-have', want })
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
    return this.wants.size < this.#limits.wantsPerPeerMax && this.#shares.wants.hasRoom(this)
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
    if (this.wants.delete(want.key)) this.#shares.wants.give(this, 1)
  }

  #stopWaiting(want: Want): void {
    this.#missing.delete(want)
    this.#index.remove(want)
  }

  #announce(item: Announcement): void {
    const isNew = !this.#announcements.has(item.key)
    if (isNew && this.#announcements.size >= this.#limits.presencesPerPeerMax) return
    if (!isNew || this.#shares.presences.hasRoom(this)) this.#put(item)
  }

  #put(item: Announcement): void {
    if (!this.#announcements.has(item.key)) this.#shares.presences.take(this)
    this.#announcements.set(item.key, item)
  }

  #withdraw(key: CidKey): void {
    if (this.#announcements.delete(key)) this.#shares.presences.give(this, 1)
  }
}
