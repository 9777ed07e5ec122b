import { createHash } from 'node:crypto'
import { peerKey } from '@shardswap/interface'
import type { BindingRecord } from '@shardswap/server'
import type { Logger, PeerId, PrivateKey } from '@libp2p/interface'
import type { Datastore } from 'interface-datastore'
import { RecordStore } from '../reliability/record-store.ts'
import { AdmissionBook } from './book.ts'
import { admissionPlace, fromStored, type KeptAdmission, toStored } from './kept-admission.ts'
import { type RegistryShellLimits, verifyRegistryShellLimits } from './limits.ts'
import { OwnBindings } from './own.ts'
import type { AdmissionSettings } from './types.ts'

/** A write that takes long is followed by a pause of so many times its length. */
const pausePerWrite = 200

export interface AdmissionRecordsInit {
  readonly self: PeerId
  /** Of our identity, where it is known. */
  readonly privateKey: PrivateKey | undefined
  readonly settings: AdmissionSettings
  readonly isServing: boolean
  /** Memory only where there is none. */
  readonly datastore: Datastore | undefined
  readonly log: Logger
  readonly nowMs: () => number
  readonly onWarning?: ((message: string) => void) | undefined
}

/** Admission, the registry and what we are in it: taken back from the datastore, and kept there. */
export class AdmissionRecords {
  readonly book: AdmissionBook
  readonly own: OwnBindings
  readonly limits: RegistryShellLimits
  readonly #init: AdmissionRecordsInit
  readonly #store: RecordStore | undefined
  #timer: NodeJS.Timeout | undefined
  #saved = ''
  #isStarted = false

  private constructor(init: AdmissionRecordsInit, parts: { readonly book: AdmissionBook; readonly store: RecordStore | undefined }) {
    this.#init = init
    this.limits = verifyRegistryShellLimits(init.settings.shellLimits)
    this.book = parts.book
    this.#store = parts.store
    const { self, privateKey } = init
    this.own = new OwnBindings({ book: parts.book, self, privateKey, limits: this.limits, keep: async () => await this.#keep() })
    this.book.keepOurs((record) => this.#isOurs(record))
  }

  /**
   * Takes back what was kept. What cannot be used is logged, and kept aside.
   * Errors: InvalidParametersError for settings that cannot be.
   */
  static async open(init: AdmissionRecordsInit): Promise<AdmissionRecords> {
    const { settings, isServing, nowMs, datastore, log, onWarning } = init
    const empty = new AdmissionBook({ settings, isServing, nowMs })
    const store = datastore === undefined ? undefined : new RecordStore(datastore, log, onWarning, admissionPlace)
    const found = await store?.load((state, pausedMs) => {
      const kept = fromStored(state)
      return { book: new AdmissionBook({ settings, isServing, nowMs, kept, pausedMs }), own: kept.own }
    })
    const records = new AdmissionRecords(init, { book: found?.book ?? empty, store })
    if (found !== undefined) await records.own.recall(found.own)
    records.#saved = records.#digest(records.#kept())
    return records
  }

  start(): void {
    if (this.#isStarted || this.#store === undefined) return
    this.#isStarted = true
    this.#arm(this.limits.saveEveryMs)
  }

  /** Writes for the last time. Resolves to whether all is kept. */
  async stop(): Promise<boolean> {
    this.#isStarted = false
    clearTimeout(this.#timer)
    return await this.save()
  }

  /** Resolves to whether all is kept. What has not changed is not written again. */
  async save(): Promise<boolean> {
    if (this.#store === undefined) return true
    const kept = this.#kept()
    const digest = this.#digest(kept)
    if (digest === this.#saved) return true
    const isWritten = await this.#store.save((max) => toStored(kept, max))
    if (isWritten) this.#saved = digest
    return isWritten
  }

  /** What somebody just did must not be lost with a crash. Where nothing runs it is written at the end. */
  async #keep(): Promise<void> {
    if (!this.#isStarted || (await this.save())) return
    this.#init.onWarning?.('what was registered or taken back could not be written: it holds until this node stops, and is lost then')
  }

  #arm(inMs: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      const { nowMs, log } = this.#init
      const sinceMs = nowMs()
      this.save()
        .catch((error: unknown) => log.error('what is known of admission could not be told - %e', error))
        .finally(() => {
          const pauseMs = Math.max(this.limits.saveEveryMs, pausePerWrite * (nowMs() - sinceMs))
          if (this.#isStarted) this.#arm(pauseMs)
        })
    }, inMs)
    this.#timer.unref()
  }

  /** Our own records stand first: they are the last to be left out. */
  #kept(): KeptAdmission {
    const { admission, records } = this.book.kept()
    const isOurs = ({ record }: (typeof records)[number]): boolean => this.#isOurs(record)
    return { admission, records: [...records.filter(isOurs), ...records.filter((each) => !isOurs(each))], own: this.own.saved() }
  }

  #isOurs({ client, owner }: BindingRecord): boolean {
    const self: string = peerKey(this.#init.self)
    return [self, this.own.shown().client as string].some((key) => key === client || key === owner)
  }

  /** What was served fades all the time: that it has changed is told by the decisions. */
  #digest({ admission, records, own }: KeptAdmission): string {
    const known = records.map(({ record, keptUntilMs }) => [record.client, record.sequence, record.expiresMs, keptUntilMs])
    const parts = [admission.servers, known, own, [...this.book.admission.counts()]]
    return createHash('sha256').update(JSON.stringify(parts)).digest('base64')
  }
}
