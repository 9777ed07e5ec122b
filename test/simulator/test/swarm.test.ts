import { expect, it } from 'vitest'
import { bigBatch } from '../src/pattern.ts'
import { policies } from '../src/registry.ts'
import { run } from '../src/run.ts'
import type { Scenario } from '../src/scenario.ts'

const peers = 100
const blocks = 4

const swarm: Scenario = {
  name: 'swarm',
  summary: `${peers} peers, all connected, of which one has what all the others want at once`,
  nodes: [{ name: 'peer', count: peers, holds: (_block, place) => place === 0 }],
  blocks: { count: blocks, bytes: 64 * 1024 },
  link: () => ({ delayMs: 10 }),
  jobs: Array.from({ length: peers }, (_, place) => ({ node: ['peer', place], pattern: bigBatch, blocks: [0, blocks] })),
  limitMs: 60_000
}

it('a hundred peers that want what one of them has all have it in the end, and get it from each other too', { timeout: 60_000 }, () => {
  const policy = policies.get('shardswap')
  if (policy === undefined) throw new Error('our own policy is there')
  const { fetchers, jobs } = run(swarm, policy, 1)
  expect(jobs.map(({ failed }) => failed)).toEqual(Array.from({ length: peers }, () => 0))
  const fetched = Array.from(fetchers).filter(([name]) => name !== 'peer-0')
  expect(fetched.map(([, figures]) => figures.blocks)).toEqual(Array.from({ length: peers - 1 }, () => blocks))
  const fromOthers = fetched
    .flatMap(([, figures]) => Array.from(figures.peers))
    .filter(([name, tally]) => name !== 'peer-0' && tally.blocks > 0)
  expect(fromOthers.length).toBeGreaterThan(0)
})
