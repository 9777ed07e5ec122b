import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { MalformedError, TooLargeError } from '@shardswap/interface'
import * as fc from 'fast-check'
import { Uint8ArrayList } from 'uint8arraylist'
import { describe, expect, it } from 'vitest'
import { encodeFrame, FrameDecoder } from '../src/index.ts'
import { hex } from './make.ts'

const mib = 1024 * 1024

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function prefixed(body: Uint8Array): Uint8Array {
  const prefix: number[] = []
  let length = body.byteLength
  for (; length > 0x7f; length >>>= 7) prefix.push((length & 0x7f) | 0x80)
  return Uint8Array.from([...prefix, length, ...body])
}

function pushAll(decoder: FrameDecoder, arrivals: Iterable<Uint8Array>): Uint8Array[] {
  const frames: Uint8Array[] = []
  for (const arrival of arrivals) {
    decoder.push(arrival)
    frames.push(...decoder.frames())
  }
  return frames
}

describe('encodeFrame', () => {
  it('puts a message behind its length, at whatever length the prefix grows', () => {
    for (const length of [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152]) {
      const message = new Uint8Array(length).fill(7)
      expect(Buffer.compare(encodeFrame(message), prefixed(message))).toBe(0)
    }
  })
})

describe('FrameDecoder', () => {
  it('gives the same frames however they are cut', () => {
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 20 }),
      fc.nat(20_000).map((length) => new Uint8Array(length).fill(length))
    )
    const cut = fc.oneof(fc.nat(3), fc.nat(200), fc.nat(9000))
    fc.assert(
      fc.property(fc.array(body, { maxLength: 12 }), fc.infiniteStream(cut), fc.boolean(), (bodies, cuts, late) => {
        const stream = new Uint8Array(bodies.map(prefixed).flatMap((one) => Array.from(one)))
        const decoder = new FrameDecoder()
        const frames: Uint8Array[] = []
        for (let at = 0; at < stream.byteLength;) {
          const end = at + cuts.next().value
          decoder.push(stream.slice(at, end))
          at = end
          if (!late) frames.push(...decoder.frames())
        }
        frames.push(...decoder.frames())
        expect(frames).toEqual(bodies)
        expect(decoder.bufferedBytes).toBe(0)
        expect(decoder.atBorder).toBe(true)
      }),
      { numRuns: 200 }
    )
  })

  it('tells of each arrival that was copied whole, and of none that a frame lies in', () => {
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 20 }),
      fc.nat(20_000).map((length) => new Uint8Array(length).fill(7))
    )
    const cut = fc.oneof(fc.nat(3), fc.nat(200), fc.nat(9000), fc.nat(30_000))
    fc.assert(
      fc.property(fc.array(body, { maxLength: 12 }), fc.infiniteStream(cut), (bodies, cuts) => {
        const stream = new Uint8Array(bodies.map(prefixed).flatMap((one) => Array.from(one)))
        // Whoever is told may use the memory for something else: no frame may change by it.
        const decoder = new FrameDecoder({ onSpent: (arrival) => arrival.fill(0xee) })
        const frames: Uint8Array[] = []
        for (let at = 0; at < stream.byteLength;) {
          const end = at + cuts.next().value
          decoder.push(stream.slice(at, end))
          at = end
          frames.push(...decoder.frames())
        }
        expect(frames).toEqual(bodies)
      }),
      { numRuns: 200 }
    )
  })

  it('tells of the arrivals of a large frame in their order, each as it came', () => {
    const stream = prefixed(new Uint8Array(50_000).fill(5))
    const arrivals = [0, 10_000, 20_000, 30_000, 40_000].map((at) => stream.slice(at, Math.min(at + 10_000, stream.byteLength)))
    arrivals.push(stream.slice(50_000))
    const spent: number[] = []
    const decoder = new FrameDecoder({ onSpent: (arrival) => spent.push(arrivals.findIndex((each) => each === arrival)) })
    expect(pushAll(decoder, arrivals).map((frame) => frame.byteLength)).toEqual([50_000])
    expect(spent).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('gives a slice, not a copy, of a frame that lies within one arrival', () => {
    const arrival = hex('03 0a0b0c 02 0d0e')
    const frames = pushAll(new FrameDecoder(), [arrival])
    expect(frames).toEqual([hex('0a0b0c'), hex('0d0e')])
    expect(frames.every((frame) => frame.buffer === arrival.buffer)).toBe(true)
  })

  it('takes a list of arrivals, as streams give them', () => {
    expect(pushAll(new FrameDecoder(), [])).toEqual([])
    const decoder = new FrameDecoder()
    decoder.push(new Uint8ArrayList(hex('03 0a'), hex('0b'), hex('0c 01 ff')))
    expect(Array.from(decoder.frames())).toEqual([hex('0a0b0c'), hex('ff')])
  })

  it('gives frames one by one, as they are asked for', () => {
    const decoder = new FrameDecoder()
    decoder.push(hex('01 0a 01 0b 01 0c'))
    for (const frame of decoder.frames()) {
      expect(frame).toEqual(hex('0a'))
      break
    }
    expect(decoder.bufferedBytes).toBe(4)
    expect(Array.from(decoder.frames())).toEqual([hex('0b'), hex('0c')])
  })

  it('a frame of no bytes is a frame', () => {
    expect(pushAll(new FrameDecoder(), [hex('00 00 01 05')])).toEqual([hex(''), hex(''), hex('05')])
  })

  it('knows whether the stream may end', () => {
    const decoder = new FrameDecoder()
    expect(decoder.atBorder).toBe(true)
    pushAll(decoder, [hex('80')])
    expect(decoder.atBorder).toBe(false)
    pushAll(decoder, [hex('01')])
    expect(decoder.bufferedBytes).toBe(0)
    expect(decoder.atBorder).toBe(false)
    pushAll(decoder, [new Uint8Array(128)])
    expect(decoder.atBorder).toBe(true)
  })

  it('takes a frame of exactly the limit', () => {
    const frames = pushAll(new FrameDecoder(), [hex('80808002'), new Uint8Array(mib), new Uint8Array(3 * mib)])
    expect(frames.map((frame) => frame.byteLength)).toEqual([4 * mib])
  })

  it('refuses a frame above the limit from its prefix alone, after the frames before it', () => {
    const decoder = new FrameDecoder()
    decoder.push(hex('01 0a 81808002'))
    const frames = decoder.frames()
    expect(frames.next().value).toEqual(hex('0a'))
    expect(() => frames.next()).toThrow(TooLargeError)
  })

  it.each([
    ['five bytes and no end', 'ffffffffff'],
    ['a prefix longer than needed', '8100'],
    ['zero in two bytes', '8000']
  ])('refuses a bad prefix: %s', (_, text) => {
    expect(() =>
      pushAll(
        new FrameDecoder(),
        [...hex(`${text}00`)].map((byte) => Uint8Array.of(byte))
      )
    ).toThrow(MalformedError)
  })

  it('refuses the largest length that five bytes can claim as too large', () => {
    expect(() => pushAll(new FrameDecoder(), [hex('ffffffff7f')])).toThrow(TooLargeError)
  })

  it('holds what arrived, not what was claimed', () => {
    collectGarbage()
    const before = process.memoryUsage().arrayBuffers
    const decoders = Array.from({ length: 1000 }, () => {
      const decoder = new FrameDecoder()
      expect(pushAll(decoder, [hex('ffffff01'), hex('00')])).toEqual([])
      return decoder
    })
    // A thousand frames of 4 MiB are claimed.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * mib)
    expect(decoders.reduce((sum, decoder) => sum + decoder.bufferedBytes, 0)).toBe(1000)
  })

  it('a frame that comes byte by byte costs bytes, not objects', () => {
    const decoder = new FrameDecoder()
    decoder.push(hex('80808001'))
    collectGarbage()
    const before = process.memoryUsage()
    for (let i = 0; i < 2 * mib - 1; i++) decoder.push(Uint8Array.of(i))
    expect(Array.from(decoder.frames())).toEqual([])
    expect(decoder.bufferedBytes).toBe(2 * mib - 1)
    collectGarbage()
    expect(process.memoryUsage().heapUsed - before.heapUsed).toBeLessThan(16 * mib)
    expect(process.memoryUsage().arrayBuffers - before.arrayBuffers).toBeLessThan(8 * mib)
    decoder.push(Uint8Array.of(7))
    const [frame] = decoder.frames()
    expect(frame?.byteLength).toBe(2 * mib)
    expect([frame?.[300], frame?.[mib + 5], frame?.[2 * mib - 1]]).toEqual([300 & 0xff, 5, 7])
  })
})
