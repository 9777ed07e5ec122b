import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { compare, record } from './compare.ts'
import { boxoAnswersFile, readCorpus } from './corpus.ts'
import { exchangeReplayCommand, fuzzExchange, runExchange } from './exchange/run.ts'
import { fuzz, replayCommand } from './run.ts'

const usage = `pnpm fuzz [--runs N] [--seed S] [--boxo BINARY [--record]]
pnpm fuzz --exchange [--runs N] [--seed S] [--log]

Mutates real Bitswap messages and holds the codec to its promises: only the
two errors that it names, bounded memory, the oracle's meaning, stability.
  --runs N       how many mutants (default 1,000,000)
  --seed S       where to begin; a failure prints the seed that gives it again
  --boxo BINARY  compare with boxo's decoder instead (test/fuzz/README.md)
  --record       keep boxo's answers to some mutants for pnpm test
  --exchange     the fetching core instead: any event in any order among peers
                 that do anything, then only honest ones are left. Its limits
                 must hold, no want may be lost, nothing may stay behind
                 (default 100,000 runs)
  --log          with --exchange: tell what happens; for one run

Exit codes: 0 no failure, 1 one was found, 2 wrong usage.
`

const options = {
  runs: { type: 'string' },
  exchange: { type: 'boolean' },
  log: { type: 'boolean' },
  seed: { type: 'string' },
  boxo: { type: 'string' },
  record: { type: 'boolean' },
  help: { type: 'boolean' }
} as const

interface Plan {
  readonly runs: number
  readonly seed: number
  readonly corpus: readonly Uint8Array[]
  readonly onProgress: (done: number, next: number) => void
}

/** Says how it went; the result is the exit code. */
function report(summary: string, failure: { how: string; input: Uint8Array; again: string } | undefined): number {
  process.stdout.write(`${summary}\n`)
  if (failure === undefined) return 0
  process.stdout.write(`failed: ${failure.how}\ninput: ${Buffer.from(failure.input).toString('hex')}\nagain: ${failure.again}\n`)
  return 1
}

function runFuzz(plan: Plan): number {
  const { runs, outcomes, failure } = fuzz(plan)
  const { taken, refused, unknown } = outcomes
  const summary = `${runs} runs from seed ${plan.seed}: ${taken} taken, ${refused} refused, ${unknown} the oracle cannot judge`
  if (failure === undefined) return report(summary, undefined)
  const how = failure.error instanceof Error ? failure.error.message : String(failure.error)
  return report(summary, { how, input: failure.input, again: replayCommand(failure.seed) })
}

function runCompare(plan: Plan, binary: string): number {
  const found = compare({ ...plan, binary })
  const summary = `${plan.runs} mutants from seed ${plan.seed} compared with boxo`
  return report(summary, found === undefined ? undefined : { ...found, again: `${replayCommand(found.seed)} --boxo ${binary}` })
}

function runExchangeFuzz({ runs, seed, onProgress }: Omit<Plan, 'corpus'>, isLogged: boolean): number {
  if (isLogged) return runExchange(seed, (line) => process.stdout.write(`${line}\n`)) === undefined ? 0 : 1
  const failure = fuzzExchange(seed, runs, onProgress)
  process.stdout.write(`${runs} runs of the exchange from seed ${seed}\n`)
  if (failure === undefined) return 0
  process.stdout.write(`failed: ${failure.how}\nagain: ${exchangeReplayCommand(failure.seed)}\n`)
  return 1
}

/** What the command line says, or undefined where it cannot be meant. */
function parse(): ReturnType<typeof parseOptions> | undefined {
  try {
    return parseOptions()
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    return undefined
  }
}

function parseOptions() {
  return parseArgs({ args: process.argv.slice(2).filter((arg) => arg !== '--'), options }).values
}

function main(): number {
  const values = parse()
  if (values === undefined) return 2
  if (values.help === true) {
    process.stdout.write(usage)
    return 0
  }
  const runs = Number(values.runs ?? (values.exchange === true ? 100_000 : 1_000_000))
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed)
  if (![runs, seed].every((value) => Number.isSafeInteger(value) && value >= 0)) {
    process.stderr.write(`--runs and --seed take whole numbers\n\n${usage}`)
    return 2
  }
  const onProgress = (done: number, next: number): void => {
    process.stderr.write(`${done} of ${runs} runs, next seed ${next}\n`)
  }
  if (values.exchange === true) return runExchangeFuzz({ runs, seed, onProgress }, values.log === true)
  const plan = { runs, seed, corpus: readCorpus(), onProgress }
  if (values.boxo === undefined) return runFuzz(plan)
  if (values.record !== true) return runCompare(plan, values.boxo)
  const lines = record(values.boxo, seed, plan.corpus).map((one) => JSON.stringify(one))
  writeFileSync(boxoAnswersFile, `[\n${lines.join(',\n')}\n]\n`)
  return 0
}

process.exitCode = main()
