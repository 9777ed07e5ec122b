import { nodes, type Source } from './source.ts'

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1)
}

/**
 * What is demanded, as far as it is built, by its labels: sessions and broker, their shape, reliability, serving. To be made
 * longer as more is built.
 */
const demanded: Readonly<Record<string, readonly number[]>> = { B: upTo(27), C: upTo(5), P: [...upTo(15), 21, 22], I: upTo(16) }

/** A title, be it an argument or in a table of cases: labels at the beginning, and words behind them. */
const titleShape = /^((?:\[[A-Z]\d+\] ?)+)\S/

function labelsIn({ path, tree }: Source): string[] {
  // This package's own tests show titles to its rules.
  if (!path.endsWith('.test.ts') || path.startsWith('test/tidy/')) return []
  const found: string[] = []
  for (const { type, value } of nodes(tree)) {
    if (type !== 'Literal' || typeof value !== 'string') continue
    const labels = titleShape.exec(value)?.[1] ?? ''
    for (const [, label] of labels.matchAll(/\[([A-Z]\d+)\]/g)) if (label !== undefined) found.push(label)
  }
  return found
}

/** [tidy] Labels of what is demanded that stand in the title of no test. */
export function untestedLabels(sources: readonly Source[]): string[] {
  const tested = new Set(sources.flatMap(labelsIn))
  const labels = Object.entries(demanded).flatMap(([letter, numbers]) => numbers.map((number) => `${letter}${number}`))
  return labels.filter((label) => !tested.has(label))
}
