import type { BlockKey, PeerKey } from '@shardswap/interface'
import type { PeerView } from '@shardswap/session'
import type { Copy, Member } from './blocks.ts'
import { type Counters, newCounters } from './counters.ts'
import type { BrokerLimits } from './limits.ts'
import { Past } from './past.ts'
import { Timing } from './timing.ts'
import type { QueueFigures, Standing, WantEntry } from './types.ts'

/** A peer may always have so many want-blocks in flight: one on its way, one behind it, however small its window. */
const inFlightMinWants = 2
const unaskedWindowMs = 10 * 60 * 1000

/** One peer's bounded want queue over all sessions (B22), and what is known of the peer. */
export class PeerQueue implements PeerView {
  readonly key: PeerKey
  readonly timing: Timing
  readonly past: Past
  readonly figures: Counters = newCounters()
  /** What was asked of it, by block, in the order asked. */
  readonly copies = new Map<BlockKey, Copy>()
  /** Lines of the next message, one a block (B25). */
  readonly outbox = new Map<BlockKey, WantEntry>()
  /** Sessions that wait for space here, first come, first served. */
  readonly line = new Set<Member>()
  /** The session whose turn it is here: the others in line wait. */
  turn: Member | undefined
  isConnected = false
  supportsHave = true
  /** What its score is worth in the draw, and whether it is vetted, as the reliability layer has it. */
  score = 1
  isVetted = false
  isDoubtful = false
  /** Its place among the connected. */
  index = -1
  /** Its place among those that are vetted as well. */
  vettedIndex = -1
  /** Want-blocks that it was asked for in its turn: backups take no space of theirs (invariant 7). */
  inFlight = 0
  inFlightBytes = 0
  backups = 0
  backupBytes = 0
  /** When something of it was late last, while it paused. */
  lateAtMs = Number.NEGATIVE_INFINITY
  haves = 0
  /** Wants that it said DONT_HAVE to and keeps, should it get them later; and those of them that it got. */
  standing = 0
  /** What the peer says that it still has queued for us. */
  pendingBytes = 0
  /** Until then it refuses us for load, as it says: it counts as full. */
  busyUntilMs = Number.NEGATIVE_INFINITY
  isBusy = false
  /** Until when it said so last, be that over or not. */
  lastBusyMs = Number.NEGATIVE_INFINITY
  nextSequence = 0
  outboxSinceMs = 0
  shutOutUntilMs = 0
  /** Times of unasked blocks of the last ten minutes. */
  #unaskedAtMs: number[] = []
  #averageBytes: number | undefined
  readonly #limits: BrokerLimits

  constructor(key: PeerKey, limits: BrokerLimits) {
    this.key = key
    this.#limits = limits
    this.timing = new Timing(limits)
    this.past = new Past(limits.pastWantsMax)
  }

  get latencyMs(): number | undefined {
    return this.timing.latencyMs
  }

  get bytesPerMs(): number | undefined {
    return this.timing.bytesPerMs
  }

  get lastBytesAtMs(): number {
    return this.timing.lastBytesAtMs
  }

  /** Want-blocks that may be in flight here over all sessions: 128, and more where bandwidth × delay holds more (B15). */
  get limitWants(): number {
    const { queueWantsStart, queueWantsMax } = this.#limits
    if (this.#averageBytes === undefined || this.timing.bytesPerMs === undefined) return queueWantsStart
    return Math.min(queueWantsMax, Math.max(queueWantsStart, Math.floor(this.timing.windowBytes() / this.#averageBytes)))
  }

  /** How full it is, 0 to 1 (B18): what we wait for and what the peer says it has queued for us overlap, so the greater counts. */
  get depth(): number {
    if (this.isBusy) return 1
    const bytes = Math.max(this.inFlightBytes, this.pendingBytes) / this.timing.windowBytes()
    return Math.min(1, Math.max(this.inFlight / this.limitWants, bytes))
  }

  /** Want-blocks there, in its turn or beside another peer. */
  get blocksAsked(): number {
    return this.inFlight + this.backups
  }

  /** All that stands at the remote for us. */
  get stands(): number {
    return this.blocksAsked + this.haves + this.standing
  }

  /** Bytes that have to come before whatever it is asked for next. */
  get aheadBytes(): number {
    return this.inFlightBytes + this.backupBytes
  }

  /** For how long nothing came although something is in flight here. */
  quietMs(nowMs: number): number {
    return this.blocksAsked === 0 ? 0 : nowMs - Math.max(this.timing.lastBytesAtMs, this.timing.askedAtMs)
  }

  get hasHaveSpace(): boolean {
    return this.haves < this.#limits.queueHavesMax && this.stands < this.#limits.queueWantsMax
  }

  /** Whether one more want that it denied may stand there: they leave half of the queue to others. */
  get mayKeepDenied(): boolean {
    return this.standing < Math.min(this.#limits.standingWantsMax, this.#limits.queueWantsMax >> 1)
  }

  isUsable(nowMs: number): boolean {
    return this.isConnected && this.shutOutUntilMs <= nowMs
  }

  /** Whether one more want-block of about so many bytes fits. */
  fits(bytes: number): boolean {
    if (this.inFlight >= this.limitWants || this.stands >= this.#limits.queueWantsMax) return false
    return this.inFlight < inFlightMinWants || this.inFlightBytes + bytes <= this.timing.windowBytes()
  }

  /** A block came from it. */
  sizeBlock(bytes: number): void {
    this.#averageBytes = this.#averageBytes === undefined ? bytes : this.#averageBytes + (bytes - this.#averageBytes) / 8
  }

  /** It sent a block that nobody asked for. Returns whether that shuts it out from now on. */
  suspect(nowMs: number): boolean {
    if (this.shutOutUntilMs > nowMs) return false
    this.#unaskedAtMs = this.#unaskedAtMs.filter((atMs) => nowMs - atMs < unaskedWindowMs)
    this.#unaskedAtMs.push(nowMs)
    if (this.#unaskedAtMs.length < this.#limits.unaskedBlocksMax) return false
    this.#unaskedAtMs = []
    this.shutOutUntilMs = nowMs + this.#limits.shutOutMs
    return true
  }

  /** Our wants as the remote is to know them. */
  standings(): Standing[] {
    const standings: Standing[] = []
    for (const { remote, wanted } of this.copies.values()) {
      if (remote !== undefined) standings.push({ cid: wanted.cid, key: wanted.key, wantType: remote })
    }
    return standings
  }

  stat(): QueueFigures {
    const { latencyMs, bytesPerMs } = this.timing
    return {
      peer: this.key,
      connected: this.isConnected,
      inFlight: this.inFlight,
      inFlightBytes: this.inFlightBytes,
      backups: this.backups,
      haves: this.haves,
      depth: this.depth,
      limitWants: this.limitWants,
      windowBytes: this.timing.windowBytes(),
      latencyMs,
      bytesPerS: bytesPerMs === undefined ? undefined : bytesPerMs * 1000,
      figures: { ...this.figures }
    }
  }
}
