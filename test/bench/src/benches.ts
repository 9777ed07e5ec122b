import { kuboAvailable } from '@shardswap-test/interop/build-kubo'
import { actorContender, type Contender, type SetUp } from './contenders.ts'
import { decisionsContender } from './decisions-contender.ts'
import { fairnessBlocks, fairnessHelia, fairnessKubo, fairnessOurs } from './fairness-contender.ts'
import type { Figures } from './figures.ts'
import { kuboContender } from './kubo-contender.ts'

/** What must hold of a ratio to a baseline, or of a figure of our own. */
export interface Target {
  /** The baseline whose ratio is bound; or else `figure`. */
  readonly baseline?: string
  /** The figure of ours that is bound. */
  readonly figure?: string
  readonly atLeast?: number
  readonly atMost?: number
  /** Shown, but no fault where it is missed: a goal of a later day. */
  readonly wanted?: boolean
}

/** One row of a bench: a set-up and who takes part in it. */
export interface Row extends SetUp {
  readonly baselines: Readonly<Record<string, Contender>>
  readonly targets: readonly Target[]
}

export interface Bench {
  readonly name: string
  /** What it shows, for `--list`. */
  readonly shows: string
  /** The figure that is compared. */
  readonly figure: string
  readonly unit: string
  /** More of our figures that the table shows. */
  readonly alsoShown?: readonly string[]
  readonly ours: Contender
  /** Figures that compare one row of ours with another; takes and gives ours, row by row. */
  conclude?(ours: readonly Figures[]): readonly Figures[]
  /** The rows at a scale of 1; a smaller scale shrinks the work, for a quick look and for tests. */
  rows(scale: number): readonly Row[]
}

const kibi = 1024
const mebi = 1024 * 1024

const ours = actorContender({ script: 'ours' })
const helia = actorContender({ script: 'helia' })
const stream = actorContender({ script: 'stream' })
const ping = actorContender({ script: 'stream', countsBytes: false })
const undelayed = actorContender({ script: 'ours', delayMs: 0 })
const oneProvider = actorContender({ script: 'ours', providers: 1 })

/** Kubo among the baselines, where it is here or can be built here. */
function kubo(): Readonly<Record<string, Contender>> {
  return kuboAvailable('the baseline kubo') ? { kubo: kuboContender } : {}
}

/** The same for Kubo as the one who serves. */
function kuboServes(): Readonly<Record<string, Contender>> {
  return kuboAvailable('the baseline kubo') ? { kubo: fairnessKubo } : {}
}

function scaled(value: number, scale: number, least: number): number {
  return Math.max(least, Math.round(value * scale))
}

function file(bytes: number, leafBytes: number, scale: number): SetUp['work'] {
  return { kind: 'file', bytes: scaled(bytes / leafBytes, scale, 4) * leafBytes, leafBytes }
}

const throughput: Bench = {
  name: 'throughput',
  shows: 'a 256 MiB file from one provider, memory stores: how near to what the stream itself can carry',
  figure: 'mbPerS',
  unit: 'MB/s',
  ours,
  rows: (scale) => [
    {
      name: '256 MiB, 1 provider',
      work: file(256 * mebi, 256 * kibi, scale),
      providers: 1,
      baselines: { bareStream: stream, helia, ...kubo() },
      targets: [
        { baseline: 'bareStream', atLeast: 0.6 },
        { baseline: 'helia', atLeast: 1.5 },
        { baseline: 'kubo', atLeast: 1, wanted: true }
      ]
    }
  ]
}

const sharding: Bench = {
  name: 'sharding',
  shows: 'a file from four providers at once, memory stores: what sharing the work costs, and how much comes twice',
  figure: 'mbPerS',
  unit: 'MB/s',
  alsoShown: ['duplicateShare'],
  ours,
  rows: (scale) =>
    [64, 256].map((mebibytes) => ({
      name: `${mebibytes} MiB, 4 providers`,
      work: file(mebibytes * mebi, 256 * kibi, scale),
      providers: 4,
      baselines: { oneProvider, helia, ...kubo() },
      targets: [
        { baseline: 'oneProvider', atLeast: 0.8 },
        { figure: 'duplicateShareMax', atMost: 0.005 },
        { baseline: 'helia', atLeast: 6, wanted: true },
        { baseline: 'kubo', atLeast: 1, wanted: true }
      ]
    }))
}

