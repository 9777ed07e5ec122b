import { assert } from '@shardswap/interface'
import type { Ledger } from './ledger.ts'
import type { ServeLimits } from './limits.ts'
import type { MissingBlocks } from './missing.ts'
import { Share } from './share.ts'
import type { AskedEntry } from './types.ts'
import { cidKey, Want } from './want.ts'
import type { Batch } from './want.ts'

/**
 * Wants whose sizes are still to be asked of the store, of every peer a bounded number, and of all together: where those are
 * reached, the last wants of who has most give way to those of who has less, and are denied. Peers take turns by batches, so who
 * asks for much is not looked up before who asks for little.
 */
export class Lookups {
  readonly #limits: ServeLimits
  readonly #missing: MissingBlocks
  readonly #offer: (ledger: Ledger) => void
  readonly #places: Share<Ledger>
  /** Ledgers with sizes to look up, in turn. */
  readonly #ledgers = new Set<Ledger>()
  #order = 0

  /** `offer`: a peer has something that may be said now. */
  constructor(limits: ServeLimits, missing: MissingBlocks, offer: (ledger: Ledger) => void) {
    this.#limits = limits
    this.#missing = missing
    this.#offer = offer
    this.#places = new Share<Ledger>(limits.lookupsMax, (ledger, places) => this.#yieldPlaces(ledger, places))
  }

  get waiting(): number {
    return this.#places.taken
  }

  /** Takes what a message asks for, the highest priorities where that is too much; the rest is refused. */
  arrive(ledger: Ledger, asked: readonly AskedEntry[]): void {
    const room = Math.min(asked.length, this.#limits.lookupsPerPeerMax - ledger.lookups.length)
    let places = 0
    for (; places < room && this.#places.hasRoom(ledger); places++) this.#places.take(ledger)
    const chosen = asked.length === places ? undefined : highest(asked, places)
    const batch: Batch = { left: 0 }
    for (const [index, entry] of asked.entries()) {
      if (chosen === undefined || chosen[index] === 1) {
        ledger.arrive(new Want(ledger, entry.cid, cidKey(entry.cid), entry, this.#order++, batch))
        batch.left++
      } else ledger.refuseEntry(entry)
    }
    if (batch.left > 0) this.#ledgers.add(ledger)
    else if (asked.length > 0) ledger.ripe = true
  }

  /** The next wants of one peer whose sizes are to be asked; empty when there are none. */
  take(): Want[] {
    for (const ledger of this.#ledgers) {
      this.#ledgers.delete(ledger)
      const taken = ledger.lookups.splice(0, this.#limits.lookupBatchMax)
      this.#places.give(ledger, taken.length)
      if (ledger.lookups.length > 0) this.#ledgers.add(ledger)
      const live: Want[] = []
      for (const want of taken) {
        if (want.state === 'arrived') {
          // Its block may arrive while the store is asked.
          this.#missing.add(want)
          live.push(want)
        } else answeredOne(want)
      }
      if (live.length > 0) return live
      // All of them were cancelled.
      this.#offer(ledger)
    }
    return []
  }

  /** Sizes of the blocks that `take` named, in its order; undefined where we lack one. */
  known(wants: readonly Want[], sizesBytes: readonly (number | undefined)[]): void {
    assert(wants.length === sizesBytes.length, 'a size for each want')
    for (const [index, want] of wants.entries()) {
      this.#missing.remove(want)
      const { ledger } = want
      if (!ledger.dropped) ledger.lookedUp(want, sizesBytes[index] ?? want.sizeBytes)
      answeredOne(want)
    }
  }

  /** Whether so many sizes are still to be looked up that the peer should wait before it asks for more. */
  isBehind(ledger: Ledger | undefined): boolean {
    const waiting = ledger?.lookups.length ?? 0
    if (waiting === 0) return false
    return waiting * 2 > this.#limits.lookupsPerPeerMax || this.waiting * 2 > this.#limits.lookupsMax
  }

  forget(ledger: Ledger): void {
    this.#places.give(ledger, ledger.lookups.length)
    ledger.lookups = []
    this.#ledgers.delete(ledger)
  }

  #yieldPlaces(ledger: Ledger, places: number): void {
    const yielded = ledger.lookups.splice(-places)
    this.#places.give(ledger, yielded.length)
    if (ledger.lookups.length === 0) this.#ledgers.delete(ledger)
    for (const want of yielded) {
      ledger.denyArrived(want)
      answeredOne(want)
    }
    this.#offer(ledger)
  }
}

/** One want of a message is dealt with; after the last the message's answer may leave. */
function answeredOne(want: Want): void {
  if (--want.batch.left === 0 && want.ledger.owes) want.ledger.ripe = true
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
