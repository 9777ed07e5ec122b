import type { LinkPlan, Scenario, WorldEvent } from '../scenario.ts'
import { atLeast, atMost } from '../targets.ts'

const KiB = 1024
const MiB = 1024 * KiB

const leafBytes = 256 * KiB
const leaves = (256 * MiB) / leafBytes
/** The root, the nodes below it, and how large they are: as `add` makes a file of 256 MiB. */
const levels = [1, 6]
const innerNodes = 7
const rootBytes = 330
const innerBytes = 8200
const fileBytes = rootBytes + 6 * innerBytes + leaves * leafBytes

const delayMs = 25
const frozenAtMs = 1750

function group(place: number): string {
  return `provider${place}`
}

interface WanPlan {
  /** What each provider's link carries, in bytes a second. */
  readonly bytesPerS: readonly number[]
  readonly events?: () => readonly WorldEvent[]
  /** What the links can carry in all the time, in bytes a second; their sum where it is left out. */
  readonly offeredBytesPerS?: number
  readonly shareMin: number
}

/** The set-ups of the bench `wan`, where only the links take time. */
function wan(name: string, what: string, { bytesPerS, events, offeredBytesPerS, shareMin }: WanPlan): Scenario {
  const offered = offeredBytesPerS ?? bytesPerS.reduce((sum, rate) => sum + rate, 0)
  const rates = new Map(bytesPerS.map((rate, place) => [group(place), rate]))
  const link = (from: string): LinkPlan => ({ delayMs, bytesPerS: rates.get(from) ?? 200_000_000 })
  return {
    name: `wan/${name}`,
    family: 'wan',
    summary: `a file of 256 MiB from ${what}, 25 ms away`,
    nodes: [...bytesPerS.map((_, place) => ({ name: group(place), count: 1, holds: () => true })), { name: 'reader', count: 1 }],
    blocks: {
      count: innerNodes + leaves,
      bytes: (index) => (index === 0 ? rootBytes : index < innerNodes ? innerBytes : leafBytes),
      innerNodes
    },
    link,
    jobs: [{ node: ['reader', 0], pattern: { kind: 'file', levels, bytes: 64 * MiB }, blocks: [0, innerNodes + leaves] }],
    ...(events === undefined ? {} : { events }),
    limitMs: 10 * 60 * 1000,
    runs: { count: 3, because: 'each moves a thousand blocks, and seeds differ little' },
    fields: (run) => ({ linkShare: fileBytes / run.seconds / offered }),
    policies: ['shardswap', 'one-want-block', 'all-providers', 'oracle'],
    target: (ours) => [atLeast(ours, 'linkShare', shareMin), atMost(ours, 'duplicateShare', 0.005), atMost(ours, 'failed', 0)]
  }
}

const fast = 20_000_000
const frozen: WorldEvent = { atMs: frozenAtMs, kind: 'fault', node: ['provider3', 0], fault: 'mute' }
/** Half of the file over four links, the other half over three. */
const offeredWhileFrozen = fileBytes / (fileBytes / 2 / (4 * fast) + fileBytes / 2 / (3 * fast))

export const wans: readonly Scenario[] = [
  wan('a', 'one provider of 135 MB/s', { bytesPerS: [135_000_000], shareMin: 0.85 }),
  wan('b', 'four providers of 20 MB/s', { bytesPerS: [fast, fast, fast, fast], shareMin: 0.9 }),
  wan('c', 'three providers of 20 MB/s and one of 2 MB/s', { bytesPerS: [fast, fast, fast, 2_000_000], shareMin: 0.9 }),
  wan('d', 'four providers of 20 MB/s, one of which goes silent at half', {
    bytesPerS: [fast, fast, fast, fast],
    events: () => [frozen],
    offeredBytesPerS: offeredWhileFrozen,
    shareMin: 0.85
  })
]

const warmingBlocks = 100
const comeAtMs = 10_000
const beginAtMs = 11_000

/** Newcomers get 5 % of what a known peer can serve; of what it cannot, because its link is full, they get all. */
export const rememberedAndNew: Scenario = {
  name: 'remembered-and-new',
  summary: `a provider that has delivered ${warmingBlocks} blocks before and three new ones, 20 MB/s each, 25 ms away; a file of 256 MiB`,
  nodes: [
    { name: 'known', count: 1, holds: () => true },
    { name: 'new', count: 3, holds: () => true, isAway: true },
    { name: 'reader', count: 1 }
  ],
  blocks: {
    count: innerNodes + leaves + warmingBlocks,
    bytes: (index) => (index === 0 ? rootBytes : index < innerNodes ? innerBytes : leafBytes),
    innerNodes
  },
  link: (from) => ({ delayMs, bytesPerS: from === 'reader' ? 200_000_000 : fast }),
  jobs: [
    {
      node: ['reader', 0],
      pattern: { kind: 'batches', sizes: [1, 20] },
      blocks: [innerNodes + leaves, innerNodes + leaves + warmingBlocks]
    },
    { node: ['reader', 0], pattern: { kind: 'file', levels, bytes: 64 * MiB }, blocks: [0, innerNodes + leaves], startMs: beginAtMs }
  ],
  events: (): WorldEvent[] => [0, 1, 2].map((place) => ({ atMs: comeAtMs, kind: 'join', node: ['new', place] })),
  limitMs: 10 * 60 * 1000,
  runs: { count: 3, because: 'each moves a thousand blocks, and seeds differ little' },
  fields: (run) => {
    const file = run.jobs.find(({ startMs }) => startMs >= beginAtMs)
    return { linkShare: file === undefined ? NaN : file.bytes / ((file.endMs - file.startMs) / 1000) / (4 * fast) }
  },
  policies: ['shardswap', 'shardswap-no-backups', 'one-want-block', 'oracle'],
  target: (ours) => [atLeast(ours, 'linkShare', 0.85), atMost(ours, 'duplicateShare', 0.005), atMost(ours, 'failed', 0)]
}
