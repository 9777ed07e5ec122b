import { asError, MalformedError } from '@shardswap/interface'
import type { Logger } from '@libp2p/interface'
import {
  type Accounts,
  isSavedPeriod,
  readSegment,
  type Receipt,
  type SavedPeriod,
  type SegmentContent,
  sumReceipts
} from '@shardswap/reliability'
import { type Batch, type Datastore, Key } from 'interface-datastore'
import { defaultStoredReceiptsLimits, type StoredReceiptsLimits } from './receipts-limits.ts'
import { decodeRecord, encodeRecord } from './record.ts'
import { decodeSegment, encodeSegment } from './segment.ts'

/** Where segments of receipts stand: `<period>/<sequence>-<receipts>-<bytes>`, so that nothing is read to know what is there. */
const receiptsPrefix = '/shardswap/receipts'
/** Where the sums of periods stand, each by its name. */
const sumsPrefix = '/shardswap/accounts'

export interface ReceiptStoreInit {
  /** Memory only where there is none. */
  readonly datastore: Datastore | undefined
  /** What is to be kept; nothing may have been counted in it yet. */
  readonly accounts: Accounts
  readonly log: Logger
  /** The clock of the accounts. */
  readonly nowMs: () => number
  readonly limits?: Partial<StoredReceiptsLimits>
}

interface StoredSegment {
  readonly key: Key
  readonly period: string
  readonly sequence: number
  readonly receipts: number
  readonly sizeBytes: number
  /** Found to be so once it was read: it is there until its turn to leave, and counts for nothing. */
  isDamaged: boolean
  /** Until it is written. */
  bytes: Uint8Array | undefined
}

/** What stands in the datastore of a period's sums. */
interface StoredSums {
  /** All segments below it are in the sums. */
  readonly upTo: number
  readonly saved: SavedPeriod
}

/**
 * Keeps the accounts over a restart: segments of receipts as they fill, the sums of periods from time to time, each time
 * with all receipts that they are made of. So after a crash the sums are those of the receipts that are there, as far
 * as these reach back. Whatever fails in the datastore is logged, and costs accounts at worst.
 */
export class ReceiptStore {
  readonly #datastore: Datastore | undefined
  readonly #accounts: Accounts
  readonly #log: Logger
  readonly #nowMs: () => number
  readonly #limits: StoredReceiptsLimits
  /** Oldest first. */
  #segments: StoredSegment[] = []
  #storedBytes = 0
  #nextSequence = 0
  /** Periods whose sums changed since they were written. */
  readonly #changed = new Set<string>()
  /** Periods whose sums stand in the datastore. */
  readonly #summed = new Set<string>()
  #settledMs: number
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()
  #isWriting = false
  #started = false

  private constructor({ accounts, log, nowMs, limits }: ReceiptStoreInit, datastore: Datastore | undefined) {
    this.#datastore = datastore
    this.#accounts = accounts
    this.#log = log
    this.#nowMs = nowMs
    this.#limits = { ...defaultStoredReceiptsLimits, ...limits }
    this.#settledMs = nowMs()
  }

  /** Finds what is there and gives the accounts their sums back. Never rejects, and changes nothing in the datastore. */
  static async open(init: ReceiptStoreInit): Promise<ReceiptStore> {
    const { datastore, log } = init
    if (datastore === undefined) return new ReceiptStore(init, undefined)
    const store = new ReceiptStore(init, datastore)
    try {
      await store.#load(datastore)
      return store
    } catch (error) {
      log.error('the accounts cannot be read, so they are left as they are, and this run keeps its own in memory only - %e', asError(error))
      return new ReceiptStore(init, undefined)
    }
  }

