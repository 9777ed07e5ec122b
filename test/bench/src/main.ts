/** `pnpm bench`: see usage. Whatever people read goes to standard output, the course of things to standard error. */
import { parseArgs } from 'node:util'
import { benches } from './benches.ts'
import { contest, missed } from './contest.ts'
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
  if (!(value > 0)) throw new UsageError(`--${name} takes a number above 0, not ${JSON.stringify(text)}`)
  return value
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
  const result = await contest(bench, {
    runs: Math.ceil(positive(values.runs, 'runs')),
    scale: positive(values.scale, 'scale'),
    baselines: values.baselines?.split(',').filter((baseline) => baseline !== ''),
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
  if (!(error instanceof UsageError)) throw error
  console.error(`${error.message}\n\n${usage}`)
  process.exitCode = 2
}
