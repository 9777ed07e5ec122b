import { describe, expect, it } from 'vitest'
import { scenariosCalled } from '../src/catalogue.ts'
import { policies } from '../src/registry.ts'
import { simulate } from '../src/simulate.ts'

/** What the targets of a scenario, or a family, say that is not met by ours, with so many seeds, beside those it is compared with. */
function missed(name: string, runs: number, compared: readonly string[] = []): string[] {
  const scenarios = scenariosCalled(name)
  expect(scenarios).not.toEqual([])
  const run = ['shardswap', ...compared].flatMap((policy) => policies.get(policy) ?? [])
  expect(run).toHaveLength(1 + compared.length)
  const seeds = Array.from({ length: runs }, (_, index) => index + 1)
  return scenarios.flatMap((scenario) => {
    const { verdicts } = simulate(scenario, run, seeds)
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
    ['[B10] nothing is asked for twice where all is well', 'healthy', 1],
    ['[P22] new identities get five of a hundred wants at most, however many they are', 'sybils', 1],
    ['[I1] [I11] [I15] who sends 80 % of the requests and has a tenth of the servers gets hardly more than its tenth', 'hog', 1],
    ['[P22] a new name gives back nothing of what a bad record costs', 'whitewash', 1]
  ])('%s', (_title, name, runs) => {
    expect(missed(name, runs)).toEqual([])
  })

  it.each([
    ['[P22] where a third of the peers is silent, a user hardly notices', 'silent-30', 'oracle'],
    ['[C5] backups make up for stalls, at hardly any cost', 'tail-at-scale', 'shardswap-no-backups'],
    ['[C5] backups make an overload no worse', 'overload', 'shardswap-no-backups']
  ])('%s', { timeout: 60_000 }, (_title, name, compared) => {
    expect(missed(name, 1, [compared])).toEqual([])
  })
})
