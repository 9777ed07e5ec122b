import type { Scenario } from '../scenario.ts'
import { atMost } from '../targets.ts'

const KiB = 1024
const MiB = 1024 * KiB

/** What one provider has, and what its link carries. */
interface Provider {
  readonly from: number
  readonly to: number
  readonly bytesPerS: number
}

/** A set-up that runs on real TCP as well as in the simulator. */
export interface Setup {
  readonly name: string
  readonly summary: string
  readonly blocks: number
  readonly providers: readonly Provider[]
}

export const blockBytes = 256 * KiB
/** One way. */
export const delayMs = 25
/** What a session asks for ahead of its reader: the default of `getMany`. */
const aheadBytes = 32 * MiB

const bytesPerS = 10_000_000

export const setups: readonly Setup[] = [
  {
    name: 'one-provider',
    summary: 'one provider of 10 MB/s behind 50 ms',
    blocks: 128,
    providers: [{ from: 0, to: 128, bytesPerS }]
  },
  {
    name: 'one-of-four-slow',
    summary: 'three providers of 10 MB/s and one of 1 MB/s, 50 ms away',
    blocks: 384,
    providers: [bytesPerS, bytesPerS, bytesPerS, bytesPerS / 10].map((rate) => ({ from: 0, to: 384, bytesPerS: rate }))
  },
  {
    name: 'two-that-overlap',
    summary: 'two providers of 10 MB/s, 50 ms away, with three quarters of the blocks each',
    blocks: 256,
    providers: [
      { from: 0, to: 192, bytesPerS },
      { from: 64, to: 256, bytesPerS }
    ]
  }
]

function groupOf(place: number): string {
  return `provider${place}`
}

/** The set-up as the simulator has it. */
export function simulated({ name, summary, blocks, providers }: Setup): Scenario {
  const rates = new Map(providers.map((provider, place) => [groupOf(place), provider.bytesPerS]))
  return {
    name: `reality/${name}`,
    family: 'reality',
    summary: `${summary}; runs on real TCP as well`,
    nodes: [
      ...providers.map(({ from, to }, place) => ({
        name: groupOf(place),
        count: 1,
        holds: (block: number) => block >= from && block < to
      })),
      { name: 'reader', count: 1 }
    ],
    blocks: { count: blocks, bytes: blockBytes },
    link: (from) => ({ delayMs, bytesPerS: rates.get(from) ?? bytesPerS }),
    jobs: [{ node: ['reader', 0], pattern: { kind: 'window', bytes: aheadBytes, order: 'arrival' }, blocks: [0, blocks] }],
    limitMs: 10 * 60 * 1000,
    target: (ours) => [atMost(ours, 'failed', 0), atMost(ours, 'duplicateShare', 0.01)]
  }
}
