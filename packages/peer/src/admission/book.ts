import {
  Admission,
  type AdmissionMode,
  type BindingRecord,
  BindingRegistry,
  type KeptRecord,
  type RecordOutcome,
  type RegistryChange,
  type RegistryLimits,
  type SavedAdmission,
  verifyAdmissionLimits,
  verifyRegistryLimits
} from '@shardswap/server'
import { Calendar } from '@shardswap/reliability'
import { InvalidParametersError } from '@shardswap/interface'
import { isSignedRecord, type SignedRecord } from './signed-record.ts'
import type { AdmissionSettings } from './types.ts'

const modes: readonly AdmissionMode[] = ['open', 'registered', 'off']

export interface AdmissionBookInit {
  readonly settings: AdmissionSettings
  /** Whether the node serves at all: else the mode is `off`. */
  readonly isServing: boolean
  readonly nowMs: () => number
  /** What was kept in an earlier run, and how long ago. */
  readonly kept?: KeptBook | undefined
  readonly pausedMs?: number
}

/** What outlives a process. */
export interface KeptBook {
  readonly admission: SavedAdmission
  readonly records: readonly KeptRecord<SignedRecord>[]
}

/** Who follows what changes in the registry. */
export type RegistryFollower = (changes: readonly RegistryChange[]) => void

/** Admission and the registry that it follows, told by one clock. */
export class AdmissionBook {
  readonly admission: Admission
  readonly registry: BindingRegistry<SignedRecord>
  readonly registryLimits: RegistryLimits
  readonly #nowMs: () => number
  #calendar: Calendar
  /** Records whose signatures are right. */
  readonly #signed = new WeakSet<BindingRecord>()
  readonly #followers = new Set<RegistryFollower>()
  #isOurs: (record: BindingRecord) => boolean = () => false

  /** Errors: InvalidParametersError for limits or a mode that cannot be. */
  constructor({ settings, isServing, nowMs, kept, pausedMs = 0 }: AdmissionBookInit) {
    const { mode = 'open', limits, registryLimits } = settings
    if (!modes.includes(mode)) throw new InvalidParametersError(`mode must be one of ${modes.join(', ')}, not ${JSON.stringify(mode)}`)
    this.registryLimits = verifyRegistryLimits(registryLimits)
    const times = { wallMs: Date.now(), nowMs: nowMs() }
    this.#nowMs = nowMs
    this.#calendar = new Calendar(times.wallMs, times.nowMs)
    this.admission = new Admission({
      mode: isServing ? mode : 'off',
      limits: verifyAdmissionLimits(limits),
      ...times,
      ...(kept === undefined ? {} : { saved: kept.admission, pausedMs })
    })
    this.registry = new BindingRegistry<SignedRecord>({
      ...times,
      limits: this.registryLimits,
      verify: (record) => this.#signed.has(record),
      isProven: (server) => this.admission.isProven(server, nowMs()),
      isOurs: (record) => this.#isOurs(record)
    })
    if (kept !== undefined) this.#tell(this.registry.restore(kept.records, times.nowMs))
  }

  /** Which records are the node's own, which a flood of others' must not push out. */
  keepOurs(isOurs: (record: BindingRecord) => boolean): void {
    this.#isOurs = isOurs
  }

  /** What is to be kept. */
  kept(): KeptBook {
    return { admission: this.admission.saved(this.#nowMs()), records: [...this.registry.kept()] }
  }

  nowMs(): number {
    return this.#nowMs()
  }

  /**
   * Records are dated by the clocks of all machines: to be told now and then what ours says, as our own time stands still while
   * the machine sleeps, and the clock may have been wrong when we began.
   */
  setClock(wallMs: number): void {
    this.#calendar = new Calendar(wallMs, this.#nowMs())
    this.registry.setClock(wallMs, this.#nowMs())
  }

  /** The wall's time, as it was told last: what dates records. */
  wallMs(): number {
    return this.#calendar.wallMs(this.#nowMs())
  }

  /** Told of every change, after admission. */
  follow(follower: RegistryFollower): void {
    this.#followers.add(follower)
  }

  /** What is to be said of a record before its signatures are looked at; undefined: look at them. */
  check(record: SignedRecord): RecordOutcome | undefined {
    return this.registry.check(record, record.bytes.byteLength, this.#nowMs())
  }

  /** Takes a record, whoever handed it on, once its signatures were looked at. */
  async take(record: SignedRecord): Promise<RecordOutcome> {
    // What is refused anyway, or known, costs no signature.
    if (this.check(record) === undefined && (await isSignedRecord(record))) this.#signed.add(record)
    const { outcome, changes } = this.registry.accept(record, record.bytes.byteLength, this.#nowMs())
    this.#tell(changes)
    return outcome
  }

  /** Lets go of what has expired. */
  expire(): void {
    this.#tell(this.registry.expire(this.#nowMs()))
  }

  #tell(changes: readonly RegistryChange[]): void {
    if (changes.length === 0) return
    this.admission.follow(changes, this.#nowMs())
    for (const follower of this.#followers) follower(changes)
  }
}
