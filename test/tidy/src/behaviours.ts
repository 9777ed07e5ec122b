import { nodes, type Finding, type Source } from './source.ts'

/** Texts that may be titles: string literals, and templates as they are written. */
function textsIn({ text, tree }: Source): Set<string> {
  const found = new Set<string>()
  for (const node of nodes(tree)) {
    const { type, value, start, end } = node
    if (type === 'Literal' && typeof value === 'string') found.add(value)
    if (type === 'TemplateLiteral') found.add(text.slice(start + 1, end - 1))
  }
  return found
}

/**
 * [tidy] A document that lists behaviours lists numbers from 1 on, each once and in order, and each with at least one test
 * that exists: its path between backticks, and its title.
 */
export function behaviourFaults(path: string, document: string, sources: readonly Source[]): Finding[] {
  const findings: Finding[] = []
  const texts = new Map<string, Set<string>>()
  let expected = 1
  for (const [index, line] of document.split('\n').entries()) {
    const number = /^\| (\d+) \|/.exec(line)?.[1]
    if (number === undefined) continue
    const add = (message: string): number => findings.push({ path, line: index + 1, message })
    if (Number(number) !== expected) add(`has ${number} where ${expected} belongs`)
    expected = Number(number) + 1
    const tests = Array.from(line.matchAll(/`([^`]+\.test\.ts)`: “([^”]+)”/g))
    if (tests.length === 0) add(`names no test for ${number}`)
    for (const [, file = '', title = ''] of tests) {
      const source = sources.find((candidate) => candidate.path === file)
      if (source === undefined) {
        add(`no test is in ${file}`)
        continue
      }
      const known = texts.get(file) ?? textsIn(source)
      texts.set(file, known)
      if (!known.has(title)) add(`${file} has no test called ${title}`)
    }
  }
  return findings
}
