import { assert } from '@shardswap/interface'
import type { BlockKey, PeerKey } from '@shardswap/interface'
import { defaultAccountLimits } from './account-limits.ts'
import { Accounts } from './accounts.ts'
import { BackupBudget } from './budget.ts'
import { defaultBudgetLimits } from './budget-limits.ts'
import { Calendar } from './calendar.ts'
import { Calibrator } from './calibration.ts'
import { failChanceOf } from './forecast.ts'
import { Histogram } from './histogram.ts'
import { defaultReliabilityLimits, verifyReliabilityLimits, type ReliabilityLimits, type ShareMap } from './limits.ts'
import { Newcomers } from './newcomers.ts'
import { Cohort } from './cohort.ts'
import { observationOf, PeerRecord } from './record.ts'
import { Records } from './records.ts'
import { fromRemembered, toRemembered } from './remembered.ts'
import { shareIn, sharesOf, type Weighed, type WeightSums, weightSums } from './share.ts'
import { isFit, standingOf, uptimeOf } from './standing.ts'
import type { BackupReason, Chances, Delivery, LateReason, Outcome, PeerStanding, ReliabilityCore, Turn } from './types.ts'
import type { Calibration, PeerCounts, PeerScore, Recalled, ReliabilityInit, RememberedPeers } from './views.ts'
import { Windows } from './windows.ts'

/** Our own time is counted in steps of at least a second. */
const stepMs = 1000
/** A standing is looked at again after so long, though nothing was observed. */
const standingMs = 60_000

/**
 * The reliability layer: a record of every peer, and what follows from it. Events change counters; scores, weights and
 * forecasts are functions of those and of the cohort's figures, taken when somebody asks.
 */
export class Reliability implements ReliabilityCore {
  readonly limits: ReliabilityLimits
  /** What was taken back from the last run. */
  readonly recalled: Recalled
  /** The account of every want, with its receipts. */
  readonly accounts: Accounts
  readonly #budget: BackupBudget
  readonly #share: ShareMap
  readonly #calendar: Calendar
  readonly #records: Records
  readonly #cohort: Cohort
  readonly #newcomers: Newcomers
  readonly #calibrator = new Calibrator()
  /** When we ran ourselves: nobody can be connected to who is not there. */
  readonly #own: Windows
  #ownUntilMs: number
  #nowMs: number
  /** Latencies of all peers, in one row. */
  readonly #latencies = new Histogram(1)
  #lateMs: number
  /** The standing of peers of which nothing is known. */
  #unknown: PeerStanding | undefined
  #unknownEpoch = -1
  /** What the connected weigh in all, for the shares of those who ask. */
  #sums: WeightSums = { vetted: 0, newcomers: 0 }
  #sumsMs = Number.NEGATIVE_INFINITY

