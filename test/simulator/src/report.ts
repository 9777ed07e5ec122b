import { hashOf, type PolicyOutcome } from './outcome.ts'
import type { Simulation } from './simulate.ts'
import { ours } from './simulate.ts'
import { show } from './targets.ts'

/** Columns of the table for people; the JSON has all figures. */
const columns = ['seconds', 'p50Ms', 'p99Ms', 'p999Ms', 'wantBlocksPerBlock', 'duplicateShare', 'messages', 'timeouts', 'failed']

function withIntervals(outcome: PolicyOutcome): object {
  return { ...outcome.figures, intervals: outcome.intervals, traceHash: outcome.traceHash }
}

/** The last line of standard output for one scenario. */
export function jsonOf(simulation: Simulation): object {
  const { scenario, seeds, policies, traceHash, verdicts } = simulation
  return {
    scenario: scenario.name,
    seeds,
    policies: Object.fromEntries(
      [...policies].map(([name, outcome]) => [name, { brier: null, shareError: null, ...withIntervals(outcome) }])
    ),
    traceHash,
    targets: verdicts
  }
}

/** The same for a family: a row for each scenario and policy; rows of ours come without its name. */
export function familyJsonOf(family: string, simulations: readonly Simulation[]): object {
  const rows = simulations.flatMap(({ scenario, policies, verdicts, seeds }) =>
    [...policies].map(([policy, outcome]) => {
      const { seconds, blocksIn, messages } = outcome.figures
      const boxo =
        scenario.boxoSeconds === undefined ? {} : { boxoSeconds: scenario.boxoSeconds, ratio: (seconds ?? NaN) / scenario.boxoSeconds }
      const isOurs = policy === ours
      const named = isOurs ? { isMet: verdicts.every((verdict) => verdict.isMet), targets: verdicts } : { policy }
      return { name: scenario.name, seconds, blocksIn, messagesOut: messages, ...boxo, ...named, seeds, ...withIntervals(outcome) }
    })
  )
  return { scenario: family, rows, traceHash: hashOf(simulations.map((simulation) => simulation.traceHash)) }
}

/** Lines for people: a table, and what was asked of our policy. */
export function linesOf(simulation: Simulation): string[] {
  const { scenario, seeds, policies, traceHash, verdicts } = simulation
  const range = seeds.length === 1 ? `seed ${seeds[0]}` : `seeds ${seeds[0]} to ${seeds.at(-1)}`
  const own = ownFigures(simulation)
  const rows = [...policies].map(([name, outcome]) => [name, ...[...columns, ...own].map((column) => cell(outcome, column))])
  return [
    `${scenario.name} (${range}): ${scenario.summary}`,
    ...tableOf([['policy', ...columns, ...own], ...rows]),
    ...verdicts.map(({ what, isMet }) => `  ${isMet ? 'met   ' : 'MISSED'} ${what}`),
    `  trace ${traceHash}`
  ]
}

/** Names of the scenario's own figures: those behind the last that all have. */
function ownFigures({ policies }: Simulation): string[] {
  const [outcome] = policies.values()
  const names = Object.keys(outcome?.figures ?? {})
  return names.slice(names.indexOf('failed') + 1)
}

function cell(outcome: PolicyOutcome, column: string): string {
  const value = outcome.figures[column] ?? NaN
  const [low, high] = outcome.intervals[column] ?? [NaN, NaN]
  return low === high ? show(value) : `${show(value)} [${show(low)}, ${show(high)}]`
}

function tableOf(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) => `  ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
}
