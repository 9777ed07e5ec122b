import type { Sample } from './contenders.ts'

/** The middle of a list; the mean of the two middle ones where it is even. NaN where it is empty. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** The smallest value that at least `share` of the list do not exceed. NaN where it is empty. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

/** Of several runs: each figure's median under its name, and `…Min` and `…Max` beside it. */
export type Figures = Readonly<Record<string, number>>

// Four significant digits tell all that a shared machine can.
function rounded(value: number): number {
  return Number(value.toPrecision(4))
}

/** Median, minimum and maximum of each figure that every run has. */
export function summarise(samples: readonly Sample[]): Figures {
  const names = Object.keys(samples[0] ?? {}).filter((name) => samples.every((sample) => name in sample))
  const entries = names.flatMap((name) => {
    const values = samples.map((sample) => sample[name] ?? Number.NaN)
    return [
      [name, median(values)],
      [`${name}Min`, Math.min(...values)],
      [`${name}Max`, Math.max(...values)]
    ] as [string, number][]
  })
  return { runs: samples.length, ...Object.fromEntries(entries.map(([name, value]) => [name, rounded(value)])) }
}

/** `a / b`, to four digits. */
export function ratioOf(a: number, b: number): number {
  return rounded(a / b)
}