/** Each way, between the downloader and every provider. */
const wanDelayMs = 25

/** Four providers behind links of these rates, in millions of bytes a second. */
function limited(
  title: string,
  mbPerS: readonly number[],
  more: { readonly frozen?: number } = {}
): Pick<Row, 'name' | 'providers' | 'links'> {
  return { name: `256 MiB, 4 providers: ${title}`, providers: mbPerS.length, links: { delayMs: wanDelayMs, mbPerS, ...more } }
}

const wan: Bench = {
  name: 'wan',
  shows: 'a 256 MiB file over links that delay 25 ms each way, through a relay: whether the links stay full',
  figure: 'mbPerS',
  unit: 'MB/s',
  alsoShown: ['linkShare', 'duplicateShare', 'relayedShare', 'relayCpuS', 'downloaderCpuS', 'providersCpuS'],
  ours,
  rows: (scale) => {
    const work = file(256 * mebi, 256 * kibi, scale)
    const others = { helia, ...kubo() }
    const noDuplicates = { figure: 'duplicateShareMax', atMost: 0.005 }
    return [
      {
        name: '256 MiB, 1 provider, no other limit',
        work,
        providers: 1,
        links: { delayMs: wanDelayMs },
        baselines: { bareStream: stream, undelayed, ...others },
        targets: [
          { baseline: 'undelayed', atLeast: 0.85 },
          { baseline: 'bareStream', atLeast: 0.8 },
          { baseline: 'helia', atLeast: 2 },
          { baseline: 'kubo', atLeast: 5 }
        ]
      },
      {
        ...limited('20 MB/s each', [20, 20, 20, 20]),
        work,
        baselines: others,
        targets: [
          { figure: 'linkShare', atLeast: 0.9 },
          noDuplicates,
          { baseline: 'kubo', atLeast: 1.5 },
          { baseline: 'helia', atLeast: 4 }
        ]
      },
      {
        ...limited('three of 20 MB/s, one of 2 MB/s', [20, 20, 20, 2]),
        work,
        baselines: others,
        targets: [{ figure: 'linkShare', atLeast: 0.9 }, noDuplicates]
      },
      {
        ...limited('20 MB/s each, one frozen at half', [20, 20, 20, 20], { frozen: 3 }),
        work,
        baselines: others,
        targets: [{ figure: 'linkShare', atLeast: 0.85 }]
      }
    ]
  }
}

const smallBlocks: Bench = {
  name: 'small-blocks',
  shows: '20,000 raw blocks of 1 KiB, 100 asked for at a time; and a 20 MiB file of such blocks: the cost of one want',
  figure: 'blocksPerS',
  unit: 'blocks/s',
  ours,
  rows: (scale) => [
    {
      name: '20,000 blocks of 1 KiB',
      work: { kind: 'blocks', blocks: scaled(20_000, scale, 200), blockBytes: kibi, window: 100 },
      providers: 1,
      baselines: { helia },
      targets: [{ baseline: 'helia', atLeast: 5 }]
    },
    {
      name: '20 MiB file of 1 KiB blocks',
      work: file(20 * mebi, kibi, scale),
      providers: 1,
      baselines: { helia, ...kubo() },
      targets: [
        { baseline: 'helia', atLeast: 5 },
        { baseline: 'kubo', atLeast: 10, wanted: true }
      ]
    }
  ]
}

const latency: Bench = {
  name: 'latency',
  shows: 'one block of 1 KiB after another on a warm connection: the time of a lone want',
  figure: 'p50Ms',
  unit: 'ms (p50)',
  alsoShown: ['p99Ms'],
  ours,
  rows: (scale) => [
    {
      name: '500 blocks of 1 KiB, one by one',
      work: { kind: 'blocks', blocks: scaled(550, scale, 20), blockBytes: kibi, window: 1, warmUpBlocks: scaled(50, scale, 10) },
      providers: 1,
      baselines: { helia, ping },
      targets: [
        { baseline: 'helia', atMost: 1 / 8 },
        { baseline: 'ping', atMost: 3, wanted: true }
      ]
    }
  ]
}

/** How much more either end took for the larger work than for the smaller one. */
function growth(larger: Figures, smaller: Figures): number {
  const ends = ['downloaderMb', 'providerMb'].map((end) => (larger[end] ?? Number.NaN) - (smaller[end] ?? Number.NaN))
  return Number(Math.max(...ends).toPrecision(4))
}