  start(): void {
    if (this.#started || this.#datastore === undefined) return
    this.#started = true
    this.#timer = setInterval(() => this.#store(false), this.#limits.storeEveryMs)
    this.#timer.unref()
  }

  /** Writes all that is left. */
  async stop(): Promise<void> {
    if (!this.#started) return
    this.#started = false
    clearInterval(this.#timer)
    await this.#writing
    this.#store(true)
    await this.#writing
  }

  /** How many receipts of a period are there. */
  kept(period: string): number {
    const all = [...this.#segments.filter(({ isDamaged }) => !isDamaged), ...this.#accounts.segments()]
    return all.reduce((sum, segment) => sum + (segment.period === period ? segment.receipts : 0), 0)
  }

  /** The receipts of a period that are there, oldest first; with `bytesMax` about so many bytes of the newest. */
  async *receipts(period: string, bytesMax = Infinity): AsyncGenerator<Receipt> {
    // Both lists are taken now: what is stored meanwhile changes from one to the other.
    const inMemory = this.#accounts.segments().filter((segment) => segment.period === period)
    let left = bytesMax
    const stored = this.#segments.filter((segment) => segment.period === period)
    const newest = stored.toReversed().filter(({ sizeBytes }) => (left -= sizeBytes) >= 0)
    for (const segment of newest.reverse()) yield* (await this.#read(segment))?.receipts ?? []
    for (const { bytes } of inMemory) yield* readSegment(bytes).receipts
  }

  async #load(datastore: Datastore): Promise<void> {
    for await (const key of datastore.queryKeys({ prefix: receiptsPrefix })) {
      const segment = segmentAt(key)
      if (segment !== undefined) this.#segments.push(segment)
    }
    this.#segments.sort((a, b) => a.sequence - b.sequence)
    this.#storedBytes = this.#segments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    this.#nextSequence = (this.#segments.at(-1)?.sequence ?? -1) + 1
    const sums = new Map<string, StoredSums>()
    for await (const { key, value } of datastore.query({ prefix: sumsPrefix })) {
      const stored = sumsOf(value)
      if (stored === undefined)
        this.#log.error('the sums under %s are damaged: they are taken from the receipts that are left', key.toString())
      else sums.set(stored.saved.period, stored)
    }
    for (const { saved, upTo } of [...sums.values()].sort((a, b) => a.saved.startMs - b.saved.startMs)) {
      this.#accounts.restore(saved)
      this.#summed.add(saved.period)
      this.#nextSequence = Math.max(this.#nextSequence, upTo)
    }
    for (const segment of this.#segments) {
      if (segment.sequence >= (sums.get(segment.period)?.upTo ?? 0)) await this.#sum(segment)
    }
  }

  /** Adds a segment to the sums that ended before it. */
  async #sum(segment: StoredSegment): Promise<void> {
    const content = await this.#read(segment)
    if (content === undefined) return
    const { period, startMs, receipts } = content
    this.#accounts.restore({ period, startMs, receipts: receipts.length, ...sumReceipts(receipts) })
    this.#changed.add(period)
  }

  async #read(segment: StoredSegment): Promise<SegmentContent | undefined> {
    const { key, bytes, isDamaged } = segment
    if (isDamaged) return undefined
    try {
      return decodeSegment(bytes ?? (await this.#get(key)), segment)
    } catch (error) {
      segment.isDamaged = error instanceof MalformedError
      // One that has left meanwhile, to make room, is nothing to speak of.
      if (this.#segments.includes(segment)) this.#log.error('the receipts under %s cannot be read - %e', key.toString(), asError(error))
      return undefined
    }
  }

  async #get(key: Key): Promise<Uint8Array> {
    return this.#datastore === undefined ? new Uint8Array() : await this.#datastore.get(key)
  }

  /** Begins a write, unless one is under way: what fills memory meanwhile is bounded there. */
  #store(isLast: boolean): void {
    if (this.#datastore === undefined || this.#isWriting) return
    let batch: Batch
    try {
      // Before anything is taken out of memory: one that is closed throws here.
      batch = this.#datastore.batch()
    } catch (error) {
      this.#log.error('receipts cannot be stored - %e', asError(error))
      return
    }
    const nowMs = this.#nowMs()
    const settles = isLast || nowMs - this.#settledMs >= this.#limits.settleEveryMs
    const taken = this.#take(settles)
    if (taken.length === 0 && !(settles && this.#changed.size > 0)) return
    for (const { key, bytes } of taken) if (bytes !== undefined) batch.put(key, bytes)
    if (settles) this.#settle(nowMs, batch)
    for (const key of this.#overflow()) batch.delete(key)
    this.#writing = this.#commit(batch, taken)
  }

  async #commit(batch: Batch, taken: readonly StoredSegment[]): Promise<void> {
    this.#isWriting = true
    try {
      await batch.commit()
    } catch (error) {
      this.#log.error('%d segments of receipts could not be stored - %e', taken.length, asError(error))
      this.#forget(new Set(taken))
      for (const { period } of taken) this.#changed.add(period)
    }
    for (const segment of taken) segment.bytes = undefined
    this.#isWriting = false
  }

  #forget(lost: ReadonlySet<StoredSegment>): void {
    this.#segments = this.#segments.filter((segment) => !lost.has(segment))
    this.#storedBytes = this.#segments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  }

  /** Takes the segments that are full, or all, into the list. */
  #take(isAll: boolean): StoredSegment[] {
    const taken: StoredSegment[] = []
    for (;;) {
      const segment = this.#accounts.takeSegment(isAll)
      if (segment === undefined) break
      const { period, receipts } = segment
      const bytes = encodeSegment(segment)
      const sequence = this.#nextSequence++
      const key = new Key(`${receiptsPrefix}/${period}/${String(sequence).padStart(12, '0')}-${receipts}-${bytes.byteLength}`)
      taken.push({ key, period, sequence, receipts, sizeBytes: bytes.byteLength, isDamaged: false, bytes })
      this.#storedBytes += bytes.byteLength
      this.#changed.add(period)
    }
    this.#segments.push(...taken)
    return taken
  }

  /** The sums of the segments taken so far, and no others: they go into one batch with these. */
  #settle(nowMs: number, batch: Batch): void {
    this.#settledMs = nowMs
    for (const period of this.#changed) {
      const saved = this.#accounts.save(nowMs, period)
      if (saved === undefined) continue
      batch.put(sumsKey(period), encodeRecord({ upTo: this.#nextSequence, saved } satisfies StoredSums))
      this.#summed.add(period)
    }
    this.#changed.clear()
    this.#forgetPast(batch)
  }

  /** Periods that the accounts have forgotten leave with their receipts: else these would bring them back. */
  #forgetPast(batch: Batch): void {
    const known = new Set(this.#accounts.periods)
    for (const period of this.#summed) {
      if (known.has(period)) continue
      batch.delete(sumsKey(period))
      this.#summed.delete(period)
    }
    const past = this.#segments.filter(({ period }) => !known.has(period))
    for (const { key } of past) batch.delete(key)
    if (past.length > 0) this.#forget(new Set(past))
  }

  /** The oldest segments that are too many, taken out of the list. */
  #overflow(): Key[] {
    const { storedReceiptBytesMax, storedSegmentsMax } = this.#limits
    let count = 0
    while (this.#storedBytes > storedReceiptBytesMax || this.#segments.length - count > storedSegmentsMax) {
      this.#storedBytes -= (this.#segments[count] as StoredSegment).sizeBytes
      count += 1
    }
    return this.#segments.splice(0, count).map(({ key }) => key)
  }
}

function sumsKey(period: string): Key {
  return new Key(`${sumsPrefix}/${period}`)
}

function segmentAt(key: Key): StoredSegment | undefined {
  const match = /^\/shardswap\/receipts\/([^/]+)\/(\d+)-(\d+)-(\d+)$/.exec(key.toString())
  if (match === null) return undefined
  const [, period = '', sequence, receipts, sizeBytes] = match
  return {
    key,
    period,
    sequence: Number(sequence),
    receipts: Number(receipts),
    sizeBytes: Number(sizeBytes),
    isDamaged: false,
    bytes: undefined
  }
}

function sumsOf(bytes: Uint8Array): StoredSums | undefined {
  const decoded = decodeRecord(bytes)
  if (decoded.kind === 'bad') return undefined
  const { upTo, saved } = (decoded.body ?? {}) as Partial<Record<keyof StoredSums, unknown>>
  return typeof upTo === 'number' && Number.isSafeInteger(upTo) && isSavedPeriod(saved) ? { upTo, saved } : undefined
}
