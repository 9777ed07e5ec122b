import { bigBatch } from '../pattern.ts'
import type { Scenario } from '../scenario.ts'
import { atLeast, atMost } from '../targets.ts'

const KiB = 1024
const bytesPerS = 125_000
const delayMs = 50

/** Bytes per second that came, over what the link could carry. */
function slowHonest(name: string, count: number, bytes: number): Scenario {
  return {
    name,
    family: 'slow-honest',
    summary: `one honest provider behind 1 Mbit/s, ${count} blocks of ${bytes / KiB} KiB`,
    nodes: [
      { name: 'provider', count: 1, holds: () => true },
      { name: 'reader', count: 1 }
    ],
    blocks: { count, bytes },
    link: () => ({ delayMs, bytesPerS }),
    jobs: [{ node: ['reader', 0], pattern: bigBatch, blocks: [0, count] }],
    limitMs: 20 * 60 * 1000,
    fields: (run) => ({ linkShare: (count * bytes) / run.seconds / bytesPerS }),
    target: (ours) => [
      atMost(ours, 'timeouts', 0),
      atMost(ours, 'duplicateBlocks', 0),
      atMost(ours, 'firstCopies', 0),
      atMost(ours, 'failed', 0),
      atLeast(ours, 'linkShare', 0.95)
    ]
  }
}

export const slowHonests: readonly Scenario[] = [
  slowHonest('slow-honest/256KiB', 64, 256 * KiB),
  slowHonest('slow-honest/2MiB', 16, 2048 * KiB)
]
