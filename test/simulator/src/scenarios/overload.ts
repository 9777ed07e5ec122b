import { ln } from '../engine/exact-math.ts'
import type { SeededRandom } from '../engine/random.ts'
import type { Job, Scenario } from '../scenario.ts'
import { timesAtLeast } from '../targets.ts'
import { comparedWith } from './compared.ts'

const KiB = 1024

const servers = 5
const serverBytesPerS = 2_000_000
const readers = 8
const blockBytes = 64 * KiB
const sessionBlocks = 20
const offered = 1.5
const offeredForMs = 20_000
/** Whoever has not had everything by then goes. */
const patienceMs = 4000

const sessions = Math.round((offered * servers * serverBytesPerS * (offeredForMs / 1000)) / (sessionBlocks * blockBytes))

/** They come when they come, whatever became of those before. */
function arrivals(random: SeededRandom): Job[] {
  const meanMs = offeredForMs / sessions
  let startMs = 0
  return Array.from({ length: sessions }, (_, session) => {
    startMs -= meanMs * ln(1 - random.next())
    return {
      node: ['reader', random.integer(readers)],
      pattern: { kind: 'batches', sizes: [1, Infinity] },
      blocks: [session * sessionBlocks, (session + 1) * sessionBlocks],
      startMs,
      abortAtMs: startMs + patienceMs
    }
  })
}

/**
 * More is asked than there is: what is asked twice is taken from somebody. Answers take now long, now short, so that
 * there is always one that seems late.
 */
export const overload: Scenario = {
  name: 'overload',
  summary: `${servers} servers of 2 MB/s, ${readers} readers that ask ${offered} times as much, in sessions of ${sessionBlocks} blocks that wait 4 s`,
  nodes: [
    {
      name: 'server',
      count: servers,
      holds: () => true,
      uplinkBytesPerS: serverBytesPerS,
      answerMs: { logNormal: { median: 20, sigma: 1 } }
    },
    { name: 'reader', count: readers }
  ],
  blocks: { count: sessions * sessionBlocks, bytes: blockBytes },
  link: () => ({ delayMs: { uniform: { from: 10, to: 40 } }, jitterMs: { logNormal: { median: 2, sigma: 0.5 } } }),
  jobs: arrivals,
  limitMs: 10 * 60 * 1000,
  fields: (run) => {
    let bytes = 0
    for (const figures of run.fetchers.values()) bytes += figures.bytes
    return { goodput: bytes / run.seconds / (servers * serverBytesPerS) }
  },
  policies: comparedWith(),
  target: (ours, all) => [timesAtLeast(ours, all, 'shardswap-no-backups', 'goodput', 0.95)]
}
