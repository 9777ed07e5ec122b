import { create, fromBinary, toBinary, type MessageInitShape } from '@bufbuild/protobuf'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeMessage, encodeMessages, FrameDecoder, type OutgoingMessage } from '../src/index.ts'
import { cid, message } from './arbitraries.ts'
import { MessageSchema, type Message_BlockPresenceType, type Message_Wantlist_WantType } from './generated/bitswap_pb.js'
import { meaning } from './meaning.ts'
import { meaningOf, toHex, type Meaning } from './reference.ts'

const runs = { numRuns: 300 }

function bodies(outgoing: OutgoingMessage, version: '1.2.0' | '1.0.0' = '1.2.0', messageBytesTarget = 4 * 1024 * 1024): Uint8Array[] {
  const decoder = new FrameDecoder()
  for (const frame of encodeMessages(outgoing, version, { messageBytesTarget })) decoder.push(frame)
  const frames = Array.from(decoder.frames())
  expect(decoder.atBorder).toBe(true)
  return frames
}

/** What an outgoing message says, in the terms of the reference. */
function said({ full = false, entries = [], blocks = [], presences = [], pendingBytes = 0 }: OutgoingMessage): Meaning {
  return {
    full,
    entries: entries.map(({ cid, ...entry }) => ({ cid: toHex(cid.bytes), ...entry })),
    blocks: blocks.map(({ cid, bytes }) => {
      const { version, code, multihash } = cid
      return { prefix: [version, code, multihash.code, multihash.size].join(','), data: toHex(bytes) }
    }),
    presences: presences.map(({ cid, presence }) => ({ cid: toHex(cid.bytes), presence })),
    pendingBytes
  }
}

/** Values that the enum has, and some that it may have one day. */
function anyEnum<T extends number>(): fc.Arbitrary<T> {
  return fc.constantFrom(0, 1, 0, 1, 2, 77, -1) as fc.Arbitrary<number> as fc.Arbitrary<T>
}

function isEmpty({ entries, blocks, presences }: Meaning): boolean {
  return entries.length + blocks.length + presences.length === 0
}

describe('the codec and its oracle', () => {
  it('the oracle reads what we write', () => {
    fc.assert(
      fc.property(message, (outgoing) => {
        const read = bodies(outgoing).map((body) => fromBinary(MessageSchema, body))
        expect(read.every((one) => one.wantlist !== undefined && one.$unknown === undefined)).toBe(true)
        const expected = said(outgoing)
        expect(read.map((one) => meaningOf(one))).toEqual(isEmpty(expected) ? [] : [expected])
      }),
      runs
    )
  })

  it('we write the bytes that the oracle writes', () => {
    fc.assert(
      fc.property(message, (outgoing) => {
        for (const body of bodies(outgoing)) {
          expect(toHex(body)).toBe(toHex(toBinary(MessageSchema, fromBinary(MessageSchema, body))))
        }
      }),
      runs
    )
  })

  it('we read what we write', () => {
    fc.assert(
      fc.property(message, (outgoing) => {
        const expected = said(outgoing)
        expect(bodies(outgoing).map((body) => meaning(decodeMessage(body)))).toEqual(isEmpty(expected) ? [] : [expected])
      }),
      runs
    )
  })

  it('we read what the oracle writes, duplicates, odd enums and absent fields included', () => {
    const cidBytes = cid.map((one) => one.bytes)
    const wire = fc.record({
      wantlist: fc.option(
        fc.record({
          full: fc.boolean(),
          entries: fc.array(
            fc.record({
              block: cidBytes,
              priority: fc.integer(),
              cancel: fc.boolean(),
              wantType: anyEnum<Message_Wantlist_WantType>(),
              sendDontHave: fc.boolean()
            }),
            { maxLength: 20 }
          )
        }),
        { nil: undefined }
      ),
      blocks: fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 3 }),
      payload: fc.array(
        fc.record({ prefix: fc.constantFrom(Uint8Array.of(1, 0x55, 0x12, 32), Uint8Array.of(0, 0x70, 0x12, 32)), data: fc.uint8Array() }),
        { maxLength: 3 }
      ),
      blockPresences: fc.array(fc.record({ cid: cidBytes, type: anyEnum<Message_BlockPresenceType>() }), { maxLength: 10 }),
      pendingBytes: fc.integer()
    })
    fc.assert(
      fc.property(wire, ({ wantlist, ...rest }) => {
        const init: MessageInitShape<typeof MessageSchema> = wantlist === undefined ? rest : { ...rest, wantlist }
        const source = create(MessageSchema, init)
        expect(meaning(decodeMessage(toBinary(MessageSchema, source)))).toEqual(meaningOf(source))
      }),
      runs
    )
  })

  it('a split says what the whole says, in order, within its target, full once', () => {
    fc.assert(
      fc.property(message, fc.integer({ min: 1, max: 2000 }), (outgoing, target) => {
        const parts = bodies(outgoing, '1.2.0', target).map((body) => ({ bytes: body.byteLength, read: meaning(decodeMessage(body)) }))
        const expected = said(outgoing)
        expect(parts.flatMap(({ read }) => read.entries)).toEqual(expected.entries)
        expect(parts.flatMap(({ read }) => read.blocks)).toEqual(expected.blocks)
        expect(parts.flatMap(({ read }) => read.presences)).toEqual(expected.presences)
        let behind = 0
        for (const [i, { bytes, read }] of Array.from(parts.entries()).reverse()) {
          const items = read.entries.length + read.blocks.length + read.presences.length
          expect(items).toBeGreaterThan(0)
          expect(items === 1 || bytes <= target).toBe(true)
          expect(read.full).toBe(expected.full && i === 0)
          expect(read.pendingBytes).toBe(Math.min(0x7fffffff, expected.pendingBytes + behind))
          behind += read.blocks.reduce((sum, { data }) => sum + data.length / 2, 0)
        }
      }),
      runs
    )
  })

  it('before 1.1.0 there are entries and bare blocks, and nothing else', () => {
    fc.assert(
      fc.property(message, (outgoing) => {
        const read = bodies(outgoing, '1.0.0').map((body) => fromBinary(MessageSchema, body))
        const { full, entries, blocks } = said(outgoing)
        const bare = blocks.map(({ data }) => ({ prefix: '0,112,18,32', data }))
        const expected = { full, entries, blocks: bare, presences: [], pendingBytes: 0 }
        expect(read.map((one) => meaningOf(one))).toEqual(isEmpty(expected) ? [] : [expected])
        expect(read.every((one) => one.payload.length === 0)).toBe(true)
      }),
      runs
    )
  })
})
