import { setImmediate } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { runCanary } from './canary.ts'
import { namesLike, scenarios, scenariosCalled } from './catalogue.ts'
import { RunFailure } from './checkers/violation.ts'
import type { Policy, Settings } from './policy.ts'
import { isLimit, policies } from './registry.ts'
import { familyJsonOf, jsonOf, linesOf } from './report.ts'
import type { Scenario } from './scenario.ts'
import { canaryWorld } from './scenarios/canary.ts'
import { ours, seedsOf, simulate, type Simulation } from './simulate.ts'

const help = `pnpm simulate SCENARIO [options]   run the production cores on a virtual clock and network
pnpm simulate --list               name the scenarios and policies

SCENARIO is a scenario or a family of them; of a name with a slash the part behind it will do.
  --policy A,B   policies to run, by name; "all" for every one [shardswap, or what the scenario compares]
  --deadlines D  "own" for those of each policy, or "ours" for the same ones for all [own]
  --set A=X,B=Y  limits of ours (docs/limits.md) to try out, in place of the defaults
  --seed N       the first seed [1]
  --runs N       how many seeds [10, or what the scenario says; 1 with --seed]
  --json         one JSON object as the last line
  --check        exit code 1 where a target is missed
  --help         this text

Examples:
  pnpm simulate twenty-children
  pnpm simulate go-benchmarks --check --json
  pnpm simulate storm --policy shardswap --seed 17
  pnpm simulate half-bad --set successPower=1

The same scenario, policy and seed give the same run, byte for byte; the hash of its trace is printed.
Exit codes: 0 done, 1 a rule was broken or a target missed, 2 wrong usage.`

/** Seeds of one call; their figures are all in memory. */
const runsMax = 100_000

export interface Output {
  out(line: string): void
  error(line: string): void
}

class UsageError extends Error {
  override readonly name = 'UsageError'
}

const optionTypes = {
  policy: { type: 'string' },
  deadlines: { type: 'string', default: 'own' },
  set: { type: 'string' },
  seed: { type: 'string' },
  runs: { type: 'string' },
  json: { type: 'boolean', default: false },
  check: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false }
} as const

/** Runs the command. Resolves to its exit code. */
export async function runCommand(args: readonly string[], output: Output): Promise<number> {
  try {
    return await execute(args, output)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    output.error(`${error.message}\n\n${help}`)
    return 2
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: optionTypes })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

async function execute(args: readonly string[], output: Output): Promise<number> {
  const { values, positionals } = parse(args)
  if (values.help) output.out(help)
  else if (values.list) for (const line of listLines()) output.out(line)
  if (values.help || values.list) return 0
  const [name, ...others] = positionals
  if (name === undefined || others.length > 0) throw new UsageError('one scenario, please')
  const seed = wholeNumber('seed', values.seed, Number.MAX_SAFE_INTEGER - runsMax) ?? 1
  const runs = wholeNumber('runs', values.runs, runsMax) ?? (values.seed === undefined ? undefined : 1)
  if (runs === 0) throw new UsageError('--runs must be at least 1')
  const { deadlines } = values
  if (deadlines !== 'own' && deadlines !== 'ours') throw new UsageError(`--deadlines must be own or ours, not "${deadlines}"`)
  const settings = settingsOf(values.set)
  const changed = (policy: Policy): Policy => withOptions(policy, deadlines, settings)
  if (name === 'canary') {
    if (runs !== undefined && runs > 1) throw new UsageError('the canary runs once: give it a --seed')
    return canary(policiesFor(canaryWorld, values.policy).map(changed), seed, values.json, output)
  }
  const chosen = scenariosCalled(name)
  if (chosen.length === 0) throw new UsageError(`no scenario is called "${name}"${alternatives(namesLike(name))}`)
  const simulations: Simulation[] = []
  for (const scenario of chosen) {
    const simulation = simulated(scenario, policiesFor(scenario, values.policy).map(changed), seedsOf(scenario, seed, runs), output)
    if (simulation !== undefined) simulations.push(simulation)
    // The runs take no turn of the event loop, in which it is noticed that nobody reads any more.
    await setImmediate()
  }
  if (values.json) output.out(JSON.stringify(finalJson(name, simulations)))
  if (simulations.length < chosen.length) return 1
  const isMet = simulations.every(({ verdicts }) => verdicts.every((verdict) => verdict.isMet))
  return values.check && !isMet ? 1 : 0
}

