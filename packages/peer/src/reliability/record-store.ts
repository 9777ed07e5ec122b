import { isNotFound, messageOf } from '@shardswap/interface'
import type { Logger } from '@libp2p/interface'
import { type Datastore, Key } from 'interface-datastore'
import { decodeRecord, encodeRecord } from './record.ts'
import { elapsedMs, type Stamp, stampNow, stampOf } from './stamp.ts'

/** Where what is remembered of peers stands in a datastore. */
export const recordKey = new Key('/shardswap/reliability/record')
/** Where the last record that could not be read is kept, for whoever wants to look at it. */
export const damagedKey = new Key('/shardswap/reliability/damaged')

/** Where a record stands, and what it is in words for people. */
export interface RecordPlace {
  readonly recordKey: Key
  readonly damagedKey: Key
  readonly what: string
  /** What follows where it cannot be used. */
  readonly afresh: string
}

const peersPlace: RecordPlace = { recordKey, damagedKey, what: 'what is remembered of peers', afresh: 'scores begin afresh' }

/** The longest record that is written or read, in bytes. */
export const recordBytesMax = 16 * 1024 * 1024

/** What a datastore holds under our key. */
export type FoundRecord =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'good'
      readonly state: unknown
      /** How long ago it was written, in milliseconds. */
      readonly pausedMs: number
      readonly bytes: Uint8Array
    }
  | { readonly kind: 'bad'; readonly reason: string; readonly bytes: Uint8Array }

/** Reads the record and changes nothing. Rejects where the datastore itself fails. */
export async function findRecord(datastore: Datastore, now: Stamp = stampNow(), place: RecordPlace = peersPlace): Promise<FoundRecord> {
  const bytes = await valueAt(datastore, place.recordKey)
  if (bytes === undefined) return { kind: 'none' }
  if (bytes.byteLength > recordBytesMax) return { kind: 'bad', reason: `it has ${bytes.byteLength} bytes`, bytes }
  const decoded = decodeRecord(bytes)
  if (decoded.kind === 'bad') return { ...decoded, bytes }
  const body = decoded.body as Partial<Record<'stamp' | 'state', unknown>> | null
  const written = stampOf(body?.stamp)
  if (written === undefined) return { kind: 'bad', reason: 'it does not tell when it was written', bytes }
  return { kind: 'good', state: body?.state, pausedMs: elapsedMs(written, now), bytes }
}

async function valueAt(datastore: Datastore, key: Key): Promise<Uint8Array | undefined> {
  try {
    return await datastore.get(key)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** Keeps what is known, of peers where no other place is named, in a datastore. Whatever fails there is logged, and costs what was remembered at worst. */
export class RecordStore {
  readonly #datastore: Datastore
  readonly #log: Logger
  readonly #onWarning: ((message: string) => void) | undefined
  readonly #place: RecordPlace
  /** A record that cannot be read now may be good: it is not written over. */
  #isUsable = true
  #saving: Promise<unknown> = Promise.resolve()

  /** `onWarning` is told what is lost of what was remembered, in words for people. */
  constructor(datastore: Datastore, log: Logger, onWarning?: (message: string) => void, place: RecordPlace = peersPlace) {
    this.#datastore = datastore
    this.#log = log
    this.#onWarning = onWarning
    this.#place = place
  }

  /**
   * What was remembered, as `accept` makes it of the state and the time since; undefined where there is nothing.
   * A record that is damaged, of another version, or that `accept` throws at is kept aside, once.
   */
  async load<T>(accept: (state: unknown, pausedMs: number) => T): Promise<T | undefined> {
    let found: FoundRecord
    try {
      found = await findRecord(this.#datastore, stampNow(), this.#place)
    } catch (error) {
      this.#isUsable = false
      const lost = `${this.#place.what} cannot be read, so it is left as it is, and this run begins afresh`
      this.#log.error('%s - %e', lost, error)
      this.#onWarning?.(`${lost} (${messageOf(error)})`)
      return undefined
    }
    if (found.kind === 'none') return undefined
    if (found.kind === 'bad') return await this.#setAside(found.reason, found.bytes)
    try {
      return accept(found.state, found.pausedMs)
    } catch (error) {
      const reason = `it holds what no record holds (${messageOf(error)})`
      return await this.#setAside(reason, found.bytes)
    }
  }

  /**
   * Writes one after another; `take` gives the state, with at most so many peers where it is too long with all.
   * Resolves to whether it was written.
   */
  async save(take: (peersMax: number) => unknown): Promise<boolean> {
    const saving = this.#saving.then(async () => await this.#save(take))
    this.#saving = saving
    return await saving
  }

  async #save(take: (peersMax: number) => unknown): Promise<boolean> {
    if (!this.#isUsable) return false
    try {
      await this.#datastore.put(this.#place.recordKey, fitting(take))
      return true
    } catch (error) {
      this.#log.error('%s could not be written - %e', this.#place.what, error)
      return false
    }
  }

  async #setAside(reason: string, bytes: Uint8Array): Promise<undefined> {
    const { what, afresh, ...keys } = this.#place
    const lost = `${what} cannot be used: ${reason}; it is kept under ${keys.damagedKey.toString()}, and ${afresh}`
    this.#log.error('%s', lost)
    this.#onWarning?.(lost)
    try {
      await this.#datastore.put(keys.damagedKey, bytes.subarray(0, recordBytesMax))
      await this.#datastore.delete(keys.recordKey)
    } catch (error) {
      this.#log.error('the record that cannot be used could not be kept aside - %e', error)
    }
    return undefined
  }
}

function fitting(take: (peersMax: number) => unknown): Uint8Array {
  const stamp = stampNow()
  const whole = encodeRecord({ stamp, state: take(Infinity) })
  if (whole.byteLength <= recordBytesMax) return whole
  for (let peersMax = 16_384; peersMax >= 1; peersMax /= 2) {
    const part = encodeRecord({ stamp, state: take(peersMax) })
    if (part.byteLength <= recordBytesMax) return part
  }
  return encodeRecord({ stamp, state: take(0) })
}
