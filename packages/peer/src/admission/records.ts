import { createHash } from 'node:crypto'
import { peerKey } from '@shardswap/interface'
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
  #isSaving = false
  /** Something was made that is not written yet. */
  #isSaveDue = false

  private constructor(init: AdmissionRecordsInit, parts: { readonly book: AdmissionBook; readonly store: RecordStore | undefined }) {
    this.#init = init
    this.limits = verifyRegistryShellLimits(init.settings.shellLimits)
    this.book = parts.book
    this.#store = parts.store
    this.own = new OwnBindings({ book: parts.book, self: init.self, privateKey: init.privateKey, limits: this.limits })
    this.own.follow(() => this.#saveSoon())
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

  /** Writes for the last time. */
  async stop(): Promise<void> {
    this.#isStarted = false
    clearTimeout(this.#timer)
    await this.save()
  }

  /** What has not changed is not written again. */
  async save(): Promise<void> {
    if (this.#store === undefined) return
    const kept = this.#kept()
    const digest = this.#digest(kept)
    if (digest === this.#saved) return
    if (await this.#store.save((max) => toStored(kept, max))) this.#saved = digest
  }

  /** What somebody just did must not be lost with a crash. */
  #saveSoon(): void {
    if (!this.#isStarted) return
    this.#isSaveDue = true
    if (!this.#isSaving) this.#arm(0)
  }

  #arm(inMs: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      const { nowMs, log } = this.#init
      const sinceMs = nowMs()
      this.#isSaving = true
      this.#isSaveDue = false
      this.save()
        .catch((error: unknown) => log.error('what is known of admission could not be told - %e', error))
        .finally(() => {
          this.#isSaving = false
          const pauseMs = Math.max(this.limits.saveEveryMs, pausePerWrite * (nowMs() - sinceMs))
          if (this.#isStarted) this.#arm(this.#isSaveDue ? 0 : pauseMs)
        })
    }, inMs)
    this.#timer.unref()
  }

  /** Our own records stand first: they are the last to be left out. */
  #kept(): KeptAdmission {
    const { admission, records } = this.book.kept()
    const self = peerKey(this.#init.self)
    const ours = new Set<string>([self, this.own.shown().client])
    const isOurs = ({ record }: (typeof records)[number]): boolean => ours.has(record.client) || ours.has(record.owner)
    return { admission, records: [...records.filter(isOurs), ...records.filter((each) => !isOurs(each))], own: this.own.saved() }
  }

  /** What was served fades all the time: that it has changed is told by the decisions. */
  #digest({ admission, records, own }: KeptAdmission): string {
    const known = records.map(({ record, keptUntilMs }) => [record.client, record.sequence, record.expiresMs, keptUntilMs])
    const parts = [admission.servers, known, own, [...this.book.admission.counts()]]
    return createHash('sha256').update(JSON.stringify(parts)).digest('base64')
  }
}
