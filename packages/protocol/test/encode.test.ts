import { AssertionError, InvalidCidError, TooLargeError } from '@shardswap/interface'
import { create as createDigest } from 'multiformats/hashes/digest'
import { CID } from 'multiformats/cid'
import { describe, expect, it } from 'vitest'
import {
  cidOfPrefix,
  decodeMessage,
  encodeMessageLists,
  encodeMessages,
  FrameDecoder,
  keep,
  prefixOf,
  protocolIds,
  supportsHave,
  versionOf,
  type BitswapVersion,
  type DecodedMessage,
  type OutgoingMessage
} from '../src/index.ts'
import { cidV0, cidV1, digestHex, hex } from './make.ts'

const mib = 1024 * 1024
const want = { cid: cidV1(0xaa), priority: 5, cancel: false, wantType: 'have', sendDontHave: true } as const

function framesOf(message: OutgoingMessage, version: BitswapVersion = '1.2.0', messageBytesTarget = 4 * mib): Uint8Array[] {
  return Array.from(encodeMessages(message, version, { messageBytesTarget }), (frame) => new Uint8Array(frame))
}

function bodiesOf(...args: Parameters<typeof framesOf>): Uint8Array[] {
  const decoder = new FrameDecoder()
  decoder.push(framesOf(...args))
  const bodies = Array.from(decoder.frames())
  expect(decoder.atBorder).toBe(true)
  return bodies
}

function sent(...args: Parameters<typeof framesOf>): DecodedMessage[] {
  return bodiesOf(...args).map((body) => decodeMessage(body))
}

const large = (bytes: number): { cid: CID; bytes: Uint8Array } => ({ cid: cidV1(7), bytes: new Uint8Array(bytes).fill(7) })

describe('the bytes of a message', () => {
  it('a want', () => {
    expect(framesOf({ full: true, entries: [want] })).toEqual([
      hex(`32  0a 30  0a 2c  0a 24 01551220${digestHex(0xaa)}  10 05  20 01  28 01  10 01`)
    ])
  })

  it('a cancel', () => {
    const cancel = { cid: cidV0(1), priority: 0, cancel: true, wantType: 'block', sendDontHave: false } as const
    expect(framesOf({ entries: [cancel] })).toEqual([hex(`2a  0a 28  0a 26  0a 22 1220${digestHex(1)}  18 01`)])
  })

  it('presences and pending bytes, with an empty wantlist before them', () => {
    const presences = [
      { cid: cidV1(1), presence: 'have' },
      { cid: cidV1(2), presence: 'dont-have' }
    ] as const
    const expected = hex(`57  0a 00  22 26 0a 24 01551220${digestHex(1)}  22 28 0a 24 01551220${digestHex(2)} 10 01  28 ac02`)
    expect(framesOf({ presences, pendingBytes: 300 })).toEqual([expected])
    expect(framesOf({ presences, pendingBytes: 300 }, '1.1.0')).toEqual([expected])
  })

  it.each(['1.2.0', '1.1.0'] as const)('blocks on %s carry their prefix', (version) => {
    const blocks = [
      { cid: cidV1(1, 0x71), bytes: hex('0a0b') },
      { cid: cidV0(2), bytes: hex('') }
    ]
    expect(framesOf({ blocks }, version)).toEqual([hex('16  0a 00  1a 0a 0a 04 01711220 12 02 0a0b  1a 06 0a 04 00701220')])
  })

  it.each(['1.0.0', 'unversioned'] as const)('blocks on %s are bare, whatever their CID, and there is nothing else new', (version) => {
    const blocks = [
      { cid: cidV1(1, 0x71), bytes: hex('0a0b') },
      { cid: cidV0(2), bytes: hex('') }
    ]
    const message: OutgoingMessage = { blocks, presences: [{ cid: cidV1(1), presence: 'have' }], pendingBytes: 9, entries: [want] }
    const entry = `0a 2c  0a 24 01551220${digestHex(0xaa)}  10 05  20 01  28 01`
    expect(framesOf(message, version)).toEqual([hex(`36  0a 2e ${entry}  12 02 0a0b  12 00`)])
  })
})

