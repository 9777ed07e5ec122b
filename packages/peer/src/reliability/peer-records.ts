import { createHash } from 'node:crypto'
import type { PeerKey } from '@shardswap/interface'
import type { Logger } from '@libp2p/interface'
import { Calendar, type PeerScore, Reliability, type ReliabilityInit, type RememberedPeers } from '@shardswap/reliability'
import type { Datastore } from 'interface-datastore'
import { type KeptState, keptState } from './kept-state.ts'
import { type AccountBook, accountBook } from './account-book.ts'
import { OwnAccounts } from './own-line.ts'
import { ReceiptStore } from './receipts.ts'
import { RecordStore } from './record-store.ts'
import type { LineSource, OwnLine } from './types.ts'

/** How often what is known is written, where it has changed. A crash costs so much of it. */
const saveEveryMs = 60_000
/** A write that takes long is followed by a pause of so many times its length. */
const pausePerWrite = 200

export interface PeerRecordsInit {
  /** Memory only where there is none. */
  readonly datastore: Datastore | undefined
  readonly log: Logger
  readonly nowMs: () => number
  readonly onWarning?: ((message: string) => void) | undefined
  readonly options?: Pick<ReliabilityInit, 'limits' | 'share' | 'budgetLimits' | 'accountLimits'>
  /** `saveEveryMs` by default. */
  readonly everyMs?: number
}

/** What the peer knows of others: the reliability layer, taken back from the datastore and kept there. */
export class PeerRecords implements LineSource {
  readonly core: Reliability
  /** The accounts with their receipts, those in the datastore among them. */
  readonly book: AccountBook
  readonly #receipts: ReceiptStore
  readonly #own: OwnAccounts
  readonly #init: PeerRecordsInit
  readonly #store: RecordStore | undefined
  /** By the wall's time as it was set when we began. */
  readonly #calendar: Calendar
  #timer: NodeJS.Timeout | undefined
  #saved = ''
  #started = false

  private constructor(
    init: PeerRecordsInit,
    core: Reliability,
    stores: { readonly records: RecordStore | undefined; readonly receipts: ReceiptStore },
    times: { wallMs: number; nowMs: number }
  ) {
    this.#init = init
    this.#receipts = stores.receipts
    this.book = accountBook(core.accounts, stores.receipts, init.nowMs)
    this.#own = new OwnAccounts({ book: this.book, receipts: stores.receipts, nowMs: init.nowMs })
    this.#calendar = new Calendar(times.wallMs, times.nowMs)
    this.core = core
    this.#store = stores.records
    this.#saved = digestOf(core.remember(init.nowMs()))
  }

  /** Takes back what was known at the last stop. Never rejects: what cannot be used is logged and kept aside. */
  static async open(init: PeerRecordsInit): Promise<PeerRecords> {
    const { datastore, log, nowMs, onWarning, options = {} } = init
    const store = datastore === undefined ? undefined : new RecordStore(datastore, log, onWarning)
    const times = { wallMs: Date.now(), nowMs: nowMs() }
    const recalled = await store?.load((state, pausedMs) => {
      const core = new Reliability({ ...options, ...times, remembered: keptState(state, pausedMs, times.wallMs) })
      const { problem, rejected, peers } = core.recalled
      if (problem !== undefined) throw new Error(problem)
      if (rejected > 0) {
        log.error('of what is remembered of peers %d records make no sense and are left out; %d are good', rejected, peers)
        onWarning?.(`of what is remembered of peers, records that make no sense are left out: ${rejected} of ${rejected + peers}`)
      }
      return core
    })
    const core = recalled ?? new Reliability({ ...options, ...times })
    const receipts = await ReceiptStore.open({ datastore, accounts: core.accounts, log, nowMs })
    return new PeerRecords(init, core, { records: store, receipts }, times)
  }

  start(): void {
    if (this.#started || this.#store === undefined) return
    this.#started = true
    this.#receipts.start()
    this.#arm(this.#everyMs)
  }

  /** Writes for the last time. */
  async stop(): Promise<void> {
    this.#own.stop()
    if (!this.#started) return
    this.#started = false
    clearTimeout(this.#timer)
    await Promise.all([this.#save(true), this.#receipts.stop()])
  }

  scores(): PeerScore[] {
    return this.core.scores(this.#init.nowMs())
  }

  /** 0 to 100. */
  scoreOf(peer: PeerKey): number {
    return this.core.scoreOf(peer, this.#init.nowMs())
  }

  async line(peer: PeerKey, period: string | undefined): Promise<OwnLine> {
    const score = this.core.scoreLine(peer, this.#init.nowMs())
    return { score, ...(await this.#own.of(peer, period)) }
  }

  get #everyMs(): number {
    return this.#init.everyMs ?? saveEveryMs
  }

  #arm(inMs: number): void {
    this.#timer = setTimeout(() => {
      const sinceMs = this.#init.nowMs()
      const next = (): void => {
        if (this.#started) this.#arm(Math.max(this.#everyMs, pausePerWrite * (this.#init.nowMs() - sinceMs)))
      }
      this.#save().then(next, (error: unknown) => {
        this.#init.log.error('what is known of peers could not be told - %e', error)
        next()
      })
    }, inMs)
    this.#timer.unref()
  }

  /** What has not changed is not written again; our own time alone, which goes on always, is written at the end. */
  async #save(isLast = false): Promise<void> {
    const nowMs = this.#init.nowMs()
    const remembered = this.core.remember(nowMs)
    const digest = digestOf(remembered)
    if (digest === this.#saved && !(isLast && remembered.peers.length > 0)) return
    const isSaved = await this.#store?.save((peersMax): KeptState => {
      // Who would be forgotten last stands last.
      const peers = remembered.peers.slice(Math.max(0, remembered.peers.length - peersMax))
      return { wallMs: this.#calendar.wallMs(nowMs), remembered: { ...remembered, peers } }
    })
    if (isSaved === true) this.#saved = digest
  }
}

function digestOf({ peers }: RememberedPeers): string {
  return createHash('sha256').update(JSON.stringify(peers)).digest('base64')
}
