import type { SeededRandom } from '../engine/random.ts'
import type { Fault } from '../nodes/faults.ts'
import { bigBatch, oneAtATime, type Pattern, unixfsFetch } from '../pattern.ts'
import type { Job, NodeName, Scenario, WorldEvent } from '../scenario.ts'

const KiB = 1024

const blocks = 400
const goodSeeds = 4
const seeds = 6
const olds = 2
const readers = 4
const sessions = 30
const quietAfterMs = 30_000

const faults: readonly (Fault | undefined)[] = ['silent', 'lying', 'corrupting', 'mute', undefined]
const patterns: readonly Pattern[] = [
  bigBatch,
  oneAtATime,
  unixfsFetch,
  { kind: 'batches', sizes: [10] },
  { kind: 'window', bytes: 512 * KiB }
]

function pick<T>(from: readonly T[], random: SeededRandom): T {
  return from[random.integer(from.length)] as T
}

/** Sessions overlap, some are given up half-way, some ask only two peers. */
function jobs(random: SeededRandom): Job[] {
  return Array.from({ length: sessions }, () => {
    const from = random.integer(blocks - 10)
    const startMs = random.integer(20_000)
    const isAborted = random.next() < 0.3
    const isFixed = random.next() < 0.1
    return {
      node: ['reader', random.integer(readers)],
      pattern: pick(patterns, random),
      blocks: [from, Math.min(blocks, from + 1 + random.integer(80))],
      startMs,
      ...(isAborted ? { abortAtMs: startMs + random.integer(2000) } : {}),
      ...(isFixed ? { fixedPeers: [['good', random.integer(goodSeeds)] as const, ['seed', random.integer(seeds)] as const] } : {})
    }
  })
}

function anyNode(random: SeededRandom): NodeName {
  const at = random.integer(seeds + olds + goodSeeds)
  if (at < seeds) return ['seed', at]
  return at < seeds + olds ? ['old', at - seeds] : ['good', at - seeds - olds]
}

/** One thing or another every quarter of a second; then the good ones are there, and stay. */
function events(random: SeededRandom): WorldEvent[] {
  const happens: WorldEvent[] = []
  for (let atMs = 0; atMs < quietAfterMs; atMs += random.integer(500)) {
    const node = anyNode(random)
    const one: NodeName = ['reader', random.integer(readers)]
    const what = random.integer(6)
    if (what === 0) happens.push({ atMs, kind: 'reset', one, other: node, backAfterMs: random.integer(1000) })
    else if (what === 1)
      happens.push(
        { atMs, kind: 'cut', one, other: node, isCut: true },
        { atMs: atMs + random.integer(3000), kind: 'cut', one, other: node, isCut: false }
      )
    else if (what === 2) happens.push({ atMs, kind: 'leave', node }, { atMs: atMs + random.integer(3000), kind: 'join', node })
    else if (what === 3 && node[0] === 'seed') happens.push({ atMs, kind: 'fault', node, fault: pick(faults, random) })
    else happens.push({ atMs, kind: 'put', node, block: random.integer(blocks) })
  }
  return happens
}

/** Everything that can go wrong, in an order that the seed decides: a world to find bugs in, not to measure. */
export const storm: Scenario = {
  name: 'storm',
  summary: 'resets, cuts, loss, faults, leavers, old peers, aborts and overlapping sessions, by the seed: no rule may break',
  nodes: [
    { name: 'good', count: goodSeeds, holds: () => true, uplinkBytesPerS: 4_000_000 },
    { name: 'seed', count: seeds, holds: (_block, _place, _nodes, random) => random.next() < 0.5 },
    { name: 'old', count: olds, holds: () => true, protocol: '1.1.0' },
    { name: 'reader', count: readers, storeDelayMs: 1 }
  ],
  blocks: { count: blocks, bytes: (index) => (index % 7 === 0 ? 800 : index % 5 === 0 ? 200 * KiB : 16 * KiB) },
  link: (from, to) => ({
    delayMs: { uniform: { from: 1, to: 80 } },
    jitterMs: { uniform: { from: 0, to: 5 } },
    bytesPerS: { logNormal: { median: 3_000_000, sigma: 1 } },
    lossShare: from === 'seed' || to === 'seed' ? 0.01 : 0
  }),
  jobs,
  events,
  routingMs: 300,
  limitMs: 30 * 60 * 1000,
  runs: { count: 5, because: 'each seed is another storm, and none is a measurement' }
}