  constructor({ limits, accountLimits, budgetLimits, share = 'proportional', wallMs, nowMs, remembered }: ReliabilityInit) {
    assert(Number.isFinite(wallMs) && Number.isFinite(nowMs), 'the time is a number')
    this.limits = { ...defaultReliabilityLimits, ...limits }
    verifyReliabilityLimits(this.limits)
    this.#share = share
    this.accounts = new Accounts({ ...defaultAccountLimits, ...accountLimits }, wallMs, nowMs, (peer) => this.#credited(peer))
    this.#budget = new BackupBudget({ ...defaultBudgetLimits, ...budgetLimits })
    this.#calendar = new Calendar(wallMs, nowMs)
    this.#records = new Records(this.limits)
    this.#newcomers = new Newcomers(this.limits)
    this.#nowMs = nowMs
    this.#ownUntilMs = nowMs
    const { own, records, recalled } = fromRemembered(remembered, this.#calendar, nowMs, this.limits)
    this.#own = own ?? new Windows(this.#calendar.hour(nowMs))
    for (const record of records) this.#records.add(record)
    this.recalled = recalled
    this.#lateMs = Math.min(this.limits.lateStartMs, usualLateMs(records) ?? this.limits.lateStartMs)
    this.#cohort = new Cohort(this.limits, this.#calendar, (record, atMs) => this.#uptimeOf(record, atMs))
  }

  peerConnected(peer: PeerKey, nowMs: number): void {
    const record = this.#known(peer, nowMs)
    if (record.isConnected) return
    record.roll(this.#calendar, nowMs, this.limits)
    record.connect(nowMs)
    this.#records.connected(record)
    this.#cohort.move(record, nowMs)
  }

  peerDisconnected(peer: PeerKey, nowMs: number): void {
    const record = this.#records.get(peer)
    if (record === undefined || !record.isConnected) return
    record.disconnect(this.#calendar, nowMs)
    this.#records.disconnected(record)
    this.#cohort.move(record, nowMs)
  }

  asked({ key, peer, role, failChance }: Turn, nowMs: number): void {
    this.#nowMs = nowMs
    this.accounts.turn(key, peer, role, nowMs)
    if (role === 'primary') this.#budget.earn(failChance)
    this.#known(peer, nowMs).begin(role)
  }

  settled({ key, peer, failChance }: Turn, outcome: Outcome, nowMs: number, delivery?: Delivery): void {
    this.#nowMs = nowMs
    const record = this.#known(peer, nowMs)
    record.settle(outcome)
    this.accounts.settle(key, peer, outcome, nowMs)
    const isSuccess = observationOf(outcome)
    // That a peer lacks what it never claimed says nothing of it, but the forecast said that it might.
    if (isSuccess !== undefined || outcome === 'denied') this.#calibrator.observe(failChance, isSuccess !== true)
    if (isSuccess === undefined) return
    this.#budget.observe(isSuccess)
    record.observe(isSuccess, this.#calendar.hour(nowMs), this.limits)
    if (isSuccess && delivery !== undefined) this.#deliver(record, delivery, nowMs)
    this.#records.settle(record)
    this.#cohort.move(record, nowMs)
  }

  ended(key: BlockKey, nowMs: number): void {
    this.#nowMs = nowMs
    this.accounts.end(key, nowMs)
  }

  failedHard(peer: PeerKey, nowMs: number): void {
    const record = this.#known(peer, nowMs)
    record.roll(this.#calendar, nowMs, this.limits)
    record.shutOut(nowMs + this.limits.shutOutMs, this.limits.returnMs)
    this.#records.settle(record)
    this.#cohort.move(record, nowMs)
  }

  receivedBad(peer: PeerKey, nowMs: number): void {
    this.#known(peer, nowMs).counts.badBlocks += 1
  }

  /**
   * [I5] A peer answered, or did not, a test that was made under another identity. One observation of a peer that is known,
   * as any other is, so that one record says whom we ask and whom we serve; but nobody's turn: no account (P8), receipt,
   * forecast or budget knows of it.
   */
  tested(peer: PeerKey, isReceived: boolean, nowMs: number): void {
    const record = this.#records.get(peer)
    if (record === undefined) return
    record.observe(isReceived, this.#calendar.hour(nowMs), this.limits, 1)
    this.#records.settle(record)
    this.#cohort.move(record, nowMs)
  }

  duplicated(peer: PeerKey, bytes: number): void {
    const counts = this.#records.get(peer)?.counts
    if (counts === undefined) return
    counts.duplicateBlocks += 1
    counts.duplicateBytes += bytes
  }

  standing(peer: PeerKey, nowMs: number): PeerStanding {
    this.#nowMs = nowMs
    this.#cohort.refresh(nowMs)
    return this.#standingOf(peer, nowMs)
  }

  /** By the cohort's figures as they are: who only looks, or asks for a backup, must not change what primaries are picked by. */
  #standingOf(peer: PeerKey, nowMs: number): PeerStanding {
    const record = this.#records.get(peer)
    if (record === undefined) return this.#unknownStanding(nowMs)
    if (record.standing === undefined || record.standingEpoch !== this.#cohort.epoch || nowMs >= record.standingUntilMs) {
      this.#stand(record, nowMs)
    }
    return record.standing as PeerStanding
  }

  mayPickNewcomer(): boolean {
    return this.#newcomers.mayBePicked
  }

  picked(isVetted: boolean): void {
    this.#newcomers.picked(isVetted)
  }

  failChance(peer: PeerKey, chances: Chances): number {
    const record = this.#records.get(peer)
    const { meanSuccess } = this.#cohort.figures
    const lateMs = chances.quietMs > 0 ? this.#netLateMs(record) : 0
    return failChanceOf(record?.evidence, chances, meanSuccess, lateMs, this.limits)
  }

  isDoubtful(peer: PeerKey): boolean {
    return this.failChance(peer, surely) > doubtfulFailChance
  }

  lateAfterMs(peer: PeerKey, queuedBytes: number, reason: LateReason): number {
    const latency = this.#records.get(peer)?.latency
    const { lateMinMs, unknownBytesPerS } = this.limits
    if (latency !== undefined) return Math.max(lateMinMs, latency.lateAfterMs(queuedBytes, reason))
    // Who never delivered and is not expected to has no time for bytes at a rate that nobody saw; at the end of a fetch nobody has.
    const isWaitedFor = reason === 'late' && !this.isDoubtful(peer)
    return Math.max(lateMinMs, this.#lateMs + (isWaitedFor ? (1000 * queuedBytes) / unknownBytesPerS : 0))
  }

  takeBackup(reason: BackupReason, failChance: number, nowMs: number): boolean {
    this.#nowMs = nowMs
    return this.#budget.take(reason, failChance)
  }

  returnBackup(): void {
    this.#budget.giveBack()
  }

  isFitForBackup(peer: PeerKey, failChance: number): boolean {
    if (this.failChance(peer, surely) >= failChance) return false
    const record = this.#records.get(peer)
    if (record === undefined) return this.#cohort.figures.vettedSuccess === undefined
    return record.isConnected && isFit(this.#standingOf(peer, this.#nowMs), this.#cohort.figures, this.limits)
  }

  /** The peer's score, 0 to 100, by the cohort's figures as they are: a look does not take them anew. */
  scoreOf(peer: PeerKey, nowMs: number): number {
    return this.#standingOf(peer, nowMs).score
  }

  /** What one peer has to its account since it was first seen; undefined where nothing is remembered of it. */
  countsOf(peer: PeerKey): PeerCounts | undefined {
    return this.#records.get(peer)?.counts
  }

  /** Every peer that is remembered, the greatest score first. */
  scores(nowMs: number): PeerScore[] {
    const records = [...this.#records.all()]
    const standings = records.map(({ peer }) => this.#standingOf(peer, nowMs))
    const weighed = records.map((record, at) => weighedOf(record, standings[at] as PeerStanding, nowMs))
    const shares = sharesOf(weighed, this.limits.newcomerShareMax)
    const scores = records.map((record, at) => this.#view(record, standings[at] as PeerStanding, shares[at] as number, nowMs))
    return scores.sort((a, b) => b.score - a.score || (a.peer < b.peer ? -1 : 1))
  }

  /**
   * One peer as `scores` has it, without a look at all the others: what they weigh in all is kept for `cohortRefreshMs`.
   * Undefined where nothing is remembered of it.
   */
  scoreLine(peer: PeerKey, nowMs: number): PeerScore | undefined {
    const record = this.#records.get(peer)
    if (record === undefined) return undefined
    if (nowMs - this.#sumsMs >= this.limits.cohortRefreshMs) {
      this.#sumsMs = nowMs
      this.#sums = weightSums(this.#weighConnected(nowMs))
    }
    const standing = this.#standingOf(peer, nowMs)
    const share = shareIn(this.#sums, weighedOf(record, standing, nowMs), this.limits.newcomerShareMax)
    return this.#view(record, standing, share, nowMs)
  }

  *#weighConnected(nowMs: number): Generator<Weighed> {
    for (const record of this.#records.allConnected()) yield weighedOf(record, this.#standingOf(record.peer, nowMs), nowMs)
  }

  /** How good the forecasts were. */
  calibration(): Calibration {
    return this.#calibrator.figures
  }

  /** How the budget for backups stands. */
  get backups(): BackupBudget['figures'] {
    return this.#budget.figures
  }

  /** What is to be kept over a restart: plain data, bounded in peers and in bytes. */
  remember(nowMs: number): RememberedPeers {
    this.#passOwn(nowMs)
    const peers = this.#records.worthKeeping().map((record) => {
      record.pass(this.#calendar, nowMs)
      record.roll(this.#calendar, nowMs, this.limits)
      return toRemembered(record, this.#calendar, nowMs)
    })
    return { version: 1, own: { hour: this.#own.hour, counts: this.#own.toSparse() }, peers }
  }

  #known(peer: PeerKey, nowMs: number): PeerRecord {
    let record = this.#records.get(peer)
    if (record === undefined) {
      record = new PeerRecord(peer, this.#calendar, nowMs)
      this.#records.add(record)
    }
    return record
  }

  #credited(peer: PeerKey): void {
    const counts = this.#records.get(peer)?.counts
    // Who was forgotten meanwhile and came back has a credit for a block that its record knows nothing of.
    if (counts !== undefined && counts.rewardable < counts.successful) counts.rewardable += 1
  }

  #deliver(record: PeerRecord, delivery: Delivery, nowMs: number): void {
    const netMs = record.deliver(delivery, nowMs)
    this.#latencies.add(0, netMs)
    // The 99th of a hundred is the first that says anything.
    const total = this.#latencies.total(0)
    if (total >= 100 && total % 16 === 0) this.#lateMs = this.#latencies.quantile(0, 0.99)
  }

  #stand(record: PeerRecord, nowMs: number): void {
    record.roll(this.#calendar, nowMs, this.limits)
    const ranks = this.#share === 'percentile' ? this.#cohort.ranks(record) : noRanks
    const standing = standingOf(record, this.#cohort.figures, this.#uptimeOf(record, nowMs), ranks, this.#share, nowMs, this.limits)
    record.standing = standing
    record.standingEpoch = this.#cohort.epoch
    record.standingUntilMs = record.shutOutUntilMs > nowMs ? Math.min(record.shutOutUntilMs, nowMs + standingMs) : nowMs + standingMs
  }

  #unknownStanding(nowMs: number): PeerStanding {
    if (this.#unknown === undefined || this.#unknownEpoch !== this.#cohort.epoch) {
      const record = new PeerRecord('' as PeerKey, this.#calendar, nowMs)
      this.#unknown = standingOf(record, this.#cohort.figures, 1, middleRanks, this.#share, nowMs, this.limits)
      this.#unknownEpoch = this.#cohort.epoch
    }
    return this.#unknown
  }

  /** From when on silence speaks against a peer. */
  #netLateMs(record: PeerRecord | undefined): number {
    return Math.max(this.limits.quietMinMs, record?.latency?.netLateMs(0, 'late') ?? this.#lateMs)
  }

  #uptimeOf(record: PeerRecord, nowMs: number): number {
    this.#passOwn(nowMs, stepMs)
    const sinceFirstMs = this.#calendar.wallMs(nowMs) - record.firstSeenWallMs
    return uptimeOf(record.windows, this.#own, sinceFirstMs, this.limits)
  }

  #passOwn(nowMs: number, leastMs = 0): void {
    if (nowMs - this.#ownUntilMs < leastMs) return
    this.#own.pass(this.#ownUntilMs, nowMs, this.#calendar)
    this.#own.roll(this.#calendar.hour(nowMs))
    this.#ownUntilMs = nowMs
  }

  #view(record: PeerRecord, { score, isVetted }: PeerStanding, share: number, nowMs: number): PeerScore {
    const { day, month } = record.windows
    const sinceFirstMs = this.#calendar.wallMs(nowMs) - record.firstSeenWallMs
    // Added here and not counted there: a look changes nothing.
    const uncountedMs = record.uncountedMs(nowMs)
    const ownMs = nowMs - this.#ownUntilMs
    return {
      peer: record.peer,
      isConnected: record.isConnected,
      isVetted,
      score,
      share,
      shutOutMs: Math.max(0, record.shutOutUntilMs - nowMs),
      returnLeftMs: record.returnLeftAt(nowMs),
      success24h: part(day.successes, day.observations),
      success30d: part(month.successes, month.observations),
      uptime24h: part(day.timeMs + uncountedMs, Math.min(this.#own.day.timeMs + ownMs, sinceFirstMs)),
      uptime30d: part(month.timeMs + uncountedMs, Math.min(this.#own.month.timeMs + ownMs, sinceFirstMs)),
      latencyP50Ms: record.latency?.quantileMs(0.5),
      latencyP95Ms: record.latency?.quantileMs(0.95),
      failChance: this.failChance(record.peer, surely),
      inFlight: record.inFlight,
      counts: { ...record.counts }
    }
  }
}

/** When a block of the median peer of these is late, in milliseconds; undefined where none of them delivered. */
function usualLateMs(records: readonly PeerRecord[]): number | undefined {
  const lateMs = records.flatMap(({ latency }) => (latency === undefined ? [] : [latency.netLateMs(0, 'late')])).sort((a, b) => a - b)
  return lateMs[lateMs.length >> 1]
}

const noRanks = { success: 0, latency: 0, uptime: 0 }
const middleRanks = { success: 0.5, latency: 0.5, uptime: 0.5 }
const surely: Chances = { presence: 1, quietMs: 0 }
/** Failure is likelier than success. */
const doubtfulFailChance = 0.5

/** What a peer weighs in the draw: nothing where it cannot be asked. */
function weighedOf({ isConnected, shutOutUntilMs }: PeerRecord, { weight, isVetted }: PeerStanding, nowMs: number): Weighed {
  return { weight: isConnected && shutOutUntilMs <= nowMs ? weight : 0, isVetted }
}

function part(of: number, all: number): number | undefined {
  return all > 0 ? Math.min(1, of / all) : undefined
}
