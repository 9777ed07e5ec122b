import type { PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { InvalidParametersError, type PeerKey } from '@shardswap/interface'
import { clientKey } from '@shardswap/server'
import type { AdmissionRecords } from '../records.ts'
import type { SignedRecord } from '../signed-record.ts'
import type { BindingStat } from '../types.ts'

/** What makes another identity one of our owner's clients: a node of that identity shows it as any client does. */
export interface Introduction {
  /** A binding of its key, or of the key that is shared with it. */
  readonly record: SignedRecord
  /** Where our client key is shared with it. */
  readonly delegation: string | undefined
}

/**
 * How another identity can be made a client of our owner: a node that is its own owner and has registered binds its key; one
 * whose owner's key is elsewhere shares its own client key with it. Undefined where neither can be.
 */
export function introductionMeans({ book }: AdmissionRecords, self: PeerKey): 'binding' | 'delegation' | undefined {
  const record = book.registry.recordOf(clientKey(self), book.nowMs())
  if (record?.kind !== 'binding') return undefined
  const [owner, server]: readonly string[] = [record.owner, record.server]
  return owner === self && server === self ? 'binding' : 'delegation'
}

/**
 * Binds another identity, or shares our client key with it: also where the owner has its part of bindings, as after many
 * restarts within their term. Rejects where neither can be.
 */
export async function introduce(records: AdmissionRecords, self: PeerKey, privateKey: PrivateKey): Promise<Introduction> {
  const { book, own } = records
  const other = peerIdFromPrivateKey(privateKey)
  const isBound = introductionMeans(records, self) === 'binding' && (await isTaken(own.register({ clientKey: privateKey })))
  const delegation = isBound ? undefined : await own.delegate(other)
  const record = book.registry.recordOf(clientKey(isBound ? other : self), book.nowMs())
  if (record === undefined) throw new Error('the client key is bound no longer')
  return { record, delegation }
}

/** Whether what was said then still holds: it may have been revoked since, or made anew for another owner or term. */
export function introductionHolds({ book }: AdmissionRecords, { record }: Introduction): boolean {
  return book.registry.recordOf(record.client, book.nowMs())?.sequence === record.sequence
}

async function isTaken(binding: Promise<BindingStat>): Promise<boolean> {
  try {
    await binding
    return true
  } catch (error) {
    if (error instanceof InvalidParametersError) return false
    throw error
  }
}

/** The other side of it: a node takes in who it is to others. */
export async function introduced({ book, own }: AdmissionRecords, { record, delegation }: Introduction): Promise<void> {
  await book.take(record)
  if (delegation !== undefined) await own.useDelegation(delegation)
}
