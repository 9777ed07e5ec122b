import type { CID } from '@shardswap/interface'
import type { OutgoingBlock, Presence, WantlistEntry } from './types.ts'
import { int32Bytes, varintBytes } from './varint.ts'

const v0PrefixBytes = 4

/** A field of bytes or a submessage: its tag of one byte, its length, itself. */
export function fieldBytes(length: number): number {
  return 1 + varintBytes(length) + length
}

/** Bytes of an entry without its tag and length; fields at their default are not written. */
export function entryBodyBytes(entry: WantlistEntry): number {
  let bytes = fieldBytes(entry.cid.bytes.byteLength)
  if (entry.priority !== 0) bytes += 1 + int32Bytes(entry.priority)
  if (entry.cancel) bytes += 2
  if (entry.wantType === 'have') bytes += 2
  if (entry.sendDontHave) bytes += 2
  return bytes
}

/** Bytes of a presence without its tag and length. */
export function presenceBodyBytes(cid: CID, presence: Presence): number {
  return fieldBytes(cid.bytes.byteLength) + (presence === 'dont-have' ? 2 : 0)
}

/** Bytes of a block in `payload` without its tag and length. */
export function blockBodyBytes({ cid, bytes }: OutgoingBlock): number {
  const prefix = cid.version === 0 ? v0PrefixBytes : cid.bytes.byteLength - cid.multihash.size
  return fieldBytes(prefix) + (bytes.byteLength === 0 ? 0 : fieldBytes(bytes.byteLength))
}
