import { parseArgs } from 'node:util'
import { readCorpus } from './corpus.ts'
import { fuzz, replayCommand } from './run.ts'

const usage = `pnpm fuzz [--runs N] [--seed S]

Mutates real Bitswap messages and holds the codec to its promises: only the
two errors that it names, bounded memory, the oracle's meaning, stability.
  --runs N   how many mutants (default 1,000,000)
  --seed S   where to begin; a failure prints the seed that gives it again
`

const options = { runs: { type: 'string', default: '1000000' }, seed: { type: 'string' }, help: { type: 'boolean' } } as const

function main(): number {
  const { values } = parseArgs({ args: process.argv.slice(2).filter((arg) => arg !== '--'), options })
  if (values.help === true) {
    process.stdout.write(usage)
    return 0
  }
  const runs = Number(values.runs)
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed)
  if (![runs, seed].every((value) => Number.isSafeInteger(value) && value >= 0)) {
    process.stderr.write(`--runs and --seed take whole numbers\n\n${usage}`)
    return 2
  }
  const onProgress = (done: number, next: number): void => {
    process.stderr.write(`${done} of ${runs} runs, next seed ${next}\n`)
  }
  const report = fuzz({ seed, runs, corpus: readCorpus(), onProgress })
  const { taken, refused, unknown } = report.outcomes
  process.stdout.write(`${report.runs} runs from seed ${seed}: ${taken} taken, ${refused} refused, ${unknown} the oracle cannot judge\n`)
  if (report.failure === undefined) return 0
  const { error, input } = report.failure
  process.stdout.write(`failed: ${error instanceof Error ? error.message : String(error)}\n`)
  process.stdout.write(`input: ${Buffer.from(input).toString('hex')}\nagain: ${replayCommand(report.failure.seed)}\n`)
  return 1
}

process.exitCode = main()
