import { describe, expect, it } from 'vitest'
import { scenariosCalled } from '../src/catalogue.ts'
import type { Policy } from '../src/policy.ts'
import { policies } from '../src/registry.ts'
import { run } from '../src/run.ts'
import type { Scenario } from '../src/scenario.ts'

function scenario(name: string): Scenario {
  const [found] = scenariosCalled(name)
  if (found === undefined) throw new Error(`no scenario ${name}`)
  return found
}

function policy(name: string): Policy {
  const found = policies.get(name)
  if (found === undefined) throw new Error(`no policy ${name}`)
  return found
}

describe('the same seed gives the same run', () => {
  // Found by running it; another machine must find the same, and a change of the network or the server changes it.
  it('on every machine: this hash', () => {
    expect(run(scenario('200Nodes-AllToAll-BigBatch-SlowVariableSpeedNetwork'), policy('round-robin'), 7).traceHash).toBe(
      '7f4807320f972678eea7af858ce4c131936b3844f0ed9a9e8b51e73a20c23fb5'
    )
  })

  it.each(['3Nodes-Overlap3-BatchBy10', 'storm', 'twenty-children'])('twice, in %s', (name) => {
    const first = run(scenario(name), policy('shardswap'), 1)
    const second = run(scenario(name), policy('shardswap'), 1)
    expect(second.traceHash).toBe(first.traceHash)
    expect(second.seconds).toBe(first.seconds)
    expect(run(scenario('storm'), policy('shardswap'), 2).traceHash).not.toBe(first.traceHash)
  })
})
