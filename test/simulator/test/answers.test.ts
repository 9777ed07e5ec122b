import { expect, it } from 'vitest'
import type { Distribution } from '../src/engine/random.ts'
import { bigBatch, oneAtATime } from '../src/pattern.ts'
import { policies } from '../src/registry.ts'
import { run } from '../src/run.ts'
import type { RunResult } from '../src/run-result.ts'
import type { Job, NodeGroup, Scenario } from '../src/scenario.ts'

const blocks = 40

function fetched(answerMs: Distribution | undefined, job: Partial<Job> = {}, more: readonly NodeGroup[] = []): RunResult {
  const policy = policies.get('uniform')
  if (policy === undefined) throw new Error('a policy has a name')
  const scenario: Scenario = {
    name: 'answers',
    summary: 'one peer that holds its answers back',
    nodes: [
      { name: 'seed', count: 1, holds: () => true, ...(answerMs === undefined ? {} : { answerMs }) },
      ...more,
      { name: 'reader', count: 1 }
    ],
    blocks: { count: blocks, bytes: 2000 },
    link: () => ({ delayMs: 10 }),
    jobs: [{ node: ['reader', 0], pattern: bigBatch, blocks: [0, blocks], ...job }],
    limitMs: 10 * 60 * 1000
  }
  return run(scenario, policy, 1)
}

function latencies(result: RunResult): number[] {
  return [...(result.fetchers.get('reader-0')?.latenciesMs ?? [])].toSorted((a, b) => a - b)
}

it('a block that is held back lets others pass', () => {
  const stalled = {
    mixture: [
      { weight: 9, of: 0 },
      { weight: 1, of: 1000 }
    ]
  }
  const times = latencies(fetched(stalled))
  expect(times).toHaveLength(blocks)
  const late = times.filter((ms) => ms >= 1000)
  expect(late.length).toBeGreaterThan(0)
  expect(late.length).toBeLessThan(blocks / 3)
  for (const ms of times) expect(ms % 1000).toBeLessThan(100)
})

it('a block that never leaves is asked for elsewhere, and its cancel ends it', () => {
  const result = fetched(
    {
      mixture: [
        { weight: 1, of: 0 },
        { weight: 1, of: Infinity }
      ]
    },
    {},
    [{ name: 'other', count: 1, holds: () => true }]
  )
  expect(result.jobs[0]?.failed).toBe(0)
  // It was asked for at the first peer alone for as long as this policy bears with one.
  expect(Math.max(...latencies(result))).toBeGreaterThan(5000)
  expect(result.fetchers.get('reader-0')?.duplicateBlocks).toBe(0)
})

it('a job of many sessions has one after the other, each with a first block of its own', () => {
  const one = fetched(undefined, { pattern: oneAtATime })
  const many = fetched(undefined, { pattern: oneAtATime, sessionBlocks: 10 })
  expect(many.jobs).toHaveLength(1)
  expect(many.jobs[0]).toMatchObject({ blocks, failed: 0 })
  expect(many.fetchers.get('reader-0')?.wantHaves).toBeGreaterThan(one.fetchers.get('reader-0')?.wantHaves ?? Infinity)
  const aborted = fetched(undefined, { pattern: oneAtATime, sessionBlocks: 10, abortAtMs: 300 })
  const failed = aborted.jobs[0]?.failed ?? 0
  expect(failed).toBeGreaterThan(0)
  expect(failed + latencies(aborted).length).toBe(blocks)
})
