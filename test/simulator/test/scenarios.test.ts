import { describe, expect, it } from 'vitest'
import { scenariosCalled } from '../src/catalogue.ts'
import { policies } from '../src/registry.ts'
import { simulate } from '../src/simulate.ts'

/** What the targets of a scenario, or a family, say that is not met by ours, with so many seeds. */
function missed(name: string, runs: number): string[] {
  const scenarios = scenariosCalled(name)
  const ours = policies.get('shardswap')
  expect(scenarios).not.toEqual([])
  if (ours === undefined) throw new Error('our policy has a name')
  const seeds = Array.from({ length: runs }, (_, index) => index + 1)
  return scenarios.flatMap((scenario) => {
    const { verdicts } = simulate(scenario, [ours], seeds)
    expect(verdicts.length).toBeGreaterThan(0)
    return verdicts.filter(({ isMet }) => !isMet).map(({ what }) => `${scenario.name}: ${what}`)
  })
}

describe('targets of scenarios are met, in worlds of a few seconds', () => {
  it.each([
    ['[B3] a slow peer adds its bandwidth to a fast one’s, and takes nothing away', 'slow-and-fast', 1],
    ['[B27] what is in flight follows bandwidth and delay: a link of 200 ms is as full as one of 1 ms', 'delays', 1],
    ['[B14] the first to answer does not get everything', 'twenty-children', 3],
    ['[B15] a slow honest peer has time for its blocks, and its link is full', 'slow-honest', 1],
    ['[B17] a peer that goes silent is left alone', 'dead-peer', 3],
    ['[B24] a hundred sessions share one provider alike', 'many-sessions', 1],
    ['[B10] nothing is asked for twice where all is well', 'healthy', 1]
  ])('%s', (_title, name, runs) => {
    expect(missed(name, runs)).toEqual([])
  })
})
