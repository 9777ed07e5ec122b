/**
 * `pnpm bench:store [--rounds N] [--durability process|power] [--sizes 1024,262144] [--engines flat,ours] [--mib 256] [--blocks 20000] [--folder DIR] [--json]`
 * Puts and gets blocks, 32 at a time, in each engine. The engines take turns,
 * each measurement is a process of its own; medians with minimum and maximum.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { type CandidateName, candidateNames } from './candidates.ts'
import type { Measured } from './worker.process.ts'

const run = promisify(execFile)
const mib = 1024 * 1024

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    durability: { type: 'string', default: 'process' },
    sizes: { type: 'string', default: `1024,${256 * 1024}` },
    engines: { type: 'string', default: candidateNames.join(',') },
    mib: { type: 'string', default: '256' },
    blocks: { type: 'string', default: '20000' },
    folder: { type: 'string', default: tmpdir() },
    json: { type: 'boolean', default: false }
  }
})

/** 256 MiB in all, but no more than 20,000 blocks, unless the command says otherwise. */
function blocksOf(bytes: number): number {
  return Math.min(Number(values.blocks), (Number(values.mib) * mib) / bytes)
}

async function measure(what: string, engine: string, folder: string, bytes: number): Promise<Measured> {
  const args = [what, engine, folder, values.durability, String(blocksOf(bytes)), String(bytes)]
  const { stdout } = await run(process.execPath, ['--no-warnings', join(import.meta.dirname, 'worker.process.ts'), ...args])
  return JSON.parse(stdout) as Measured
}

interface Row {
  readonly engine: string
  readonly bytes: number
  readonly what: string
  readonly rounds: Measured[]
}

function spread(numbers: readonly number[], digits: number): string {
  const sorted = [...numbers].sort((a, b) => a - b)
  const at = (share: number): string => (sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN).toFixed(digits)
  return `${at(0.5)} (${at(0)}–${at(1)})`
}

function print(row: Row): void {
  const { engine, bytes, what, rounds } = row
  const count = blocksOf(bytes)
  const rate = bytes >= 65_536 ? rounds.map(({ seconds }) => (count * bytes) / seconds / 1e6) : rounds.map(({ seconds }) => count / seconds)
  const cells = [
    engine,
    `${bytes / 1024} KiB`,
    what,
    `${spread(rate, 0)} ${bytes >= 65_536 ? 'MB/s' : 'blocks/s'}`,
    spread(
      rounds.map(({ cpuSeconds }) => (cpuSeconds / count) * 1e6),
      0
    ),
    spread(
      rounds.map(({ peakBytes }) => peakBytes / 1e6),
      0
    ),
    spread(
      rounds.map(({ lateMaxMs }) => lateMaxMs),
      1
    )
  ]
  process.stdout.write(`| ${cells.join(' | ')} |\n`)
}

/** All engines at one size, taking turns. */
async function measureSize(root: string, bytes: number, engines: readonly CandidateName[]): Promise<Row[]> {
  const rows = engines.flatMap((engine): Row[] => ['put', 'get'].map((what) => ({ engine, bytes, what, rounds: [] })))
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const row of rows) {
      const folder = join(root, `${row.engine}-${bytes}-${round}`)
      row.rounds.push(await measure(row.what, row.engine, folder, bytes))
    }
  }
  return rows
}

async function main(): Promise<void> {
  process.stdout.write(`durability: ${values.durability}, ${values.rounds} rounds, median (minimum–maximum)\n\n`)
  process.stdout.write('| engine | block | what | rate | CPU µs per block | peak RSS, MB over idle | event loop late at most, ms |\n')
  process.stdout.write('|---|---|---|---|---|---|---|\n')
  const root = await mkdtemp(join(values.folder, 'shardswap-store-'))
  const all: Row[] = []
  try {
    for (const bytes of values.sizes.split(',').map(Number)) {
      const rows = await measureSize(root, bytes, values.engines.split(',') as CandidateName[])
      for (const row of rows) print(row)
      all.push(...rows)
    }
  } finally {
    // Not sooner: ext4 makes new files slowly (20 times) for some seconds after many were deleted.
    await rm(root, { recursive: true, force: true })
  }
  if (values.json) process.stdout.write(`${JSON.stringify({ name: 'store', durability: values.durability, rows: all })}\n`)
}

await main()
