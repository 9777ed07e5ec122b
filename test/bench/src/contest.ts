import type { Bench, Row, Target } from './benches.ts'
import type { Contender, RunOptions, Sample } from './contenders.ts'
import { ratioOf, summarise, type Figures } from './figures.ts'

export interface ContestOptions extends RunOptions {
  readonly runs: number
  /** 1 is the work as it is defined. */
  readonly scale: number
  /** Only these baselines; undefined: all. */
  readonly baselines?: readonly string[] | undefined
  /** Told of every run, for people who wait. */
  log(line: string): void
}

/** Whether a target was met, and by what. */
export interface Verdict {
  readonly target: Target
  readonly value: number
  readonly met: boolean
}

export interface RowResult {
  readonly name: string
  readonly ours: Figures
  readonly baselines: Readonly<Record<string, Figures>>
  readonly ratios: Readonly<Record<string, number>>
  /** The part of what the links could carry that ours used; where only the machine bounds them, of what a bare stream carried. */
  readonly linkShare?: number
  readonly verdicts: readonly Verdict[]
}

/** What `--json` prints; the first row stands at the top as well. */
export interface BenchResult extends Omit<RowResult, 'verdicts'> {
  readonly rows: readonly RowResult[]
}

function chosen(row: Row, wanted: readonly string[] | undefined): Record<string, Contender> {
  const entries = Object.entries(row.baselines)
  return Object.fromEntries(wanted === undefined ? entries : entries.filter(([name]) => wanted.includes(name)))
}

/** Whose turn it was that failed stands before what was wrong. */
async function tried<T>(turn: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw new Error(`${turn} failed: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

/** Names of all baselines of a bench. */
export function baselinesOf(bench: Bench): string[] {
  return [...new Set(bench.rows(1).flatMap(({ baselines }) => Object.keys(baselines)))]
}

/** Everybody in turn, `runs` times over, so that whatever else the machine does meets all alike. */
async function takeTurns(bench: Bench, row: Row, options: ContestOptions): Promise<Record<string, Figures>> {
  const contenders = { ours: bench.ours, ...chosen(row, options.baselines) }
  const samples: Record<string, Sample[]> = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]))
  for (let run = 1; run <= options.runs; run += 1) {
    for (const [name, contend] of Object.entries(contenders)) {
      const turn = `${row.name}, run ${run} of ${options.runs}: ${name}`
      const sample = await tried(turn, async () => await contend(row, options))
      samples[name]?.push(sample)
      options.log(`${turn} ${(sample[bench.figure] ?? Number.NaN).toPrecision(4)} ${bench.unit}`)
    }
  }
  return Object.fromEntries(Object.entries(samples).map(([name, of]) => [name, summarise(of)]))
}

function judge(targets: readonly Target[], ours: Figures, ratios: Readonly<Record<string, number>>): Verdict[] {
  return targets.flatMap((target) => {
    const value = target.baseline === undefined ? ours[target.figure ?? ''] : ratios[target.baseline]
    if (value === undefined) return []
    const met = value >= (target.atLeast ?? -Infinity) && value <= (target.atMost ?? Infinity)
    return [{ target, value, met }]
  })
}

/** Runs a bench. Errors: those of a contender that could not do its work. */
export async function contest(bench: Bench, options: ContestOptions): Promise<BenchResult> {
  const rows = bench.rows(options.scale)
  const figures: Record<string, Figures>[] = []
  for (const row of rows) figures.push(await takeTurns(bench, row, options))
  const bare = figures.map((of) => of['ours'] ?? {})
  const ours = bench.conclude?.(bare) ?? bare
  const results = rows.map((row, index): RowResult => {
    const { ours: _, ...baselines } = figures[index] ?? {}
    const own = ours[index] ?? {}
    const ratios = Object.fromEntries(
      Object.entries(baselines).map(([name, theirs]) => [
        name,
        ratioOf(own[bench.figure] ?? Number.NaN, theirs[bench.figure] ?? Number.NaN)
      ])
    )
    const linkShare = row.links === undefined ? undefined : (own['linkShare'] ?? ratios['bareStream'])
    const share = linkShare === undefined ? {} : { linkShare }
    return { name: row.name, ours: own, baselines, ratios, ...share, verdicts: judge(row.targets, own, ratios) }
  })
  const first = results[0] ?? { ours: {}, baselines: {}, ratios: {} }
  return { name: bench.name, ours: first.ours, baselines: first.baselines, ratios: first.ratios, rows: results }
}

/** The targets that count and were missed. */
export function missed(result: BenchResult): Verdict[] {
  return result.rows.flatMap((row) => row.verdicts).filter(({ met, target }) => !met && target.wanted !== true)
}
