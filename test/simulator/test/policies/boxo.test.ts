import { describe, expect, it } from 'vitest'
import { scenariosCalled } from '../../src/catalogue.ts'
import { baselines } from '../../src/policies/index.ts'
import { simulate } from '../../src/simulate.ts'

/**
 * What boxo 0.42 was seen to do in its own benchmarks: seconds, blocks in, messages out; and how far from its
 * seconds the simulated one may be. It is a little faster throughout: timers are never late here.
 */
const measured: readonly (readonly [
  name: string,
  seconds: number,
  blocksIn: number,
  messagesOut: number,
  slowest: number,
  fastest: number
])[] = [
  ['FixedDelay/3Nodes-AllToAll-OneAtATime', 3.635, 101, 332, 1.02, 0.92],
  ['FixedDelay/3Nodes-Overlap1-OneAtATime', 3.874, 100, 210, 1.02, 0.92],
  ['FixedDelay/3Nodes-Overlap3-OneAtATime', 4.397, 101, 370, 1.02, 0.9],
  ['FixedDelay/3Nodes-Overlap3-BatchBy10', 0.79, 101, 76, 1, 0.8],
  ['FixedDelay/3Nodes-Overlap3-BigBatch', 0.086, 101, 10, 1, 0.9],
  ['FixedDelay/3Nodes-Overlap3-UnixfsFetch', 0.19, 101, 20, 1, 0.9],
  ['FixedDelay/10Nodes-AllToAll-OneAtATime', 3.73, 108, 350, 1, 0.9],
  ['FixedDelay/10Nodes-AllToAll-BatchFetchBy10', 0.457, 108, 190, 1, 0.85],
  ['FixedDelay/10Nodes-AllToAll-BigBatch', 0.048, 108, 26, 1, 0.8],
  ['FixedDelay/10Nodes-AllToAll-UnixfsFetch', 0.11, 108, 26, 1, 0.85],
  ['FixedDelay/10Nodes-AllToAll-UnixfsFetchLarge', 0.882, 1008, 98, 1, 0.9],
  ['FixedDelay/10Nodes-OnePeerPerBlock-OneAtATime', 6.514, 100, 1639, 1, 0.88],
  ['FixedDelay/10Nodes-OnePeerPerBlock-BigBatch', 0.108, 100, 53, 1, 0.9],
  ['FixedDelay/200Nodes-AllToAll-BigBatch', 2.036, 218, 398, 1, 0.98],
  ['FetchFromOldBitswap/3Nodes-Overlap3-OneAtATime', 0.466, 11, 25, 1.1, 0.95]
]

const policy = baselines.filter(({ name }) => name === 'one-want-block')

describe('one-want-block, beside the boxo that it stands for', () => {
  it.each(measured)('%s takes about %d s', (name, seconds, blocksIn, messagesOut, slowest, fastest) => {
    const [scenario] = scenariosCalled(name)
    if (scenario === undefined) throw new Error(`no scenario is called ${name}`)
    const figures = simulate(scenario, policy, [1, 2, 3]).policies.get('one-want-block')?.figures
    const ratio = (figures?.['seconds'] ?? NaN) / seconds
    expect(ratio).toBeLessThanOrEqual(slowest)
    expect(ratio).toBeGreaterThanOrEqual(fastest)
    expect(figures?.['blocksIn']).toBe(blocksIn)
    // Here the cancels after the end count, one message a peer.
    const [nodes = 0] = /\d+(?=Nodes)/.exec(name)?.map(Number) ?? []
    expect(figures?.['messagesOut']).toBeGreaterThanOrEqual(0.88 * messagesOut)
    expect(figures?.['messagesOut']).toBeLessThanOrEqual(1.12 * messagesOut + nodes - 1)
  })
})
