import { isCount, isObject } from '@shardswap/interface'
import type { KeptRecord, OwnerKey, SavedAdmission, SavedServer } from '@shardswap/server'
import { Key } from 'interface-datastore'
import type { RecordPlace } from '../reliability/record-store.ts'
import type { KeptBook } from './book.ts'
import { fromText, toText } from './envelope.ts'
import type { SavedOwn } from './own.ts'
import { readRecord, type SignedRecord } from './signed-record.ts'

/** Where what is remembered of admission stands in a datastore. */
export const admissionPlace: RecordPlace = {
  recordKey: new Key('/shardswap/admission/record'),
  damagedKey: new Key('/shardswap/admission/damaged'),
  what: 'what is remembered of admission',
  afresh: 'bindings, tests and what owners were served begin afresh'
}

/** All of it. */
export interface KeptAdmission extends KeptBook {
  readonly own: SavedOwn
}

/** One record: its envelope as text, and the two numbers of `KeptRecord`. */
type StoredRecord = readonly [string, number, number]

interface Stored {
  readonly admission: SavedAdmission
  readonly records: readonly StoredRecord[]
  readonly own: SavedOwn
}

/** As JSON holds it, with at most so many of each kind. */
export function toStored({ admission, records, own }: KeptAdmission, max: number): Stored {
  const { servers, owners, served } = admission
  return {
    admission: { servers: servers.slice(0, max), owners: owners.slice(0, max), served },
    records: records
      .slice(0, max)
      .map(({ record, boundSequence, keptUntilMs }): StoredRecord => [toText(record.bytes), boundSequence, keptUntilMs]),
    own
  }
}

/** What `toStored` gave. It lay under a checksum, so its signatures are not looked at again. Throws where it is anything else. */
export function fromStored(state: unknown): KeptAdmission {
  if (!isObject<Stored>(state)) throw new Error('it is no object')
  const { admission, records, own } = state
  if (!isObject<SavedAdmission>(admission) || !isObject<SavedOwn>(own)) throw new Error('it has no admission, or nothing of ourselves')
  const { servers, owners, served } = admission
  if (typeof served !== 'number') throw new Error('"served" is no number')
  return {
    admission: { servers: listOf(servers, 'servers', serverIn), owners: listOf(owners, 'owners', ownerIn), served },
    records: listOf(records, 'records', recordIn),
    own: own as SavedOwn
  }
}

function listOf<T>(value: unknown, name: string, take: (item: unknown) => T): T[] {
  if (!Array.isArray(value)) throw new Error(`"${name}" is no list`)
  return value.map((item: unknown) => take(item))
}

function serverIn(value: unknown): SavedServer {
  if (!isObject<SavedServer>(value)) throw new Error('a server is no object')
  const { server, hour, buckets } = value
  if (typeof server !== 'string' || typeof hour !== 'number' || !Array.isArray(buckets)) throw new Error('a server is none')
  return value as SavedServer
}

function ownerIn(value: unknown): readonly [OwnerKey, number] {
  const [owner, sum] = Array.isArray(value) ? (value as unknown[]) : []
  if (typeof owner !== 'string' || typeof sum !== 'number') throw new Error('an owner is none')
  return [owner as OwnerKey, sum]
}

function recordIn(value: unknown): KeptRecord<SignedRecord> {
  const [text, boundSequence, keptUntilMs] = Array.isArray(value) ? (value as unknown[]) : []
  const isWhole = typeof boundSequence === 'number' && Number.isSafeInteger(boundSequence) && isCount(keptUntilMs)
  if (typeof text !== 'string' || !isWhole) throw new Error('a record is none')
  return { record: readRecord(fromText(text)), boundSequence, keptUntilMs }
}
