import { MalformedError } from '@shardswap/interface'
import { readSegment, type Segment, type SegmentContent } from '@shardswap/reliability'
import { type Seal, sealed, unsealed } from './sealed.ts'

const seal: Seal = { magic: 'shardrcp', version: 1 }

/** A segment as it is stored: under a checksum. */
export function encodeSegment({ bytes }: Pick<Segment, 'bytes'>): Uint8Array {
  return sealed(seal, bytes)
}

/** Reads what `encodeSegment` gave. Throws MalformedError where it is anything else, or not what its name says. */
export function decodeSegment(bytes: Uint8Array, named: Pick<Segment, 'period' | 'receipts'>): SegmentContent {
  const found = unsealed(seal, bytes)
  if (found.kind === 'bad') throw new MalformedError(found.reason)
  const content = readSegment(found.body)
  const { period, receipts } = content
  if (period !== named.period || receipts.length !== named.receipts) {
    throw new MalformedError(`it has ${receipts.length} receipts of ${period}, and its name says ${named.receipts} of ${named.period}`)
  }
  return content
}