describe('what is not sent', () => {
  it.each([
    ['nothing', {}, '1.2.0'],
    ['an empty full wantlist, that Go would ignore', { full: true }, '1.2.0'],
    ['pending bytes alone', { pendingBytes: 5 }, '1.2.0'],
    ['presences before 1.1.0', { presences: [{ cid: cidV1(1), presence: 'have' }] }, '1.0.0']
  ] satisfies [string, OutgoingMessage, BitswapVersion][])('%s', (_, message, version) => {
    expect(framesOf(message, version)).toEqual([])
  })
})

describe('large blocks', () => {
  it.each([0, 1, 8 * 1024 - 1, 8 * 1024, 256 * 1024])('a block of %d bytes says the same in a list as in one piece', (bytes) => {
    const blocks = [large(bytes), { cid: cidV1(8), bytes: new Uint8Array(3) }, large(bytes)]
    for (const version of ['1.2.0', '1.0.0'] as const) {
      const lists = Array.from(encodeMessageLists({ entries: [want], blocks }, version))
      expect(lists.map((list) => new Uint8Array(list.subarray()))).toEqual(framesOf({ entries: [want], blocks }, version))
    }
    expect(sent({ entries: [want], blocks })[0]?.blocks.map(({ data }) => data.byteLength)).toEqual([bytes, 3, bytes])
  })

  it('are sent from where they lie', () => {
    const block = large(256 * 1024)
    const [list] = encodeMessageLists({ blocks: [block] }, '1.2.0')
    expect([...(list ?? [])].some((part) => part === block.bytes)).toBe(true)
  })
})

