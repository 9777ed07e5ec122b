/** `pnpm bench`: see usage. Whatever people read goes to standard output, the course of things to standard error. */
import { mkdir } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { type Bench, benches } from './benches.ts'
import { baselinesOf, contest, missed } from './contest.ts'
import { table } from './table.ts'

const usage = `Usage: pnpm bench NAME [options]

Measures our peer against real baselines in one run: all take turns, each time in
fresh processes. Machines differ, so only ratios within one run mean anything.

Options:
  --json             one JSON object as the last line of standard output
  --runs N           turns of each contender (default 5; fewer prove little)
  --baselines A,B    only these baselines; an empty list: ours alone
  --scale X          so much of the work, for a quick look (default 1)
  --check            exit code 1 where a target is missed
  --profile FOLDER   a CPU profile of each of the processes while blocks move
  --list             the benches
  --help             this text

Exit codes: 0 done, 1 it failed or a target was missed, 2 wrong usage.

Examples:
  pnpm bench throughput
  pnpm bench sharding --json --baselines oneProvider
  pnpm bench latency --runs 1 --baselines '' --profile profiles`

/** Ends with exit code 2: the call was wrong. */
class UsageError extends Error {}

const optionTypes = {
  json: { type: 'boolean', default: false },
  runs: { type: 'string', default: '5' },
  baselines: { type: 'string' },
  scale: { type: 'string', default: '1' },
  check: { type: 'boolean', default: false },
  profile: { type: 'string' },
  list: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false }
} as const

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: optionTypes, allowPositionals: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function positive(text: string, name: string): number {
  const value = Number(text)
  if (!(value > 0) || !Number.isFinite(value)) throw new UsageError(`--${name} takes a number above 0, not ${JSON.stringify(text)}`)
  return value
}

function whole(text: string, name: string): number {
  const value = positive(text, name)
  if (!Number.isSafeInteger(value)) throw new UsageError(`--${name} takes a whole number, not ${JSON.stringify(text)}`)
  return value
}

/** The baselines asked for, each of which the bench must have. */
function chosenBaselines(bench: Bench, text: string | undefined): string[] | undefined {
  const names = text?.split(',').filter((name) => name !== '')
  if (names === undefined || names.length === 0) return names
  const known = baselinesOf(bench)
  const unknown = names.find((name) => !known.includes(name))
  if (unknown === undefined) return names
  throw new UsageError(`${bench.name} has no baseline ${unknown} here${known.length === 0 ? '' : `; there are ${known.join(', ')}`}`)
}

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parse(args)
  if (values.help) return print(usage)
  if (values.list) return print(benches.map(({ name, shows }) => `${name.padEnd(14)}${shows}`).join('\n'))
  const [name, ...rest] = positionals
  const bench = benches.find((candidate) => candidate.name === name)
  if (bench === undefined || rest.length > 0) {
    throw new UsageError(
      name === undefined ? 'name a bench' : `no bench ${[name, ...rest].join(' ')}; there are ${benches.map((of) => of.name).join(', ')}`
    )
  }
  const [runs, scale] = [whole(values.runs, 'runs'), positive(values.scale, 'scale')]
  const baselines = chosenBaselines(bench, values.baselines)
  // Now, not after minutes of work.
  if (values.profile !== undefined) await mkdir(values.profile, { recursive: true })
  const result = await contest(bench, {
    runs,
    scale,
    baselines,
    profileFolder: values.profile,
    log: (line) => console.error(line)
  })
  console.log(table(bench, result))
  if (values.json) console.log(JSON.stringify(result))
  return values.check && missed(result).length > 0 ? 1 : 0
}

function print(text: string): number {
  console.log(text)
  return 0
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (error instanceof UsageError) console.error(`${error.message}\n\n${usage}`)
  else console.error(process.env['DEBUG'] === undefined && error instanceof Error ? `Error: ${error.message}` : error)
  process.exitCode = error instanceof UsageError ? 2 : 1
}
