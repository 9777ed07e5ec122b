import { assert } from '@shardswap/interface'
import type { BlockKey, PeerKey } from '@shardswap/interface'
import { Calendar } from './calendar.ts'
import { verifyAccountLimits } from './account-limits.ts'
import type { AccountLimits } from './account-limits.ts'
import { periodName, periodStartMs } from './period.ts'
import { ReceiptLog } from './receipt-log.ts'
import { creditedTurn, rankMax } from './receipts.ts'
import type { Receipt, ReceiptTurn, Segment, TurnOutcome } from './receipts.ts'
import { PeriodSums } from './sums.ts'
import type { PeriodReport, PeriodRow, SavedPeriod } from './sums.ts'
import type { Outcome, Role } from './types.ts'

interface OpenTurn extends ReceiptTurn {
  outcome: TurnOutcome
  rank: number
}

interface OpenWant {
  readonly key: BlockKey
  turns: OpenTurn[]
  /** Turns that are not settled. */
  unsettled: number
  successes: number
  hasEnded: boolean
}

/**
 * The account of every want (P6 to P12): who was asked, who delivered in time, who has the credit. A want is open from
 * its first want-block until it has ended and each of its turns is settled, so that a primary that still has time keeps
 * its credit although a backup was quicker. It counts in the period in which it is closed, all at once: the sums of a
 * period are exactly the sums of its receipts, and final once the period is over.
 *
 * A want that is wanted again while one of its turns is out goes on as the same want.
 */
export class Accounts {
  readonly #limits: AccountLimits
  readonly #calendar: Calendar
  readonly #open = new Map<BlockKey, OpenWant>()
  /** By name; the one that was used last stands last. */
  readonly #periods = new Map<string, PeriodSums>()
  readonly #log: ReceiptLog
  readonly #credited: ((peer: PeerKey) => void) | undefined
  #current: PeriodSums

  /**
   * `wallMs` is the time since 1970 when the cores' clock said `nowMs`: read once, so that no jump of it matters.
   * `credited` is told of each peer that has the credit for a want.
   */
  constructor(limits: AccountLimits, wallMs: number, nowMs: number, credited?: (peer: PeerKey) => void) {
    verifyAccountLimits(limits)
    assert(Number.isFinite(wallMs) && Number.isFinite(nowMs), 'the time is a number')
    this.#limits = limits
    this.#calendar = new Calendar(wallMs, nowMs)
    this.#log = new ReceiptLog(limits)
    this.#credited = credited
    this.#current = this.#periodAt(wallMs)
  }

