import type { CID } from '@shardswap/interface'
import * as fc from 'fast-check'
import { create as createDigest } from 'multiformats/hashes/digest'
import { CID as Cid } from 'multiformats/cid'
import type { OutgoingBlock, OutgoingMessage, WantlistEntry } from '../src/index.ts'

const codec = fc.constantFrom(0x55, 0x70, 0x71, 0x0129, 0x300000)
const hashCode = fc.constantFrom(0x12, 0x13, 0x1e, 0xb220)

/** Few digests, so that CIDs meet again; of lengths that hashes have, and odd ones. */
const digest = fc.tuple(fc.constantFrom(32, 32, 32, 20, 64, 1, 128), fc.nat(5)).map(([length, byte]) => new Uint8Array(length).fill(byte))

export const cid: fc.Arbitrary<CID> = fc.oneof(
  fc.tuple(codec, hashCode, digest).map(([code, hash, bytes]) => Cid.createV1(code, createDigest(hash, bytes)) as CID),
  fc.nat(5).map((byte) => Cid.createV0(createDigest(0x12, new Uint8Array(32).fill(byte))) as CID)
)

const int32 = fc.oneof(fc.integer(), fc.constantFrom(0, 1, -1, 0x7fffffff, -0x80000000, 127, 128))

const entry: fc.Arbitrary<WantlistEntry> = fc.record({
  cid,
  priority: int32,
  cancel: fc.boolean(),
  wantType: fc.constantFrom('block', 'have'),
  sendDontHave: fc.boolean()
})

const block: fc.Arbitrary<OutgoingBlock> = fc.record({ cid, bytes: fc.uint8Array({ maxLength: 300 }) })

const presence = fc.record({ cid, presence: fc.constantFrom('have' as const, 'dont-have' as const) })

const byCid = { selector: (item: { cid: CID }) => item.cid.toString() }

/** A message with one entry and one presence per CID at most. */
export const message = fc.record({
  full: fc.boolean(),
  entries: fc.uniqueArray(entry, { ...byCid, maxLength: 20 }),
  blocks: fc.array(block, { maxLength: 10 }),
  presences: fc.uniqueArray(presence, { ...byCid, maxLength: 10 }),
  pendingBytes: fc.oneof(fc.constant(0), fc.nat(0x7fffffff))
}) satisfies fc.Arbitrary<OutgoingMessage>
