import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../src/engine/clock.ts'
import { type LinkQuality, VirtualNetwork } from '../src/engine/network.ts'
import { SeededRandom } from '../src/engine/random.ts'
import { Trace } from '../src/engine/trace.ts'

const KiB = 1024
const atOnce = (): LinkQuality => ({ ...wire, delayMs: 0 })
const wire: LinkQuality = { delayMs: 10, bytesPerS: Infinity, burstBytes: 0, lossShare: 0 }

function makeNetwork(quality: (from: number, to: number) => LinkQuality, uplinkBytesPerS = (_node: number): number => Infinity) {
  const clock = new VirtualClock()
  const trace = new Trace()
  const arrivals: string[] = []
  const parts: string[] = []
  const network = new VirtualNetwork<string>({
    clock,
    trace,
    random: new SeededRandom(1),
    quality,
    uplinkBytesPerS,
    onBytes: (to, from, bytes) => parts.push(`${from}>${to} ${bytes}@${clock.nowMs()}`),
    onMessage: (to, from, message, bytes) => arrivals.push(`${from}>${to} ${message} ${bytes}@${clock.nowMs()}`)
  })
  const run = (untilMs = Infinity): void => {
    while (clock.step(untilMs)) continue
  }
  const written: string[] = []
  const tell = (name: string) => (ok: boolean) => written.push(`${name} ${ok}@${clock.nowMs()}`)
  return { clock, trace, network, arrivals, parts, written, tell, run }
}

describe('a link without limit', () => {
  it('delivers after its delay, and tells at once that all is written', () => {
    const { network, arrivals, parts, written, tell, run } = makeNetwork((from) => ({ ...wire, delayMs: from === 0 ? 10 : 25 }))
    network.send(0, 1, 'a', 1_000_000, tell('a'))
    network.send(1, 0, 'b', 100)
    expect(written).toEqual([])
    run()
    expect(written).toEqual(['a true@0'])
    expect(arrivals).toEqual(['0>1 a 1000000@10', '1>0 b 100@25'])
    expect(parts).toEqual(['0>1 1000000@10', '1>0 100@25'])
  })

  it('keeps the order of its messages whatever their jitter', () => {
    const { network, arrivals, run } = makeNetwork(() => ({ ...wire, jitterMs: { uniform: { from: 0, to: 50 } } }))
    for (let i = 0; i < 20; i++) network.send(0, 1, `m${i}`, 10)
    run()
    expect(arrivals.map((arrival) => arrival.split(' ')[1])).toEqual(Array.from({ length: 20 }, (_, i) => `m${i}`))
  })
})

describe('a link with a rate', () => {
  it('sends one message behind the other, and long ones arrive part by part', () => {
    const { network, arrivals, parts, run } = makeNetwork(() => ({ ...wire, bytesPerS: 64 * KiB * 40 }))
    network.send(0, 1, 'long', 160 * KiB)
    network.send(0, 1, 'short', 64 * KiB)
    run()
    expect(parts).toEqual(['0>1 65536@35', '0>1 65536@60', '0>1 32768@72.5', '0>1 65536@97.5'])
    expect(arrivals).toEqual(['0>1 long 163840@72.5', '0>1 short 65536@97.5'])
  })

  it('counts as written once no more than a socket’s buffer is left to send', () => {
    const { network, written, tell, run } = makeNetwork(() => ({ ...wire, bytesPerS: 256 * KiB }))
    network.send(0, 1, 'a', 256 * KiB, tell('a'))
    network.send(0, 1, 'b', 128 * KiB, tell('b'))
    run()
    expect(written).toEqual(['a true@0', 'b true@500'])
  })

  it('is a token bucket where it may burst: nothing to begin with, then what silence saved, up to its cap', () => {
    const { clock, network, arrivals, run } = makeNetwork(() => ({ ...wire, delayMs: 0, bytesPerS: 1000, burstBytes: 1000 }))
    network.send(0, 1, 'at once', 100)
    clock.at(5000, () => {
      network.send(0, 1, 'saved', 600)
      network.send(0, 1, 'half saved', 600)
    })
    run()
    expect(arrivals).toEqual(['0>1 at once 100@100', '0>1 saved 600@5000', '0>1 half saved 600@5200'])
  })
})

