import { createHash } from 'node:crypto'
import type { PeerKey } from '@shardswap/interface'
import type { Logger } from '@libp2p/interface'
import { type PeerScore, Reliability, type ReliabilityInit, type RememberedPeers } from '@shardswap/reliability'
import type { Datastore } from 'interface-datastore'
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
  readonly options?: Pick<ReliabilityInit, 'limits' | 'share'>
  /** `saveEveryMs` by default. */
  readonly everyMs?: number
}

/** What the peer knows of others: the reliability layer, taken back from the datastore and kept there. */
export class PeerRecords implements LineSource {
  readonly core: Reliability
  readonly #init: PeerRecordsInit
  readonly #store: RecordStore | undefined
  #timer: NodeJS.Timeout | undefined
  #saved = ''
  #started = false

  private constructor(init: PeerRecordsInit, core: Reliability, store: RecordStore | undefined) {
    this.#init = init
    this.core = core
    this.#store = store
    this.#saved = digestOf(core.remember(init.nowMs()))
  }

  /** Takes back what was known at the last stop. Never rejects: what cannot be used is logged and kept aside. */
  static async open(init: PeerRecordsInit): Promise<PeerRecords> {
    const { datastore, log, nowMs, options = {} } = init
    const store = datastore === undefined ? undefined : new RecordStore(datastore, log)
    const recalled = await store?.load((remembered, pausedMs) => {
      const core = new Reliability({ ...options, remembered, nowMs: nowMs(), wallMs: wallOf(remembered) + pausedMs })
      const { problem, rejected, peers } = core.recalled
      if (problem !== undefined) throw new Error(problem)
      if (rejected > 0) log.error('of what is remembered of peers %d records make no sense and are left out; %d are good', rejected, peers)
      return core
    })
    const core = recalled ?? new Reliability({ ...options, nowMs: nowMs(), wallMs: Date.now() })
    return new PeerRecords(init, core, store)
  }

  start(): void {
    if (this.#started || this.#store === undefined) return
    this.#started = true
    this.#arm(this.#everyMs)
  }

  /** Writes for the last time. */
  async stop(): Promise<void> {
    if (!this.#started) return
    this.#started = false
    clearTimeout(this.#timer)
    await this.#save()
  }

  scores(): PeerScore[] {
    return this.core.scores(this.#init.nowMs())
  }

  /** 0 to 100. */
  scoreOf(peer: PeerKey): number {
    return this.core.standing(peer, this.#init.nowMs()).score
  }

  line(peer: PeerKey, _period: string | undefined): OwnLine {
    return { score: this.scores().find((each) => each.peer === peer), account: undefined, receipts: [] }
  }

  get #everyMs(): number {
    return this.#init.everyMs ?? saveEveryMs
  }

  #arm(inMs: number): void {
    this.#timer = setTimeout(() => {
      const sinceMs = this.#init.nowMs()
      void this.#save().then(() => {
        if (this.#started) this.#arm(Math.max(this.#everyMs, pausePerWrite * (this.#init.nowMs() - sinceMs)))
      })
    }, inMs)
    this.#timer.unref()
  }

  async #save(): Promise<void> {
    const remembered = this.core.remember(this.#init.nowMs())
    const digest = digestOf(remembered)
    if (digest === this.#saved) return
    const isSaved = await this.#store?.save((peersMax) => ({ ...remembered, peers: remembered.peers.slice(0, peersMax) }))
    if (isSaved === true) this.#saved = digest
  }
}

/** The wall's time that a state was written at, by its own account. */
function wallOf(remembered: unknown): number {
  const { wallMs } = (typeof remembered === 'object' && remembered !== null ? remembered : {}) as Partial<RememberedPeers>
  return typeof wallMs === 'number' && Number.isFinite(wallMs) ? wallMs : Date.now()
}

/** Of all but the time: what has not changed is not written again. */
function digestOf({ own, peers }: RememberedPeers): string {
  return createHash('sha256')
    .update(JSON.stringify([own, peers]))
    .digest('base64')
}
