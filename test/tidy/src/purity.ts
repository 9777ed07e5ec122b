import { dottedName, lineAt, nodes, type Finding, type Node, type Source } from './source.ts'

/** Files that decide: time and chance come in as arguments, and nothing is waited for. */
const cores = [/^packages\/(protocol|reliability|session|broker|server)\/src\//]

/** Files that may wait for what they are handed, but know no clock, no die and no timer. */
const timeless = [...cores, /^packages\/(interface|hashes)\/src\//]

const bannedNames = new Set([
  'Date',
  'Math.random',
  'performance',
  'process',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'crypto.getRandomValues',
  'crypto.randomUUID',
  'console',
  'globalThis',
  'fetch'
])

/** The part of a dotted name that is banned: of `Date.now` it is `Date`. */
function bannedPart(name: string): string | undefined {
  const parts = name.split('.')
  return [parts[0] ?? '', parts.slice(0, 2).join('.')].find((part) => bannedNames.has(part))
}

/** Identifiers that a file declares itself: a parameter called `fetch` is not the global. */
function declaredNames(tree: Node): Set<string> {
  const names = new Set<string>()
  const add = (value: unknown): void => {
    const name = dottedName(value)
    if (name !== undefined) names.add(name)
  }
  for (const node of nodes(tree)) {
    if (node.type === 'VariableDeclarator' || node.type === 'FunctionDeclaration' || node.type === 'ClassDeclaration') add(node['id'])
    if (node.type === 'ImportSpecifier') add(node['local'])
    const params = node['params']
    if (Array.isArray(params)) params.forEach(add)
  }
  return names
}

function* bannedUses(tree: Node): Generator<{ start: number; name: string }> {
  const declared = declaredNames(tree)
  for (const node of nodes(tree)) {
    const callee = node.type === 'CallExpression' || node.type === 'NewExpression' ? node['callee'] : undefined
    const value = node.type === 'MemberExpression' ? node : callee
    const name = dottedName(value)
    const banned = name === undefined ? undefined : bannedPart(name)
    if (banned !== undefined && !declared.has(banned.split('.')[0] ?? '')) yield { start: node.start, name: banned }
  }
}

/** [tidy] Pure files read no clock, roll no die, set no timer, touch no Node module; cores do not wait. */
export function impurities({ path, text, tree, imports }: Source): Finding[] {
  if (!timeless.some((pattern) => pattern.test(path))) return []
  const findings: Finding[] = []
  for (const { start, name } of bannedUses(tree)) findings.push({ path, line: lineAt(text, start), message: `uses ${name}` })
  if (!cores.some((pattern) => pattern.test(path))) return findings
  for (const { specifier, line } of imports) {
    if (specifier.startsWith('node:')) findings.push({ path, line, message: `imports ${specifier}` })
  }
  for (const node of nodes(tree)) {
    const waits = node.type === 'AwaitExpression' || (node.type === 'ForOfStatement' && node['await'] === true) || node['async'] === true
    if (waits) findings.push({ path, line: lineAt(text, node.start), message: 'waits; a core returns commands instead' })
  }
  return findings
}
