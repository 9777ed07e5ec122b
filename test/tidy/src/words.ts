import { dottedName, lineAt, nodes, type Finding, type Source } from './source.ts'

const forbidden = new Set(['manager', 'managers', 'helper', 'helpers', 'util', 'utils', 'piece', 'pieces'])

/** The words of a name in camelCase, PascalCase, snake_case or kebab-case. */
export function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.toLowerCase())
}

/** [tidy] Files and exported names avoid the words that say nothing, or say block wrongly. */
export function forbiddenWords({ path, exports }: Source): Finding[] {
  const inPath = path
    .replace(/\.ts$/, '')
    .split('/')
    .flatMap((part) => wordsOf(part))
    .filter((word) => forbidden.has(word))
    .map((word) => ({ path, line: 1, message: `its path says "${word}"` }))
  const inNames = exports.flatMap(({ name, line }) =>
    wordsOf(name)
      .filter((word) => forbidden.has(word))
      .map((word) => ({ path, line, message: `exports ${name}, which says "${word}"` }))
  )
  return [...inPath, ...inNames]
}

/** [tidy] No way around the compiler or the linter, and nothing left for later. */
export function shortcuts({ path, text, tree, comments }: Source): Finding[] {
  const findings: Finding[] = []
  for (const node of nodes(tree)) {
    if (node.type === 'TSAnyKeyword') findings.push({ path, line: lineAt(text, node.start), message: 'says any' })
  }
  for (const { text: comment, line } of comments) {
    const words = /@ts-(?:ignore|nocheck|expect-error)|\b(?:TODO|FIXME|XXX)\b/.exec(comment)
    if (words !== null) findings.push({ path, line, message: `a comment says ${words[0]}` })
    if (/(?:oxlint|eslint)-disable/.test(comment) && !/--\s+\S/.test(comment)) {
      findings.push({ path, line, message: 'a lint rule is switched off without a reason: add `-- why`' })
    }
  }
  return findings
}

const testFunctions = new Set(['it', 'test', 'describe'])
const labelShape = /^(?:\[(?:[BCPI][1-9]\d*|F\d\d)\] ?)+\S/
const highestLabel: Readonly<Record<string, number>> = { B: 27, C: 8, P: 22, I: 16, F: 87 }

function titleComplaint(title: string): string | undefined {
  const labels = [...title.matchAll(/\[\s*([A-Za-z])-?(\d+)\s*\]/g)]
  if (labels.length === 0) return undefined
  if (!labelShape.test(title)) return `the title "${title}" should begin with its labels, as in "[B13] a limit doubles"`
  const unknown = labels.find(([, letter, number]) => Number(number) > (highestLabel[letter ?? ''] ?? 0))
  return unknown === undefined ? undefined : `the title "${title}" has the label ${unknown[0]}, which no requirement bears`
}

/** [tidy] Tests are all run, and a label in a title is a requirement's, at its beginning. */
export function testFaults({ path, text, tree }: Source): Finding[] {
  if (!path.endsWith('.test.ts')) return []
  const findings: Finding[] = []
  for (const node of nodes(tree)) {
    if (node.type !== 'CallExpression') continue
    const name = dottedName(node['callee'])?.split('.') ?? []
    if (!testFunctions.has(name[0] ?? '')) continue
    const line = lineAt(text, node.start)
    const banned = name.slice(1).find((part) => ['skip', 'only', 'fails', 'retry'].includes(part))
    if (banned !== undefined) findings.push({ path, line, message: `uses .${banned}` })
    const [title] = node['arguments'] as { type: string; value?: unknown }[]
    const message = typeof title?.value === 'string' ? titleComplaint(title.value) : undefined
    if (message !== undefined) findings.push({ path, line, message })
  }
  return findings
}
