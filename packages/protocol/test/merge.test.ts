import { MalformedError, TooLargeError } from '@shardswap/interface'
import { describe, expect, it } from 'vitest'
import { decodeMessage } from '../src/index.ts'
import { digestHex, hex } from './make.ts'
import { meaning } from './meaning.ts'
import { toHex } from './reference.ts'

/** A field with a length: tag, length, contents, all in hex; contents below 128 bytes. */
function field(tag: string, ...contents: string[]): string {
  const body = contents.join('').replaceAll(/\s/g, '')
  return tag + (body.length / 2).toString(16).padStart(2, '0') + body
}

const cidHex = (byte: number): string => `01551220${digestHex(byte)}`

/** A wantlist entry from its CID's bytes and the rest of its fields. */
const entry = (cid: string, rest = ''): string => field('0a', field('0a', cid), rest)
const longField = (tag: string, body: string): string => tag + varint(body.length / 2) + body
const wantlist = (...parts: string[]): string => longField('0a', parts.join('').replaceAll(/\s/g, ''))
const presence = (cid: string, rest = ''): string => field('22', field('0a', cid), rest)
const payload = (prefix: string, data: string): string => field('1a', field('0a', prefix), field('12', data))

function varint(value: number): string {
  const byte = (value & 0x7f) | (value > 0x7f ? 0x80 : 0)
  return byte.toString(16).padStart(2, '0') + (value > 0x7f ? varint(value >>> 7) : '')
}

const read = (text: string): ReturnType<typeof meaning> => meaning(decodeMessage(hex(text)))

const a = cidHex(0xaa)
const b = cidHex(0xbb)
const v0 = `1220${digestHex(0xaa)}`
const plain = { priority: 0, cancel: false, wantType: 'block', sendDontHave: false }

describe('the fields of a message', () => {
  it('an empty message says nothing', () => {
    expect(read('')).toEqual({ full: false, entries: [], blocks: [], presences: [], pendingBytes: 0 })
  })

  it('an absent wantlist is an empty one', () => {
    expect(read(presence(a))).toMatchObject({ full: false, entries: [], presences: [{ cid: a, presence: 'have' }] })
  })

  it('an entry of a CID alone is a want for the block', () => {
    expect(read(wantlist(entry(a))).entries).toEqual([{ cid: a, ...plain }])
  })

  it('reads each field of an entry, in any order', () => {
    const turned = field('0a', '2801', '2001', '1801', '10ffffffff07', field('0a', v0))
    expect(read(wantlist(turned)).entries).toEqual([{ cid: v0, priority: 0x7fffffff, cancel: true, wantType: 'have', sendDontHave: true }])
  })

  it('reads a negative priority of ten bytes, and one of five that Go cuts to 32 bits', () => {
    expect(read(wantlist(entry(a, '10ffffffffffffffffff01'), entry(b, '10ffffffff0f'))).entries.map((e) => e.priority)).toEqual([-1, -1])
  })

  it('reads a varint that is longer than needed, where protobuf allows it', () => {
    expect(read(wantlist(entry(a, '10858080808000'))).entries[0]?.priority).toBe(5)
  })

  it('reads both kinds of blocks in one message, the bare ones as CIDv0', () => {
    expect(read(payload('01551220', '0102') + field('12', '03')).blocks).toEqual([
      { prefix: '0,112,18,32', data: '03' },
      { prefix: '1,85,18,32', data: '0102' }
    ])
  })

  it('a block without data is an empty one', () => {
    expect(read(field('1a', field('0a', '01551220'))).blocks).toEqual([{ prefix: '1,85,18,32', data: '' }])
  })

  it('gives data as slices of the frame, and CIDs as copies', () => {
    const frame = hex(wantlist(entry(a)) + payload('01551220', '0102') + presence(b))
    const message = decodeMessage(frame)
    expect(message.blocks[0]?.data.buffer).toBe(frame.buffer)
    expect(message.entries[0]?.cid.bytes.buffer).not.toBe(frame.buffer)
    frame.fill(0)
    expect(meaning(message)).toMatchObject({ entries: [{ cid: a }], presences: [{ cid: b }] })
  })

  it('a CID that is kept pins 2 KiB at most', () => {
    const many = Array.from({ length: 200 }, (_, i) => entry(cidHex(i)))
    const message = decodeMessage(hex(wantlist(...many)))
    expect(message.entries.map(({ cid }) => toHex(cid.bytes))).toEqual(Array.from({ length: 200 }, (_, i) => cidHex(i)))
    expect(Math.max(...message.entries.map(({ cid }) => cid.bytes.buffer.byteLength))).toBe(2048)
    expect(decodeMessage(hex(wantlist(entry(a)))).entries[0]?.cid.bytes.buffer.byteLength).toBe(36)
  })

  it('copies CIDs out of a Buffer too', () => {
    const frame = Buffer.from(hex(wantlist(entry(a))))
    const message = decodeMessage(frame)
    frame.fill(0)
    expect(meaning(message).entries[0]?.cid).toBe(a)
  })

  it('pending bytes below zero are none', () => {
    expect(read('2805').pendingBytes).toBe(5)
    expect(read('28ffffffffffffffffff01').pendingBytes).toBe(0)
  })

  it.each([
    ['a varint', '7805'],
    ['eight bytes', '790102030405060708'],
    ['four bytes', '7d01020304'],
    ['bytes', '7a03010203'],
    ['a group, with another inside', '7b 7801 8301 8401 7c'],
    ['the wantlist as a varint', '0805'],
    ['pending bytes as bytes', '2a03010203'],
    ['a block as four bytes', '1501020304']
  ])('passes over an unknown field: %s', (_, unknown) => {
    expect(read(unknown + wantlist(entry(a)) + unknown)).toEqual(read(wantlist(entry(a))))
  })
})