/** One scenario, with its lines for people; a failed run is told, and the next scenario has its turn. */
function simulated(scenario: Scenario, chosen: readonly Policy[], seeds: readonly number[], output: Output): Simulation | undefined {
  try {
    const simulation = simulate(scenario, chosen, seeds)
    for (const line of linesOf(simulation)) output.out(line)
    return simulation
  } catch (error) {
    if (!(error instanceof RunFailure)) throw error
    output.error(error.message)
    return undefined
  }
}

/** Exit code 0 only if every planted bug was caught. */
function canary(chosen: readonly Policy[], seed: number, json: boolean, output: Output): number {
  const caught = chosen.flatMap((policy) => runCanary(policy, seed).map((one) => ({ policy: policy.name, ...one })))
  for (const { policy, bug, breaks, isCaught, found } of caught) {
    output.out(`${isCaught ? 'caught' : 'MISSED'} ${policy}: ${bug}`)
    if (!isCaught) output.out(`       ${breaks.join(' or ')} should have been broken; ${found ?? 'nothing was found'}`)
  }
  if (json) output.out(JSON.stringify({ scenario: 'canary', seeds: [seed], caught }))
  return caught.every(({ isCaught }) => isCaught) ? 0 : 1
}

function finalJson(name: string, simulations: readonly Simulation[]): object {
  const [only] = simulations
  return only !== undefined && simulations.length === 1 && only.scenario.family !== name ? jsonOf(only) : familyJsonOf(name, simulations)
}

function policiesFor(scenario: Scenario, asked: string | undefined): Policy[] {
  if (asked === 'all') return [...policies.values()]
  if (asked !== undefined) return policiesCalled(asked)
  return policiesCalled((scenario.policies ?? [ours]).join(','))
}

function policiesCalled(names: string): Policy[] {
  return names.split(',').map((name) => {
    const policy = policies.get(name)
    if (policy === undefined) throw new UsageError(`no policy is called "${name}"${alternatives([...policies.keys()])}`)
    return policy
  })
}

/** The same deadlines for all, so that choice and timeouts are told apart; and limits to be tried out. */
function withOptions(policy: Policy, deadlines: 'own' | 'ours', settings: Settings): Policy {
  return { ...policy, create: (options) => policy.create({ ...options, deadlines, settings }) }
}

function settingsOf(text: string | undefined): Settings {
  if (text === undefined) return {}
  const pairs = text.split(',').map((pair): [string, number] => {
    const [name = '', value = '', ...more] = pair.split('=')
    if (value === '' || more.length > 0 || !Number.isFinite(Number(value))) throw new UsageError(`--set takes NAME=NUMBER, not "${pair}"`)
    if (!isLimit(name)) throw new UsageError(`no limit is called "${name}"`)
    return [name, Number(value)]
  })
  return Object.fromEntries(pairs)
}

function wholeNumber(name: string, text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!/^\d+$/.test(text)) throw new UsageError(`--${name} must be a whole number, not "${text}"`)
  if (value > max) throw new UsageError(`--${name} must be at most ${max}, not ${text}`)
  return value
}

function alternatives(names: readonly string[]): string {
  return names.length === 0 ? '; pnpm simulate --list names them' : `; there are ${names.join(', ')}`
}

function line(name: string, summary: string): string {
  return `  ${name.padEnd(70)}${summary}`
}

function listLines(): string[] {
  const families = new Map<string, Scenario[]>()
  for (const scenario of scenarios) {
    const family = scenario.family ?? ''
    families.set(family, [...(families.get(family) ?? []), scenario])
  }
  const lines = ['scenarios:', line(canaryWorld.name, canaryWorld.summary)]
  for (const [family, members] of families) {
    if (family !== '') lines.push(line(family, `${members.length} scenarios:`))
    for (const { name, summary } of members) lines.push(line(family === '' ? name : `  ${name}`, summary))
  }
  return [...lines, 'policies:', ...[...policies.values()].map(({ name, summary }) => line(name, summary))]
}
