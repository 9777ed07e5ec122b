import { parseSync } from 'oxc-parser'

/** A node of the syntax tree; every kind has a type and a place, the rest is looked at by name. */
export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

/** An import or a re-export. */
interface Import {
  readonly specifier: string
  readonly typeOnly: boolean
  readonly line: number
}

/** A parsed file. */
export interface Source {
  readonly path: string
  readonly text: string
  readonly lines: number
  readonly tree: Node
  readonly imports: readonly Import[]
  /** Names that it exports, `default` left out. */
  readonly exports: readonly { readonly name: string; readonly line: number }[]
  readonly comments: readonly { readonly text: string; readonly line: number }[]
}

/** What a rule found; printed as `path:line message`. */
export interface Finding {
  readonly path: string
  readonly line: number
  readonly message: string
}

/** The number of the line that holds the character at `offset`, from 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1
  for (let i = text.indexOf('\n'); i !== -1 && i < offset; i = text.indexOf('\n', i + 1)) line += 1
  return line
}

function staticText(text: string, start: number, end: number): string | undefined {
  return /^(['"`])([^'"`$]*)\1$/.exec(text.slice(start, end).trim())?.[2]
}

function importsOf(text: string, module: ReturnType<typeof parseSync>['module'], tree: Node): Import[] {
  const found: Import[] = []
  const at = (start: number): number => lineAt(text, start)
  for (const { moduleRequest, entries, start } of module.staticImports) {
    const typeOnly = isTypeStatement(text, start) || (entries.length > 0 && entries.every((entry) => entry.isType))
    found.push({ specifier: moduleRequest.value, typeOnly, line: at(start) })
  }
  for (const node of nodes(tree)) {
    if (node.type !== 'ExportNamedDeclaration' && node.type !== 'ExportAllDeclaration') continue
    const from = node['source'] as { value?: unknown } | null
    if (typeof from?.value === 'string') {
      found.push({ specifier: from.value, typeOnly: node['exportKind'] === 'type', line: at(node.start) })
    }
  }
  for (const { moduleRequest, start } of module.dynamicImports) {
    const specifier = staticText(text, moduleRequest.start, moduleRequest.end)
    if (specifier !== undefined) found.push({ specifier, typeOnly: false, line: at(start) })
  }
  return found
}

function isTypeStatement(text: string, start: number): boolean {
  return /^import\s+type\b/.test(text.slice(start, start + 40))
}

/** Parses one file. Throws where it is no TypeScript. */
export function parse(path: string, text: string): Source {
  const result = parseSync(path, text)
  const error = result.errors[0]
  if (error !== undefined) throw new SyntaxError(`${path}: ${error.message}`)
  const tree = result.program as unknown as Node
  const exports = result.module.staticExports
    .flatMap((statement) => statement.entries)
    .map((entry) => ({ name: entry.exportName.name ?? '', line: lineAt(text, entry.start) }))
    .filter(({ name }) => name !== '')
  const comments = result.comments.map((comment) => ({ text: comment.value, line: lineAt(text, comment.start) }))
  const lines = text === '' ? 0 : text.replace(/\n$/, '').split('\n').length
  return { path, text, lines, tree, imports: importsOf(text, result.module, tree), exports, comments }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'
}

/** Every node of a tree, parents first. */
export function* nodes(tree: Node): Generator<Node> {
  const open: Node[] = [tree]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    yield node
    const children = Object.values(node).flatMap((value) => (Array.isArray(value) ? value : [value]))
    open.push(...children.filter(isNode).toReversed())
  }
}

/** `a.b` or `a` of an identifier or a plain member access; undefined for anything else. */
export function dottedName(value: unknown): string | undefined {
  if (!isNode(value)) return undefined
  if (value.type === 'Identifier') return String(value['name'])
  if (value.type !== 'MemberExpression' || value['computed'] === true) return undefined
  const object = dottedName(value['object'])
  const property = dottedName(value['property'])
  return object === undefined || property === undefined ? undefined : `${object}.${property}`
}