describe('splitting', () => {
  it('fills messages up to 4 MiB and sets full on the first alone', () => {
    const blocks = Array.from({ length: 5 }, () => large(2 * mib - 100))
    const messages = sent({ full: true, entries: [want], blocks })
    expect(messages.map((message) => message.blocks.length)).toEqual([2, 2, 1])
    expect(messages.map((message) => message.full)).toEqual([true, false, false])
    expect(messages.map((message) => message.entries.length)).toEqual([1, 0, 0])
  })

  it('a full wantlist of many messages is full once, then grows', () => {
    const entries = Array.from({ length: 1000 }, (_, i) => ({ ...want, cid: cidV1(i & 0xff, 0x55 + (i >> 8)) }))
    const messages = sent({ full: true, entries }, '1.2.0', 10_000)
    expect(messages.length).toBe(5)
    expect(messages.map((message) => message.full)).toEqual([true, false, false, false, false])
    expect(messages.flatMap((message) => message.entries)).toEqual(entries)
  })

  it('[F46] blocks of 2 MiB, 3.9 MiB and the most that fits go, with 2,000 wants beside them', () => {
    const entries = Array.from({ length: 2000 }, (_, i) => ({ ...want, cid: cidV1(i & 0xff, 0x55 + (i >> 8)) }))
    // Its wantlist takes 2 bytes, its prefix 6, the tags and lengths of the block and its data 5 each.
    const most = 4 * mib - 2 - 6 - 5 - 5
    for (const bytes of [mib, mib + 14, 2 * mib, 2 * mib + 1, Math.floor(3.9 * mib), most]) {
      const bodies = bodiesOf({ entries, blocks: [large(bytes)] })
      expect(bodies.every((body) => body.byteLength <= 4 * mib)).toBe(true)
      const messages = bodies.map((body) => decodeMessage(body))
      expect(messages.flatMap((message) => message.entries)).toHaveLength(2000)
      expect(messages.flatMap((message) => message.blocks.map((block) => block.data.byteLength))).toEqual([bytes])
    }
    expect(bodiesOf({ blocks: [large(most)] }).map((body) => body.byteLength)).toEqual([4 * mib])
  })

  it('[F46] a block that fits into no message is refused before anything is sent', () => {
    const most = 4 * mib - 18
    expect(() => encodeMessages({ entries: [want], blocks: [large(1), large(most + 1)] }, '1.2.0')).toThrow(TooLargeError)
    expect(() => encodeMessages({ blocks: [large(4 * mib + 1)] }, '1.0.0')).toThrow(TooLargeError)
  })

  it('[F47] no target lifts the limit of 4 MiB', () => {
    const blocks = [...Array.from({ length: 200 }, () => large(256 * 1024)), large(2 * mib), large(2 * mib), large(2 * mib)]
    const bodies = bodiesOf({ blocks }, '1.2.0', 32 * mib)
    expect(bodies.every((body) => body.byteLength <= 4 * mib)).toBe(true)
    expect(bodies.flatMap((body) => decodeMessage(body).blocks)).toHaveLength(203)
  })

  it('a lone block may exceed the target', () => {
    expect(sent({ blocks: [large(1000), large(1000)] }, '1.2.0', 16).map((message) => message.blocks.length)).toEqual([1, 1])
  })

  it('counts as pending what comes in later messages', () => {
    const blocks = [large(1000), large(2000), large(3000)]
    expect(sent({ blocks, pendingBytes: 7 }, '1.2.0', 100).map((message) => message.pendingBytes)).toEqual([5007, 3007, 7])
    expect(sent({ blocks, pendingBytes: 0x7fffffff }, '1.2.0', 100).map((message) => message.pendingBytes)).toEqual([
      0x7fffffff, 0x7fffffff, 0x7fffffff
    ])
  })

  it.each([0.5, 2 ** 31, -(2 ** 31) - 1, Number.NaN])('a priority of %d is a bug', (priority) => {
    expect(() => encodeMessages({ entries: [{ ...want, priority }] }, '1.2.0')).toThrow(AssertionError)
  })

  it.each([-1, 0.5, 2 ** 31])('pending bytes of %d are a bug', (pendingBytes) => {
    expect(() => encodeMessages({ entries: [want], pendingBytes }, '1.2.0')).toThrow(AssertionError)
  })
})

describe('keep', () => {
  it('copies what pins much more than itself', () => {
    const frame = new Uint8Array(1000).fill(1)
    const kept = keep(frame.subarray(0, 100))
    expect(kept).toEqual(new Uint8Array(100).fill(1))
    expect(kept.buffer.byteLength).toBe(100)
    expect(keep(frame.subarray(0, 500)).buffer).toBe(frame.buffer)
    expect(keep(frame.subarray(0, 0)).buffer.byteLength).toBe(0)
  })
})

describe('prefixes', () => {
  it.each([cidV1(1), cidV1(2, 0x300000), cidV0(3), CID.createV1(0x71, createDigest(0xb220, new Uint8Array(20)))])('%s', (cid) => {
    expect(cidOfPrefix(prefixOf(cid), cid.multihash)).toEqual(cid)
  })

  it('fits no multihash of another function or length', () => {
    expect(() => cidOfPrefix(prefixOf(cidV1(1)), createDigest(0x13, new Uint8Array(32)))).toThrow(InvalidCidError)
    expect(() => cidOfPrefix(prefixOf(cidV0(1)), createDigest(0x12, new Uint8Array(20)))).toThrow(InvalidCidError)
  })
})

describe('versions', () => {
  it('are offered newest first, and 1.2.0 alone knows HAVE', () => {
    const versions = protocolIds.map((id) => versionOf(id) ?? 'none')
    expect(versions).toEqual(['1.2.0', '1.1.0', '1.0.0', 'unversioned'])
    expect(protocolIds.map((id) => supportsHave(versionOf(id) ?? 'unversioned'))).toEqual([true, false, false, false])
    expect(versionOf('/ipfs/bitswap/1.3.0')).toBeUndefined()
  })
})