describe("Go's merge rules", () => {
  it.each([
    ['a later priority counts where the type is the same', [entry(a, '1005'), entry(a, '1007')], { priority: 7 }],
    ['a later priority is ignored where the type differs', [entry(a, '1005 2001'), entry(a, '1007')], { priority: 5, wantType: 'block' }],
    ['want-block overrides want-have', [entry(a, '2001'), entry(a)], { wantType: 'block' }],
    ['want-have does not override want-block', [entry(a), entry(a, '2001')], { wantType: 'block' }],
    ['a cancel sticks', [entry(a, '1801'), entry(a)], { cancel: true }],
    ['a cancel comes to an earlier want', [entry(a), entry(a, '1801')], { cancel: true }],
    ['sendDontHave sticks', [entry(a, '2801'), entry(a)], { sendDontHave: true }],
    ['sendDontHave comes to an earlier want', [entry(a), entry(a, '2801')], { sendDontHave: true }]
  ])('%s', (_, entries, expected) => {
    expect(read(wantlist(...entries)).entries).toEqual([{ cid: a, ...plain, ...expected }])
  })

  it('a want type from the future is as good as want-have, and want-block does not override it', () => {
    expect(read(wantlist(entry(a, '2007'), entry(a))).entries).toEqual([{ cid: a, ...plain, wantType: 'have' }])
    expect(read(wantlist(entry(a, '1005 2007'), entry(a, '1009 2001'))).entries[0]?.priority).toBe(5)
    expect(read(wantlist(entry(a, '1005 2007'), entry(a, '1009 2007'))).entries[0]?.priority).toBe(9)
  })

  it('entries of one multihash under two CIDs stay apart', () => {
    expect(read(wantlist(entry(a), entry(v0))).entries.map((e) => e.cid)).toEqual([a, v0])
  })

  it('wantlists in pieces are one, and the last full flag counts', () => {
    expect(read(wantlist(entry(a), '1001') + wantlist(entry(b)))).toMatchObject({ full: true, entries: [{ cid: a }, { cid: b }] })
    expect(read(wantlist(entry(a), '1001') + wantlist('1000')).full).toBe(false)
  })

  it('the last presence of a CID counts', () => {
    expect(read(presence(a) + presence(b) + presence(a, '1001')).presences).toEqual([
      { cid: a, presence: 'dont-have' },
      { cid: b, presence: 'have' }
    ])
  })

  it('a presence from the future says nothing, and unsays what was said', () => {
    const message = decodeMessage(hex(presence(a) + presence(b) + presence(a, '1005')))
    expect(meaning(message).presences).toEqual([{ cid: b, presence: 'have' }])
    expect(message.skipped.presences).toBe(1)
  })

  it('the last of a field that stands twice counts', () => {
    expect(read(wantlist(field('0a', field('0a', b), field('0a', a), '1001', '1002'))).entries).toEqual([{ cid: a, ...plain, priority: 2 }])
    expect(read(field('1a', field('0a', '01701220'), field('12', '01'), field('12', '02'), field('0a', '01551220'))).blocks).toEqual([
      { prefix: '1,85,18,32', data: '02' }
    ])
  })
})