describe('a shared uplink', () => {
  it('serves its links in turns of a segment', () => {
    const { network, arrivals, run } = makeNetwork(atOnce, (node) => (node === 0 ? 64 * KiB * 40 : Infinity))
    network.send(0, 1, 'long', 256 * KiB)
    network.send(0, 2, 'short', 64 * KiB)
    network.send(3, 1, 'other node', 256 * KiB)
    run()
    // One segment of the long one was leaving already, and the next stood before the short one in the line.
    expect(arrivals).toEqual(['3>1 other node 262144@0', '0>2 short 65536@75', '0>1 long 262144@125'])
  })

  it('is not held up by a slow link behind it, and keeps that one full', () => {
    const quality = (_from: number, to: number): LinkQuality => ({ ...wire, delayMs: 0, bytesPerS: to === 1 ? 64 * KiB : Infinity })
    const { network, arrivals, run } = makeNetwork(quality, () => 64 * KiB * 40)
    network.send(0, 1, 'slow', 4 * 64 * KiB)
    network.send(0, 2, 'fast', 8 * 64 * KiB)
    run()
    // The slow link takes 4 KiB at a time: four of these pass the uplink before the fast one is through.
    expect(arrivals).toEqual(['0>2 fast 524288@206.25', '0>1 slow 262144@4001.5625'])
  })

  it('tells what is written by what is left on the link', () => {
    const { network, written, tell, run } = makeNetwork(
      () => wire,
      () => 64 * KiB * 40
    )
    network.send(0, 1, 'a', 8 * 64 * KiB, tell('a'))
    run()
    expect(written).toEqual(['a true@75'])
  })
})

describe('what goes wrong', () => {
  it('loses its share of messages, and says so in the trace alone', () => {
    const { network, arrivals, written, tell, run } = makeNetwork(() => ({ ...wire, lossShare: 0.25 }))
    for (let i = 0; i < 1000; i++) network.send(0, 1, `${i}`, 10, tell(`${i}`))
    run()
    expect(network.messagesLost + arrivals.length).toBe(1000)
    expect(Math.abs(network.messagesLost - 250)).toBeLessThan(60)
    expect(written.every((line) => line.includes('true'))).toBe(true)
  })

  it('loses what is under way when the connection goes, and tells the sender', () => {
    const { clock, network, arrivals, written, tell, run } = makeNetwork(() => ({ ...wire, bytesPerS: 1000 * KiB }))
    network.send(0, 1, 'arrives', 100 * KiB, tell('arrives'))
    network.send(0, 1, 'does not', 1000 * KiB, tell('does not'))
    network.send(2, 1, 'elsewhere', 1000 * KiB)
    clock.at(200, () => network.drop(0, 1))
    clock.at(300, () => network.send(0, 1, 'later', 100 * KiB, tell('later')))
    run()
    expect(arrivals).toEqual(['0>1 arrives 102400@110', '0>1 later 102400@410', '2>1 elsewhere 1024000@1010'])
    expect(written).toEqual(['arrives true@0', 'does not false@200', 'later true@300'])
  })

  it('carries nothing while it is cut, either way', () => {
    const { network, arrivals, run } = makeNetwork(() => wire)
    network.setCut(0, 1, true)
    network.send(0, 1, 'a', 10)
    network.send(1, 0, 'b', 10)
    network.send(0, 2, 'c', 10)
    network.setCut(0, 1, false)
    network.send(0, 1, 'd', 10)
    run()
    expect(arrivals).toEqual(['0>2 c 10@10', '0>1 d 10@10'])
  })
})

function hashOf(build: (network: VirtualNetwork<string>) => void): string {
  const { network, trace, run } = makeNetwork(() => wire)
  build(network)
  run()
  return trace.digest()
}

it('hashes all that happens, when, and in which order', () => {
  const first = hashOf((network) => network.send(0, 1, 'a', 10))
  expect(hashOf((network) => network.send(0, 1, 'a', 10))).toBe(first)
  expect(hashOf((network) => network.send(0, 1, 'a', 11))).not.toBe(first)
  expect(hashOf((network) => network.send(0, 2, 'a', 10))).not.toBe(first)
})
