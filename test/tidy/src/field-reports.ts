import { nodes, type Finding, type Source } from './source.ts'

/** Reports of what is not built yet: the HTTP gateway. */
const notBuilt: ReadonlySet<string> = new Set(['F75', 'F77', 'F78', 'F80', 'F81', 'F83', 'F84'])

/** Labels of field reports at the beginning of the titles of a file's tests. */
function reportLabels({ path, text, tree }: Source): Set<string> {
  const labels = new Set<string>()
  // This package's own tests show titles to its rules.
  if (!path.endsWith('.test.ts') || path.startsWith('test/tidy/')) return labels
  for (const { type, value, start, end } of nodes(tree)) {
    const title = type === 'Literal' && typeof value === 'string' ? value : type === 'TemplateLiteral' ? text.slice(start + 1, end - 1) : ''
    const first = /^(?:\[[A-Z]\d+\] ?)+/.exec(title)?.[0] ?? ''
    for (const [, label = ''] of first.matchAll(/\[(F\d\d)\]/g)) labels.add(label)
  }
  return labels
}

/**
 * [tidy] A table of field reports has one row for each, in which the files of its tests stand between backticks. Each of
 * these is there and bears the label, each report but those of what is not built has one, and each label has a row.
 */
export function fieldReportFaults(path: string, document: string, sources: readonly Source[]): Finding[] {
  const findings: Finding[] = []
  const labels = new Map(sources.map((source) => [source.path, reportLabels(source)]))
  const rows = new Set<string>()
  for (const [index, line] of document.split('\n').entries()) {
    const label = /^\| (F\d\d) \|/.exec(line)?.[1]
    if (label === undefined) continue
    const add = (message: string): number => findings.push({ path, line: index + 1, message })
    if (rows.has(label)) add(`has ${label} twice`)
    rows.add(label)
    const files = Array.from(line.matchAll(/`([^`]+\.test\.ts)`/g), ([, file = '']) => file)
    if (files.length === 0 && !notBuilt.has(label)) add(`names no test for ${label}`)
    for (const file of files) if (labels.get(file)?.has(label) !== true) add(`${file} has no test of ${label}`)
  }
  const unlisted = new Set([...labels.values()].flatMap((found) => [...found]).filter((label) => !rows.has(label)))
  for (const label of unlisted) findings.push({ path, line: 1, message: `has no row for ${label}, which a test bears` })
  return findings
}
