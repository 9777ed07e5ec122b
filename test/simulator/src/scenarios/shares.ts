import type { RunResult } from '../run-result.ts'
import type { NodeName, Scenario } from '../scenario.ts'
import { chiSquareP } from '../statistics.ts'
import { atLeast, atMost } from '../targets.ts'

const KiB = 1024

/** The example of Presearch: 100 gets twice as much as 50, and that fifty times as much as 1. */
const scores = [100, 50, 1]
const picks = 100_000
const names: readonly NodeName[] = scores.map((score) => [`of${score}`, 0])

function fieldsOf(run: RunResult): Record<string, number> {
  const counts = run.fetchers.get('reader-0')?.judge?.picks
  const observed = names.map(([group]) => counts?.get(`${group}-0` as never) ?? 0)
  let sum = 0
  for (const score of scores) sum += score
  const expected = scores.map((score) => (picks * score) / sum)
  const errors = observed.map((count, index) => (Math.abs(count - (expected[index] ?? NaN)) / picks) * 100)
  return {
    picks: observed.reduce((total, count) => total + count, 0),
    shareError: Math.max(...errors),
    chiSquareP: chiSquareP(observed, expected)
  }
}

/** With all else equal the shares of the picks are the shares of the scores: a session each, so that all else is equal. */
export const shares: Scenario = {
  name: 'shares',
  summary: `${picks} sessions of one block at three equal peers whose scores are ${scores.join(', ')}`,
  nodes: [...scores.map((score) => ({ name: `of${score}`, count: 1, holds: () => true, score })), { name: 'reader', count: 1 }],
  blocks: { count: picks, bytes: 4 * KiB },
  link: () => ({ delayMs: 10 }),
  jobs: [{ node: ['reader', 0], pattern: { kind: 'batches', sizes: [1] }, blocks: [0, picks], sessionBlocks: 1, fixedPeers: names }],
  limitMs: 24 * 60 * 60 * 1000,
  fields: fieldsOf,
  // Nobody else knows scores.
  policies: ['shardswap', 'shardswap-no-backups'],
  target: (ours) => [atMost(ours, 'shareError', 0.5), atLeast(ours, 'chiSquareP', 0.01), atMost(ours, 'failed', 0)]
}
