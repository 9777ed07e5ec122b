import type { PolicyOutcome } from '../outcome.ts'
import type { NodeGroup, Scenario, Verdict } from '../scenario.ts'
import { atMost, timesAtMost, timesBetter } from '../targets.ts'
import { comparedWith } from './compared.ts'

const KiB = 1024

const peers = 20
const badPeers = 6

const nodes: readonly NodeGroup[] = [
  { name: 'good', count: peers - badPeers, holds: () => true },
  { name: 'bad', count: badPeers, fault: 'silent' },
  { name: 'reader', count: 1 }
]

/** Forecasts of failure are better than the base rate, and as many fail as was said. */
function forecasts(ours: PolicyOutcome): Verdict[] {
  return [atMost(ours, 'brierRatio', 0.8), atMost(ours, 'calibrationError', 0.05)]
}

const silentSessions = 20
const silentSessionBlocks = 500

/**
 * Links are alike, so that foresight gains nothing but to know who is silent: a fair share for all good peers costs no
 * time. Nor does the first block of a session count for much, for which nobody is known yet and two round trips go by (B4).
 */
export const silent30: Scenario = {
  name: 'silent-30',
  summary: `20 peers of which 6 say HAVE and send nothing; ${silentSessions} sessions of ${silentSessionBlocks} blocks of 16 KiB, 10 at a time`,
  nodes,
  blocks: { count: silentSessions * silentSessionBlocks, bytes: 16 * KiB },
  link: () => ({ delayMs: 25, jitterMs: { logNormal: { median: 2, sigma: 0.5 } }, bytesPerS: 10_000_000 }),
  jobs: [
    {
      node: ['reader', 0],
      pattern: { kind: 'batches', sizes: [1, 10] },
      blocks: [0, silentSessions * silentSessionBlocks],
      sessionBlocks: silentSessionBlocks
    }
  ],
  limitMs: 24 * 60 * 60 * 1000,
  policies: comparedWith(),
  target: (ours, all) => [timesAtMost(ours, all, 'oracle', 'p99Ms', 1.25), ...forecasts(ours), atMost(ours, 'failed', 0)]
}

const shortSessions = 1000
const shortSessionBlocks = 20

/** What a peer learns in one session is worth something in the next only to who remembers it. */
export const shortSessionsOf20: Scenario = {
  name: 'short-sessions',
  summary: `${shortSessions} sessions of ${shortSessionBlocks} blocks of 16 KiB, one after the other; 20 peers of which 6 say HAVE and send nothing`,
  nodes,
  blocks: { count: shortSessions * shortSessionBlocks, bytes: 16 * KiB },
  link: () => ({ delayMs: { uniform: { from: 15, to: 50 } }, jitterMs: { logNormal: { median: 2, sigma: 0.5 } }, bytesPerS: 10_000_000 }),
  jobs: [
    {
      node: ['reader', 0],
      pattern: { kind: 'batches', sizes: [1, Infinity] },
      blocks: [0, shortSessions * shortSessionBlocks],
      sessionBlocks: shortSessionBlocks
    }
  ],
  limitMs: 24 * 60 * 60 * 1000,
  policies: comparedWith(),
  target: (ours, all) => [
    timesBetter(ours, all, 'one-want-block', 'p99Ms', 1.7),
    timesAtMost(ours, all, 'one-want-block', 'wantBlocksPerBlock', 0.8),
    ...forecasts(ours),
    atMost(ours, 'failed', 0)
  ]
}

/** Who fails now and then is harder to tell from the good ones, and worth something all the same. */
export const halfBad: Scenario = {
  ...shortSessionsOf20,
  name: 'half-bad',
  summary: `as short-sessions, but of 20 peers 6 send half of what they are asked`,
  nodes: [
    { name: 'good', count: peers - badPeers, holds: () => true },
    {
      name: 'bad',
      count: badPeers,
      holds: () => true,
      answerMs: {
        mixture: [
          { weight: 1, of: 0 },
          { weight: 1, of: Infinity }
        ]
      }
    },
    { name: 'reader', count: 1 }
  ],
  policies: [...comparedWith(), 'shardswap-linear'],
  target: (ours, all) => [
    timesBetter(ours, all, 'one-want-block', 'p99Ms', 1.7),
    timesAtMost(ours, all, 'one-want-block', 'wantBlocksPerBlock', 1),
    ...forecasts(ours),
    atMost(ours, 'failed', 0)
  ]
}

const servers = 100
const keys = 1000
const reads = 30

/** They ask many for each of a thousand blocks at once: a hundred times the messages, and up to minutes for a run. */
const tooManyWants = ['split-factor', 'one-want-block', 'all-providers']

/** A world of The Tail at Scale: each answer is quick, or is held up by something that has nothing to do with the others. */
export const tailAtScale: Scenario = {
  name: 'tail-at-scale',
  summary: `${servers} servers, ${reads} reads of ${keys} keys at once; an answer takes about 5 ms, and one in 250 stalls for 1 s`,
  nodes: [
    {
      name: 'server',
      count: servers,
      holds: () => true,
      answerMs: {
        mixture: [
          { weight: 0.996, of: { logNormal: { median: 5, sigma: 0.3 } } },
          { weight: 0.004, of: 1000 }
        ]
      }
    },
    { name: 'reader', count: 1 }
  ],
  blocks: { count: reads * keys, bytes: 4 * KiB },
  link: () => ({ delayMs: 0.1 }),
  jobs: [{ node: ['reader', 0], pattern: { kind: 'batches', sizes: [Infinity] }, blocks: [0, reads * keys], sessionBlocks: keys }],
  limitMs: 24 * 60 * 60 * 1000,
  policies: comparedWith(tooManyWants),
  target: (ours, all) => [
    timesBetter(ours, all, 'shardswap-no-backups', 'p999Ms', 20),
    atMost(ours, 'wantBlocksPerBlock', 1.02),
    atMost(ours, 'failed', 0)
  ]
}
