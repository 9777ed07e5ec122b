import type { Scenario } from '../scenario.ts'
import { atLeast, atMost } from '../targets.ts'

const KiB = 1024
const MiB = 1024 * KiB

const bytesPerS = 40_000_000
const fileBytes = 512 * MiB

/** How full one link is, whatever its delay: what a session has in flight follows bandwidth times delay. */
function delay(blockBytes: number, roundTripMs: number): Scenario {
  const blocks = fileBytes / blockBytes
  return {
    name: `delays/${blockBytes / KiB}KiB-${roundTripMs}ms`,
    family: 'delays',
    summary: `one provider of 40 MB/s, ${roundTripMs} ms there and back, read as a file of 512 MiB with 64 MiB ahead, in blocks of ${blockBytes / KiB} KiB`,
    nodes: [
      { name: 'provider', count: 1, holds: () => true },
      { name: 'reader', count: 1 }
    ],
    blocks: { count: blocks, bytes: blockBytes },
    link: () => ({ delayMs: roundTripMs / 2, bytesPerS }),
    jobs: [{ node: ['reader', 0], pattern: { kind: 'window', bytes: 64 * MiB }, blocks: [0, blocks] }],
    limitMs: 10 * 60 * 1000,
    runs: { count: 3, because: 'nothing in it is drawn by chance but what the core draws' },
    fields: (run) => ({ linkShare: fileBytes / run.seconds / bytesPerS }),
    target: (ours) => [atLeast(ours, 'linkShare', 0.9), atMost(ours, 'duplicateShare', 0.01), atMost(ours, 'failed', 0)]
  }
}

export const delays: readonly Scenario[] = [256 * KiB, 64 * KiB].flatMap((blockBytes) =>
  [1, 50, 200].map((roundTripMs) => delay(blockBytes, roundTripMs))
)