  /** A want-block was sent to a peer. */
  turn(key: BlockKey, peer: PeerKey, role: Role, nowMs: number): void {
    let want = this.#open.get(key)
    if (want === undefined) {
      if (this.#open.size >= this.#limits.openWantsMax) this.#closeOldest(nowMs)
      want = { key, turns: [], unsettled: 0, successes: 0, hasEnded: false }
      this.#open.set(key, want)
    } else if (want.turns.length >= this.#limits.turnsPerReceiptMax) this.#shorten(want, nowMs)
    want.hasEnded = false
    want.turns.push({ peer, role, outcome: 'open', rank: 0 })
    want.unsettled += 1
  }

  /** What became of it. A block that comes late changes what is written of its turn, and earns nothing. */
  settle(key: BlockKey, peer: PeerKey, outcome: Outcome, nowMs: number): void {
    const want = this.#open.get(key)
    if (want === undefined) return
    const turn = lastTurn(want, peer, 'open')
    if (turn === undefined) {
      const failed = outcome === 'late' ? lastTurn(want, peer, 'timeout', 'silence') : undefined
      if (failed !== undefined) failed.outcome = outcome
      return
    }
    turn.outcome = outcome
    want.unsettled -= 1
    if (outcome === 'success') turn.rank = Math.min(++want.successes, rankMax)
    if (want.hasEnded && want.unsettled === 0) this.#close(want, nowMs)
  }

  /** Nobody waits for the block any more. */
  end(key: BlockKey, nowMs: number): void {
    const want = this.#open.get(key)
    if (want === undefined) return
    want.hasEnded = true
    if (want.unsettled === 0) this.#close(want, nowMs)
  }

  /** The account of a period, the present one unless it is named; undefined where nothing is known of it. */
  report(nowMs: number, period?: string): PeriodReport | undefined {
    return this.#named(nowMs, period)?.report(this.#limits.periodMs)
  }

  /** One peer's row of a report, at the cost of that row. */
  row(nowMs: number, peer: PeerKey, period?: string): PeriodRow | undefined {
    return this.#named(nowMs, period)?.rowOf(peer)
  }

  /** Names of the periods of which something is known, oldest first. */
  get periods(): string[] {
    return [...this.#periods.values()].sort((a, b) => a.startMs - b.startMs).map(({ name }) => name)
  }

  /** The segments that are in memory, oldest first, with the one that is being filled. */
  segments(): Segment[] {
    return this.#log.segments()
  }

  /** The oldest full segment, or with `isLast` the one that is being filled; it is the caller's then. */
  takeSegment(isLast = false): Segment | undefined {
    return this.#log.take(isLast)
  }

  /** A period's sums as plain data, to be kept over a restart. */
  save(nowMs: number, period?: string): SavedPeriod | undefined {
    return this.#named(nowMs, period)?.save()
  }

  /** Takes sums back that `save` gave; to be called before anything is counted in that period. */
  restore(saved: SavedPeriod): void {
    const period = this.#periodAt(saved.startMs)
    if (period.name === saved.period) period.restore(saved)
  }

  /** What is held: 0 wants once all have ended and are settled. */
  get gauges(): { readonly openWants: number; readonly receiptBytes: number } {
    return { openWants: this.#open.size, receiptBytes: this.#log.bytes }
  }

  #named(nowMs: number, period: string | undefined): PeriodSums | undefined {
    const current = this.#periodAt(this.#calendar.wallMs(nowMs))
    return period === undefined ? current : this.#periods.get(period)
  }

  #periodAt(wallMs: number): PeriodSums {
    const { periodMs, periodsMax, peersPerPeriodMax } = this.#limits
    const startMs = periodStartMs(wallMs, periodMs)
    const name = periodName(startMs, periodMs)
    let period = this.#periods.get(name)
    if (period === undefined) {
      period = new PeriodSums(name, startMs, peersPerPeriodMax)
      this.#periods.set(name, period)
      if (this.#periods.size > periodsMax) this.#forgetOldest(period)
    }
    return period
  }

  #forgetOldest(kept: PeriodSums): void {
    let oldest: PeriodSums | undefined
    for (const period of this.#periods.values()) {
      if (period !== kept && period !== this.#current && (oldest === undefined || period.startMs < oldest.startMs)) oldest = period
    }
    if (oldest !== undefined) this.#periods.delete(oldest.name)
  }

  #closeOldest(nowMs: number): void {
    for (const want of this.#open.values()) {
      this.#close(want, nowMs)
      return
    }
  }

  #close(want: OpenWant, nowMs: number): void {
    this.#open.delete(want.key)
    this.#write(want.key, want.turns, false, nowMs)
  }

  /** A want that fails for ever must not grow for ever: what failed goes into a receipt of its own. */
  #shorten(want: OpenWant, nowMs: number): void {
    const settled = want.turns.filter(({ outcome, rank }) => outcome !== 'open' && rank === 0)
    if (settled.length === 0) return
    want.turns = want.turns.filter(({ outcome, rank }) => outcome === 'open' || rank > 0)
    this.#write(want.key, settled, true, nowMs)
  }

  #write(key: BlockKey, turns: readonly ReceiptTurn[], isContinued: boolean, nowMs: number): void {
    const closedMs = this.#calendar.wallMs(nowMs)
    if (closedMs < this.#current.startMs || closedMs >= this.#current.startMs + this.#limits.periodMs) {
      this.#current = this.#periodAt(closedMs)
    }
    const credited = creditedTurn(turns)
    const receipt: Receipt = { key, closedMs, isContinued, turns, credited }
    this.#current.add(receipt)
    this.#log.add(this.#current, receipt)
    if (credited !== undefined) this.#credited?.((turns[credited] as ReceiptTurn).peer)
  }
}

function lastTurn(want: OpenWant, peer: PeerKey, ...outcomes: TurnOutcome[]): OpenTurn | undefined {
  for (let at = want.turns.length - 1; at >= 0; at--) {
    const turn = want.turns[at] as OpenTurn
    if (turn.peer === peer && outcomes.includes(turn.outcome)) return turn
  }
  return undefined
}
