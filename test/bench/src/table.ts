import type { Bench } from './benches.ts'
import type { BenchResult, RowResult, Verdict } from './contest.ts'
import type { Figures } from './figures.ts'

function shown(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return '–'
  return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)))
}

function range(figures: Figures, name: string): string {
  return `${shown(figures[name])} (${shown(figures[`${name}Min`])}–${shown(figures[`${name}Max`])})`
}

function line(verdict: Verdict): string {
  const { target, value, met } = verdict
  const subject = target.baseline === undefined ? String(target.figure) : `ours / ${target.baseline}`
  const bound = target.atLeast === undefined ? `≤ ${shown(target.atMost)}` : `≥ ${shown(target.atLeast)}`
  const word = met ? 'met' : 'MISSED'
  return `  ${word.padEnd(7)} ${subject} ${shown(value)}, ${target.wanted === true ? 'goal' : 'target'} ${bound}`
}

function rowLines(bench: Bench, row: RowResult): string[] {
  const parties = [['ours', row.ours] as const, ...Object.entries(row.baselines)]
  const cells = parties.map(([name, figures]) => [name, range(figures, bench.figure), shown(row.ratios[name])])
  const head = ['', `${bench.unit}, median (min–max)`, 'ours / it']
  const widths = head.map((_, column) => Math.max(...[head, ...cells].map((cell) => cell[column]?.length ?? 0)))
  const lines = [head, ...cells].map((cell) => `  ${cell.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
  const also = (bench.alsoShown ?? []).filter((name) => name in row.ours).map((name) => `  ours: ${name} ${shown(row.ours[name])}`)
  return [row.name, ...lines, ...also, ...row.verdicts.map(line), '']
}

/** The result for people. */
export function table(bench: Bench, result: BenchResult): string {
  return [`${bench.name}: ${bench.shows}`, '', ...result.rows.flatMap((row) => rowLines(bench, row))].join('\n')
}
