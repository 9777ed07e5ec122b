import type { RunResult } from '../run-result.ts'
import type { Job, NodeGroup, NodeName, Scenario, WorldEvent } from '../scenario.ts'
import { atMost } from '../targets.ts'
import { comparedWith } from './compared.ts'

const KiB = 1024

const vettedPeers = 10
const sessions = 40
const sessionBlocks = 100
const blocks = sessions * sessionBlocks
/** By then the good ones are known; who comes later is a newcomer. */
const arrivalMs = 5000

const groups: readonly NodeGroup[] = [
  { name: 'good', count: vettedPeers, holds: () => true, uplinkBytesPerS: 2_000_000 },
  { name: 'reader', count: 1 }
]

const jobs: readonly Job[] = [{ node: ['reader', 0], pattern: { kind: 'batches', sizes: [1, 20] }, blocks: [0, blocks], sessionBlocks }]

/** What of all want-blocks went to a group since its members came. */
function shareOf(run: RunResult, group: string): number {
  let all = 0
  let theirs = 0
  for (const { atMs, peer } of run.fetchers.get('reader-0')?.asked ?? []) {
    if (atMs < arrivalMs) continue
    all += 1
    if (peer.startsWith(`${group}-`)) theirs += 1
  }
  return theirs / all
}

const common = {
  blocks: { count: blocks, bytes: 16 * KiB },
  link: () => ({ delayMs: { uniform: { from: 15, to: 30 } }, jitterMs: { logNormal: { median: 2, sigma: 0.5 } } }),
  jobs,
  limitMs: 24 * 60 * 60 * 1000
} as const

const fewSybils = 100

/** Identities cost nothing; what they are trusted with must not grow with their number. */
function sybils(count: number): Scenario {
  return {
    ...common,
    name: `sybils/${count}`,
    family: 'sybils',
    summary: `${vettedPeers} known peers, and after ${arrivalMs / 1000} s come ${count} new ones that say HAVE and send nothing`,
    nodes: [...groups, { name: 'sybil', count, fault: 'silent', isAway: true }],
    events: () => Array.from({ length: count }, (_, place): WorldEvent => ({ atMs: arrivalMs, kind: 'join', node: ['sybil', place] })),
    fields: (run) => ({ sybilShare: shareOf(run, 'sybil') }),
    // Whoever knows no newcomers asks these again and again, for minutes.
    policies: count > fewSybils ? ['shardswap', 'shardswap-no-backups'] : comparedWith(),
    target: (ours) => [atMost(ours, 'sybilShare', 0.05), atMost(ours, 'failed', 0)]
  }
}

export const sybilFamily: readonly Scenario[] = [1, 10, 100, 1000].map(sybils)

const cheats = 5
const nameLastsMs = 1000
const namesPerCheat = 40

/** Each of them leaves and is back at once under another name. */
function renamings(): WorldEvent[] {
  const events: WorldEvent[] = []
  for (let cheat = 0; cheat < cheats; cheat++) {
    for (let name = 0; name < namesPerCheat; name++) {
      const atMs = arrivalMs + name * nameLastsMs
      const named = (index: number): NodeName => ['cheat', cheat * namesPerCheat + index]
      if (name > 0) events.push({ atMs, kind: 'leave', node: named(name - 1) })
      events.push({ atMs, kind: 'join', node: named(name) })
    }
  }
  return events
}

/** What a bad record costs, a new name must not give back. */
export const whitewash: Scenario = {
  ...common,
  name: 'whitewash',
  summary: `${vettedPeers} known peers, and after ${arrivalMs / 1000} s come ${cheats} that send nothing and take a new name every second`,
  nodes: [...groups, { name: 'cheat', count: cheats * namesPerCheat, fault: 'silent', isAway: true }],
  events: renamings,
  fields: (run) => ({ sybilShare: shareOf(run, 'cheat') }),
  policies: comparedWith(),
  target: (ours) => [atMost(ours, 'sybilShare', 0.05), atMost(ours, 'failed', 0)]
}