describe('what is left out of a message that is otherwise taken', () => {
  it.each([
    ['an identity CID', '0155000401020304'],
    ['a CID of 169 bytes', `015512a401${'ee'.repeat(164)}`],
    ['a codec that no number holds', `01ffffffffffffffff7f1220${digestHex(1)}`]
  ])('%s', (_, cid) => {
    const message = decodeMessage(
      hex(wantlist(longField('0a', longField('0a', cid)), entry(a)) + longField('22', longField('0a', cid)) + presence(b))
    )
    expect(meaning(message)).toMatchObject({ entries: [{ cid: a }], presences: [{ cid: b }] })
    expect(message.skipped).toEqual({ entries: 1, presences: 1, blocks: 0 })
  })

  it('takes a CID of 168 bytes', () => {
    const cid = `015512a301${'ee'.repeat(163)}`
    expect(read(wantlist(longField('0a', longField('0a', cid)))).entries.map((e) => e.cid)).toEqual([cid])
  })

  it('what is above a limit of number, and not what merges', () => {
    const text = wantlist(entry(a), entry(b), entry(a, '1801')) + presence(b) + presence(a) + field('12', '01') + payload('01551220', '02')
    const message = decodeMessage(hex(text), { entriesMax: 1, presencesMax: 1, blocksMax: 1 })
    expect(meaning(message)).toMatchObject({ entries: [{ cid: a, cancel: true }], presences: [{ cid: b }], blocks: [{ data: '01' }] })
    expect(message.skipped).toEqual({ entries: 1, presences: 1, blocks: 1 })
  })

  it('a block whose codec no number holds', () => {
    const message = decodeMessage(hex(payload('01ffffffffffffffff7f1220', '01') + payload('01551220', '02')))
    expect(meaning(message).blocks).toEqual([{ prefix: '1,85,18,32', data: '02' }])
    expect(message.skipped.blocks).toBe(1)
  })

  it('takes a prefix of an unknown hash: whether it can be hashed is seen later', () => {
    expect(read(payload('0155a0f10320', '02')).blocks[0]?.prefix).toBe('1,85,63648,32')
  })

  it('ignores the codec of a version 0 prefix, and what follows a prefix', () => {
    expect(read(payload('00551220', '02') + payload('015512200707', '03')).blocks.map((one) => one.prefix)).toEqual([
      '0,112,18,32',
      '1,85,18,32'
    ])
  })
})

describe('what loses the whole message', () => {
  it.each([
    ['a length that is more than the message', '0a05 00'],
    ['a length beyond the submessage', '0a04 0a05 0801'],
    ['a varint that is cut off', '2880'],
    ['a varint that runs past its submessage', '0a02 1080 01'],
    ['a varint of more than 64 bits', '28ffffffffffffffffff02'],
    ['a varint of eleven bytes', '288080808080808080808000'],
    ['field number 0', '0005'],
    ['a field number above 2^29 - 1', '808080808001 00'],
    ['wire type 6', '7e'],
    ['wire type 7', '7f'],
    ['a group without its end', '7b 7801'],
    ['the end of a group alone', '7c'],
    ["another group's end", '7b 8401'],
    ['four bytes that are cut off', '7d0102'],
    ['eight bytes that are cut off', '7901020304'],
    ['an entry without a CID', wantlist(entry(a), field('0a', '1005'))],
    ['an entry with an empty CID', wantlist(entry(a), entry(''))],
    ['a CIDv0 that is too short', wantlist(entry(v0.slice(2)))],
    ['a CIDv0 that is too long', wantlist(entry(`${v0}00`))],
    ['a CID of version 2', wantlist(entry(`02551220${digestHex(1)}`))],
    ['a CID of version 0 in version 1 form', wantlist(entry(`00701220${digestHex(1)}`))],
    ['a CID with bytes behind it', wantlist(entry(`${a}00`))],
    ['a CID that is cut off', wantlist(entry(a.slice(0, -2)))],
    ['a CID with a varint longer than needed', wantlist(entry(`01d5001220${digestHex(1)}`))],
    ['a CID with a varint of more than 63 bits', wantlist(entry(`01ffffffffffffffffff011220${digestHex(1)}`))],
    ['a presence without a CID', field('22', '1001')],
    ['a presence with an undecodable CID', presence('0155')],
    ['a block without a prefix', field('1a', field('12', '01'))],
    ['a block with a prefix that is cut off', payload('015512', '01')],
    ['a block with a prefix of version 2', payload('02551220', '01')],
    ['a block with a version 0 prefix that is not sha2-256', payload('00701320', '01')],
    ['a block with a version 0 prefix of another length', payload('00701214', '01')]
  ])('%s', (_, text) => {
    expect(() => decodeMessage(hex(text))).toThrow(MalformedError)
  })

  it('groups in groups beyond reason, without exhausting the stack', () => {
    expect(() => decodeMessage(new Uint8Array(1024 * 1024).fill(0x7b))).toThrow('nested too deeply')
  })

  it('more bytes than the limit', () => {
    expect(() => decodeMessage(new Uint8Array(101), { messageBytesMax: 100 })).toThrow(TooLargeError)
    expect(() => decodeMessage(new Uint8Array(4 * 1024 * 1024 + 1))).toThrow(TooLargeError)
  })
})
