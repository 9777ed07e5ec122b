import { dottedName, lineAt, nodes, type Finding, type Node, type Source } from './source.ts'

/** Whether a file holds limits that docs/limits.md must explain. */
function holdsLimits(path: string): boolean {
  return /^packages\/[^/]+\/src\/(?:.+\/)?(?:[a-z-]+-)?limits\.ts$/.test(path)
}

function isNumeric(text: string): boolean {
  return /^[\d_.\s*+()/n-]+$/.test(text)
}

function* limitNames(text: string, tree: Node): Generator<{ name: string; start: number }> {
  for (const node of nodes(tree)) {
    if (node.type === 'TSInterfaceDeclaration' && dottedName(node['id'])?.endsWith('Limits') === true) {
      for (const member of (node['body'] as { body: Node[] }).body) {
        const name = dottedName(member['key'])
        if (member.type === 'TSPropertySignature' && name !== undefined) yield { name, start: member.start }
      }
    }
    if (node.type !== 'ExportNamedDeclaration') continue
    const declaration = node['declaration'] as Node | null
    if (declaration?.type !== 'VariableDeclaration') continue
    for (const declarator of declaration['declarations'] as Node[]) {
      const name = dottedName(declarator['id'])
      const init = declarator['init'] as Node | null
      if (name !== undefined && init !== null && isNumeric(text.slice(init.start, init.end))) yield { name, start: declarator.start }
    }
  }
}

/** Names that stand in the first column of the tables, one or several in a row, with their lines. */
function documentedLimits(document: string): Map<string, number> {
  const names = new Map<string, number>()
  document.split('\n').forEach((line, index) => {
    const cell = /^\|((?:\s*`\w+`,?)+)\s*\|\s*[^|\s][^|]*\|\s*[^|\s][^|]*\|/.exec(line)?.[1] ?? ''
    for (const [, name = ''] of cell.matchAll(/`(\w+)`/g)) names.set(name, index + 1)
  })
  return names
}

/** [tidy] Each limit has a row with default and reason in docs/limits.md. */
export function undocumentedLimits({ path, text, tree }: Source, document: string): Finding[] {
  if (!holdsLimits(path)) return []
  const documented = documentedLimits(document)
  return [...limitNames(text, tree)]
    .filter(({ name }) => !documented.has(name) && !name.endsWith('Version'))
    .map(({ name, start }) => ({ path, line: lineAt(text, start), message: `the limit ${name} has no row in docs/limits.md` }))
}

/** [tidy] Each limit of the reliability layer stands in docs/reliability-runs.md: with the run that chose it, or under those that none chose. */
export function unfoundedLimits({ path, text, tree }: Source, document: string): Finding[] {
  if (!holdsLimits(path) || !path.startsWith('packages/reliability/')) return []
  return [...limitNames(text, tree)]
    .filter(({ name }) => !document.includes(`\`${name}\``))
    .map(({ name, start }) => ({ path, line: lineAt(text, start), message: `no run of docs/reliability-runs.md speaks of ${name}` }))
}

/** [tidy] docs/limits.md speaks of no limit that the sources do not have. */
export function staleLimits(sources: readonly Source[], document: string): Finding[] {
  const text = sources
    .filter(({ path }) => path.startsWith('packages/') && path.includes('/src/'))
    .map((source) => source.text)
    .join('\n')
  return [...documentedLimits(document)]
    .filter(([name]) => !new RegExp(String.raw`\b${name}\b`).test(text))
    .map(([name, line]) => ({ path: 'docs/limits.md', line, message: `no source knows the limit ${name}` }))
}

/** [tidy] Each of these packages has a heading with at least one line under it in the newest part of the changelog. */
export function silentPackages(packages: readonly string[], changelog: string): Finding[] {
  const newest = changelog.split(/^## /m)[1] ?? ''
  const sections = newest.split(/^### /m).slice(1)
  const told = new Set(
    sections.filter((section) => /^- \S/m.test(section)).flatMap((section) => (section.split('\n')[0] ?? '').split(/,\s*/))
  )
  return packages.filter((name) => !told.has(name)).map((name) => ({ path: 'CHANGELOG.md', line: 1, message: `says nothing of ${name}` }))
}

/**
 * [tidy] Where a document runs our command by pnpm, it does so with -s: else pnpm's own lines go into the file or pipe.
 * The demo writes nothing that anybody keeps.
 */
export function noisyExamples(path: string, document: string): Finding[] {
  return document.split('\n').flatMap((line, index) => {
    const isNoisy = /pnpm(?:@\S+)? shardswap (?!demo\b)/.test(line)
    return isNoisy ? [{ path, line: index + 1, message: "lets pnpm's own lines into the command's output: use -s" }] : []
  })
}

/** The rules of length that the linter must hold us to. */
export interface LintConfig {
  readonly rules: Readonly<Record<string, unknown>>
  readonly overrides?: readonly { readonly files: readonly string[]; readonly rules: Readonly<Record<string, unknown>> }[]
}

const lintRules: Readonly<Record<string, number | undefined>> = {
  'max-lines': 500,
  'max-lines-per-function': 70,
  'import/no-cycle': undefined,
  'typescript/no-explicit-any': undefined,
  'typescript/no-floating-promises': undefined
}

/** [tidy] The linter's configuration holds the rules that this test leaves to it. */
export function lintFaults({ rules, overrides }: LintConfig): Finding[] {
  const findings: Finding[] = []
  const add = (message: string): number => findings.push({ path: '.oxlintrc.json', line: 1, message })
  for (const [name, max] of Object.entries(lintRules)) {
    const [level, options] = [rules[name]].flat() as [unknown, { max?: number } | undefined]
    if (level !== 'error') add(`${name} is not an error`)
    if (max !== undefined && options?.max !== max) add(`${name} is not ${max}`)
  }
  for (const override of overrides ?? []) {
    const weakened = Object.keys(override.rules).filter((name) => name in lintRules)
    const onlyTests = override.files.every((file) => file.includes('/test/'))
    if (weakened.length > 0 && !onlyTests) add(`${weakened.join(', ')} is changed for ${override.files.join(', ')}`)
  }
  return findings
}

/** [tidy] A file fits in a reader's head. */
export function longFile({ path, lines }: Source, linesMax = 500): Finding[] {
  return lines > linesMax ? [{ path, line: linesMax, message: `has ${lines} lines, more than ${linesMax}` }] : []
}
