import { hashOf, outcomeOf, type PolicyOutcome, type RunFigures, runFigures } from './outcome.ts'
import type { Policy } from './policy.ts'
import { run } from './run.ts'
import type { Scenario, Verdict } from './scenario.ts'

/** The name of our own policy. */
export const ours = 'shardswap'

const runsDefault = 10

export interface Simulation {
  readonly scenario: Scenario
  readonly seeds: readonly number[]
  readonly policies: ReadonlyMap<string, PolicyOutcome>
  readonly traceHash: string
  /** What the scenario asks of our policy; empty where that did not run. */
  readonly verdicts: readonly Verdict[]
}

/** As many seeds as asked for, one after the other. */
export function seedsOf(scenario: Scenario, first: number, runs: number | undefined): number[] {
  return Array.from({ length: runs ?? scenario.runs?.count ?? runsDefault }, (_, index) => first + index)
}

/** Runs each policy with each seed. Throws RunFailure for the first run in which a rule is broken. */
export function simulate(scenario: Scenario, policies: readonly Policy[], seeds: readonly number[]): Simulation {
  const outcomes = new Map<string, PolicyOutcome>()
  for (const policy of policies) {
    const perRun: RunFigures[] = []
    const hashes: string[] = []
    for (const seed of seeds) {
      const result = run(scenario, policy, seed)
      perRun.push(runFigures(scenario, result))
      hashes.push(result.traceHash)
    }
    outcomes.set(policy.name, outcomeOf(perRun, hashes))
  }
  const own = outcomes.get(ours)
  if (own === undefined) return { scenario, seeds, policies: outcomes, traceHash: hashOfAll(outcomes), verdicts: [] }
  const { compareWith } = scenario
  const compared = compareWith === undefined ? undefined : simulate(compareWith, policies.filter(isOurs), seeds).policies.get(ours)
  const verdicts = scenario.target?.(own, outcomes, compared) ?? []
  return { scenario, seeds, policies: outcomes, traceHash: hashOfAll(outcomes), verdicts }
}

function hashOfAll(outcomes: ReadonlyMap<string, PolicyOutcome>): string {
  return hashOf([...outcomes.values()].map((outcome) => outcome.traceHash))
}

function isOurs(policy: Policy): boolean {
  return policy.name === ours
}
