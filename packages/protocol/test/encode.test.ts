import { describe, expect, it } from 'vitest'
import {
  decodeMessage,
  encodeMessages,
  FrameDecoder,
  keep,
  type BitswapVersion,
  type DecodedMessage,
  type OutgoingMessage
} from '../src/index.ts'
import { cidV0, cidV1, digestHex, hex } from './make.ts'

const mib = 1024 * 1024

function framesOf(message: OutgoingMessage, version: BitswapVersion = '1.2.0', target?: number): Uint8Array[] {
  return Array.from(encodeMessages(message, version, target === undefined ? {} : { messageBytesTarget: target }))
}

function decodeAll(frames: readonly Uint8Array[]): DecodedMessage[] {
  const decoder = new FrameDecoder()
  decoder.push(frames)
  const messages = Array.from(decoder.frames(), (frame) => decodeMessage(frame))
  expect(decoder.atBorder).toBe(true)
  return messages
}

describe('encodeMessages', () => {
  it('writes a want as Go does', () => {
    const entry = { cid: cidV1(0xaa), priority: 5, cancel: false, wantType: 'have', sendDontHave: true } as const
    const [frame] = framesOf({ full: true, entries: [entry] })
    expect(new Uint8Array(frame ?? [])).toEqual(hex(`32  0a 30  0a 2c  0a 24 01 55 12 20 ${digestHex(0xaa)}  10 05  20 01  28 01  10 01`))
  })

  it('comes back as it went', () => {
    const message = {
      full: true,
      entries: [
        { cid: cidV1(1), priority: 0x7fffffff, cancel: false, wantType: 'block', sendDontHave: true },
        { cid: cidV0(2), priority: -1, cancel: true, wantType: 'have', sendDontHave: false }
      ],
      presences: [
        { cid: cidV1(3), presence: 'have' },
        { cid: cidV1(4, 0x70), presence: 'dont-have' }
      ],
      blocks: [
        { cid: cidV1(5), bytes: new Uint8Array(300).fill(5) },
        { cid: cidV0(6), bytes: new Uint8Array(0) }
      ],
      pendingBytes: 77
    } satisfies OutgoingMessage
    const [decoded, ...others] = decodeAll(framesOf(message))
    expect(others).toEqual([])
    expect(decoded).toMatchObject({ full: true, pendingBytes: 77, skipped: { entries: 0, presences: 0, blocks: 0 } })
    expect(decoded?.entries).toEqual(message.entries)
    expect(decoded?.presences).toEqual(message.presences)
    expect(decoded?.blocks).toEqual([
      { prefix: { version: 1, codec: 0x55, hashCode: 0x12, digestBytes: 32 }, data: message.blocks[0]?.bytes },
      { prefix: { version: 0, codec: 0x70, hashCode: 0x12, digestBytes: 32 }, data: new Uint8Array(0) }
    ])
  })

  it('splits many blocks below 4 MiB each and sets full on the first alone', () => {
    const blocks = Array.from({ length: 5 }, (_, i) => ({ cid: cidV1(i), bytes: new Uint8Array(2 * mib - 100).fill(i) }))
    const messages = decodeAll(framesOf({ full: true, blocks }))
    expect(messages.map((message) => message.blocks.length)).toEqual([2, 2, 1])
    expect(messages.map((message) => message.full)).toEqual([true, false, false])
  })
})

describe('keep', () => {
  it('copies what pins much more than itself', () => {
    const frame = new Uint8Array(1000)
    expect(keep(frame.subarray(0, 100)).buffer.byteLength).toBe(100)
    expect(keep(frame.subarray(0, 500)).buffer).toBe(frame.buffer)
  })
})
