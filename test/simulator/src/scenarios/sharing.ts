import { bigBatch } from '../pattern.ts'
import type { Scenario } from '../scenario.ts'
import { jain } from '../statistics.ts'
import { atLeast, atMost } from '../targets.ts'

const KiB = 1024
const MiB = 1024 * KiB

const childBytes = 256 * KiB
const childBytesPerS = 2_000_000
const childCount = 20
/** All twenty from A: an answer's time, and what they need on A's link. */
const allFromASeconds = 0.1 + (childCount * childBytes) / childBytesPerS

/** The proposal's own example for doubling limits: the first to answer must not get everything. */
export const twentyChildren: Scenario = {
  name: 'twenty-children',
  summary: 'A answers in 100 ms, B in 200 ms, 2 MB/s each; a root and its 20 children of 256 KiB',
  nodes: [
    { name: 'a', count: 1, holds: () => true },
    { name: 'b', count: 1, holds: () => true },
    { name: 'reader', count: 1 }
  ],
  blocks: { count: childCount, bytes: childBytes },
  link: (from, to) => ({ delayMs: from === 'a' || to === 'a' ? 50 : 100, bytesPerS: childBytesPerS }),
  jobs: [{ node: ['reader', 0], pattern: bigBatch, blocks: [0, childCount] }],
  limitMs: 60_000,
  fields: (run) => {
    const peers = run.fetchers.get('reader-0')?.peers
    const blocksFrom = (key: string): number => [...(peers ?? [])].find(([peer]) => peer === key)?.[1].blocks ?? 0
    return { fromA: blocksFrom('a-0'), fromB: blocksFrom('b-0'), ofAllFromA: run.seconds / allFromASeconds }
  },
  policies: ['shardswap', 'one-want-block', 'split-factor', 'oracle'],
  target: (ours) => [
    atLeast(ours, 'fromA', 1),
    atLeast(ours, 'fromB', 1),
    atMost(ours, 'ofAllFromA', 0.85),
    atMost(ours, 'duplicateBlocks', 0),
    atMost(ours, 'failed', 0)
  ]
}

const fastBytesPerS = 10_000_000
const slowBytesPerS = 1_000_000
const fileBytes = 256 * MiB

/** As boxo issue 104 asks: a slow peer beside a fast one adds what it has, and takes nothing away. */
export const slowAndFast: Scenario = {
  name: 'slow-and-fast',
  summary: 'one peer of 10 MB/s and one of 1 MB/s, 25 ms away, read as a file of 256 MiB with 32 MiB ahead',
  nodes: [
    { name: 'fast', count: 1, holds: () => true },
    { name: 'slow', count: 1, holds: () => true },
    { name: 'reader', count: 1 }
  ],
  blocks: { count: fileBytes / childBytes, bytes: childBytes },
  link: (from, to) => ({ delayMs: 25, bytesPerS: from === 'slow' || to === 'slow' ? slowBytesPerS : fastBytesPerS }),
  jobs: [{ node: ['reader', 0], pattern: { kind: 'window', bytes: 32 * MiB }, blocks: [0, fileBytes / childBytes] }],
  limitMs: 10 * 60 * 1000,
  fields: (run) => ({ ofBothBandwidths: fileBytes / run.seconds / (fastBytesPerS + slowBytesPerS) }),
  policies: ['shardswap', 'one-want-block', 'p2c', 'oracle'],
  target: (ours) => [atLeast(ours, 'ofBothBandwidths', 0.95), atMost(ours, 'duplicateShare', 0.01), atMost(ours, 'failed', 0)]
}

const sessionCount = 100
const sessionBlocks = 40

export const manySessions: Scenario = {
  name: 'many-sessions',
  summary: `${sessionCount} sessions with ${sessionBlocks} blocks of 64 KiB each share one provider of 20 MB/s`,
  nodes: [
    { name: 'provider', count: 1, holds: () => true, uplinkBytesPerS: 20_000_000 },
    { name: 'reader', count: 1 }
  ],
  blocks: { count: sessionCount * sessionBlocks, bytes: 64 * KiB },
  link: () => ({ delayMs: 20 }),
  jobs: Array.from({ length: sessionCount }, (_, session) => ({
    node: ['reader', 0],
    pattern: bigBatch,
    blocks: [session * sessionBlocks, (session + 1) * sessionBlocks]
  })),
  limitMs: 10 * 60 * 1000,
  // Alike are sessions that took as long for as much.
  fields: (run) => ({ jain: jain(run.jobs.map((job) => job.bytes / (job.endMs - job.startMs))) }),
  policies: ['shardswap', 'one-want-block', 'round-robin'],
  target: (ours) => [atLeast(ours, 'jain', 0.95), atMost(ours, 'duplicateBlocks', 0), atMost(ours, 'failed', 0)]
}
