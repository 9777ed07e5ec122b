import { createHash } from 'node:crypto'
import type { RunResult } from './run-result.ts'
import type { Scenario } from './scenario.ts'
import { median, medianInterval, quantile } from './statistics.ts'

/** Numbers of one run, by name. */
export type RunFigures = Readonly<Record<string, number>>

/** What all runs of one policy gave. */
export interface PolicyOutcome {
  /** Medians over the runs. */
  readonly figures: RunFigures
  /** Of each median, where it lies with 95 % confidence. */
  readonly intervals: Readonly<Record<string, readonly [low: number, high: number]>>
  readonly perRun: readonly RunFigures[]
  /** Over the hashes of the runs, in order. */
  readonly traceHash: string
}

/** The figures that every scenario has, and its own. */
export function runFigures(scenario: Scenario, run: RunResult): RunFigures {
  const latencies: number[] = []
  const sum = { wantBlocks: 0, wantHaves: 0, blocks: 0, bytes: 0, duplicateBytes: 0, duplicateBlocks: 0, firstCopies: 0, unaskedBlocks: 0 }
  const more = { messagesOut: 0, messagesIn: 0, blocksIn: 0, timeouts: 0, giveUps: 0, searches: 0 }
  const own = { decisions: 0, decisionMicros: 0 }
  for (const figures of run.fetchers.values()) {
    for (const latencyMs of figures.latenciesMs) latencies.push(latencyMs)
    for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += figures[name]
    own.decisions += figures.decisions
    own.decisionMicros += figures.decisionMicros
    for (const name of Object.keys(more) as (keyof typeof more)[]) more[name] += figures[name]
  }
  let failed = 0
  for (const job of run.jobs) failed += job.failed
  return {
    seconds: run.seconds,
    p50Ms: quantile(latencies, 0.5),
    p95Ms: quantile(latencies, 0.95),
    p99Ms: quantile(latencies, 0.99),
    p999Ms: quantile(latencies, 0.999),
    wantBlocksPerBlock: sum.wantBlocks / sum.blocks,
    wantHavesPerBlock: sum.wantHaves / sum.blocks,
    duplicateShare: sum.duplicateBytes / sum.bytes,
    duplicateBlocks: sum.duplicateBlocks,
    firstCopies: sum.firstCopies,
    unaskedBlocks: sum.unaskedBlocks,
    messages: more.messagesOut,
    ...more,
    decisionMicros: own.decisionMicros / own.decisions,
    ...(scenario.isMeasured === true ? { bytesPerPeer: run.bytesPerPeer } : {}),
    ...forecastFigures(run),
    failed,
    ...scenario.fields?.(run)
  }
}

/** Of those who have a reliability layer, all forecasts together. */
function forecastFigures(run: RunResult): RunFigures {
  const sum = { count: 0, failures: 0, squares: 0, distance: 0, proactive: 0, late: 0, endgame: 0 }
  for (const { judge } of run.fetchers.values()) {
    if (judge === undefined) continue
    const { count, failures, brier, calibrationError } = judge.forecasts
    for (const reason of ['proactive', 'late', 'endgame'] as const) sum[reason] += judge.backups[reason]
    if (count === 0) continue
    sum.count += count
    sum.failures += failures
    sum.squares += brier * count
    sum.distance += calibrationError * count
  }
  if (sum.count === 0) return {}
  const rate = sum.failures / sum.count
  const brier = sum.squares / sum.count
  const ofBaseRate = rate * (1 - rate)
  const { proactive, late, endgame } = sum
  return { proactive, late, endgame, failRate: rate, brier, brierRatio: brier / ofBaseRate, calibrationError: sum.distance / sum.count }
}

export function outcomeOf(perRun: readonly RunFigures[], hashes: readonly string[]): PolicyOutcome {
  const figures: Record<string, number> = {}
  const intervals: Record<string, readonly [number, number]> = {}
  for (const name of Object.keys(perRun[0] ?? {})) {
    const values = perRun.map((run) => run[name] ?? NaN)
    figures[name] = median(values)
    intervals[name] = medianInterval(values)
  }
  return { figures, intervals, perRun, traceHash: hashOf(hashes) }
}

/** One hash over several, in order. */
export function hashOf(hashes: readonly string[]): string {
  if (hashes.length === 1) return hashes[0] as string
  const hash = createHash('sha256')
  for (const one of hashes) hash.update(one)
  return hash.digest('hex')
}