const memory: Bench = {
  name: 'memory',
  shows: 'blocks of 256 KiB through getMany, neither end keeping any: the peak of memory above idle, and whether it grows with the size',
  figure: 'peakMb',
  unit: 'MB over idle',
  alsoShown: ['downloaderMb', 'providerMb', 'growthMb', 'mbPerS'],
  ours: actorContender({ script: 'ours', args: ['unkept'], memory: true }),
  conclude: ([larger = {}, ...smaller]) => [{ ...larger, growthMb: growth(larger, smaller[0] ?? {}) }, ...smaller],
  rows: (scale) =>
    [1024, 256].map((mebibytes) => ({
      name: `${mebibytes} MiB, 1 provider`,
      work: { kind: 'blocks', blocks: scaled(mebibytes * 4, scale, 16), blockBytes: 256 * kibi, window: 1, unkept: true },
      providers: 1,
      baselines: {},
      // Flat: four times the data may not take more than what one run differs from the next.
      targets: [{ figure: 'peakMb', atMost: 150 }, ...(mebibytes === 1024 ? [{ figure: 'growthMb', atMost: 30 }] : [])]
    }))
}

const peerCounts = [1000, 10, 100, 10_000]

/** How much more a choice among these peers costs than one among ten, over what the logarithm allows. */
function overLog(micros: number, microsOfTen: number, peers: number): number {
  return Number((micros / microsOfTen / Math.log10(peers)).toPrecision(4))
}

const decisions: Bench = {
  name: 'decisions',
  shows: 'our cores alone: choices among 10 to 10,000 peers, and the broker matching 100,000 wants of ten sessions with 100 peers',
  figure: 'decisionsPerS',
  unit: 'decisions/s',
  alsoShown: ['microsPerDecision', 'overLog', 'microsPerWant'],
  ours: decisionsContender,
  conclude: (ours) => {
    const microsOfTen = ours[1]?.['microsPerDecision'] ?? Number.NaN
    return ours.map((of, row) => {
      const peers = peerCounts[row]
      const micros = of['microsPerDecision'] ?? Number.NaN
      return peers === undefined || peers === 10 ? of : { ...of, overLog: overLog(micros, microsOfTen, peers) }
    })
  },
  rows: (scale) => [
    ...peerCounts.map((peers) => ({
      name: `choosing among ${peers.toLocaleString('en')} peers`,
      core: 'session' as const,
      work: { kind: 'blocks' as const, blocks: scaled(2_000_000, scale, 1000), blockBytes: 1, window: 1 },
      providers: peers,
      baselines: {},
      targets: [
        ...(peers === 1000 ? [{ figure: 'decisionsPerS', atLeast: 500_000 }] : []),
        ...(peers === 10 ? [] : [{ figure: 'overLog', atMost: 1 }])
      ]
    })),
    {
      name: '100,000 wants of 10 sessions, 100 peers',
      core: 'broker',
      work: { kind: 'blocks', blocks: scaled(100_000, scale, 1000), blockBytes: 1, window: 1 },
      providers: 100,
      baselines: {},
      targets: [{ figure: 'microsPerDecision', atMost: 2 }]
    }
  ]
}

const serveFairness: Bench = {
  name: 'serve-fairness',
  shows: 'one provider, 8 clients that want 1,024 blocks each all the time, and clients that come with one want: how long these wait',
  figure: 'turns',
  unit: 'turns of all clients',
  alsoShown: ['turnsP95', 'waitMs', 'turnMs', 'blocksPerS', 'leastShare'],
  ours: fairnessOurs,
  rows: (scale) => {
    const leafBytes = scaled(256, scale, 16) * kibi
    return [
      {
        name: `blocks of ${leafBytes / kibi} KiB, 8 clients with 1,024 wants each`,
        work: { kind: 'file', bytes: fairnessBlocks * leafBytes, leafBytes },
        providers: 1,
        baselines: { helia: fairnessHelia, ...kuboServes() },
        targets: [
          { figure: 'turns', atMost: 2 },
          { figure: 'leastShare', atLeast: 0.7 }
        ]
      }
    ]
  }
}

export const benches: readonly Bench[] = [throughput, sharding, wan, smallBlocks, latency, memory, decisions, serveFairness]
