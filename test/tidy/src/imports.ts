import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path/posix'
import type { Finding, Source } from './source.ts'

/** What the sources of a package may import. */
interface Allowed {
  /** Packages of ours, by folder name. */
  readonly ours: readonly string[]
  /** Those of ours of which only types may be imported. */
  readonly types?: readonly string[]
  /** Packages of others; a name that ends in `*` stands for all that begin so. `*` allows any. */
  readonly others: readonly string[]
  /** Node's own modules; `*` allows any. */
  readonly node?: readonly string[]
}

const stores = ['blockstore-core', 'datastore-core', 'interface-blockstore', 'interface-datastore', 'multiformats']
const libp2p = ['libp2p', '@libp2p/*', '@chainsafe/libp2p-*', '@multiformats/*', 'p-event', 'progress-events', 'it-*', 'uint8arraylist']

/**
 * The table of ARCHITECTURE.md, row by row. A package that is missing here may
 * not exist; the packages of later issues have their rows already.
 */
export const importTable: Readonly<Record<string, Allowed>> = {
  interface: { ours: [], others: ['multiformats'] },
  hashes: { ours: ['interface'], others: ['@noble/hashes', 'multiformats'], node: ['node:crypto'] },
  protocol: { ours: ['interface'], others: ['protons-runtime', 'uint8arrays', 'uint8arraylist'] },
  reliability: { ours: ['interface'], others: [] },
  session: { ours: ['interface', 'reliability'], others: [] },
  broker: { ours: ['interface', 'reliability', 'session'], types: ['session'], others: [] },
  server: { ours: ['interface', 'reliability'], others: [] },
  repo: {
    ours: ['interface', 'hashes'],
    others: [...stores, '@libp2p/crypto', '@libp2p/peer-id', '@libp2p/interface', 'classic-level', 'datastore-level', 'lmdb'],
    node: ['*']
  },
  content: {
    ours: ['interface', 'hashes'],
    others: [
      '@ipld/*',
      'cborg',
      'ipfs-unixfs',
      'ipfs-unixfs-importer',
      'ipfs-unixfs-exporter',
      '@multiformats/murmur3',
      'interface-blockstore',
      'multiformats',
      'protons-runtime'
    ],
    node: ['node:fs', 'node:fs/promises', 'node:path', 'node:stream', 'node:stream/promises', 'node:crypto']
  },
  peer: {
    ours: ['interface', 'hashes', 'protocol', 'reliability', 'session', 'broker', 'server'],
    others: [...libp2p, ...stores, '@noble/ciphers'],
    node: ['*']
  },
  daemon: { ours: ['interface', 'hashes', 'peer', 'repo', 'content'], others: ['*'], node: ['*'] },
  cli: { ours: ['interface', 'daemon', 'peer', 'repo', 'content'], others: ['*'], node: ['*'] },
  gateway: { ours: ['interface', 'peer', 'repo', 'content'], others: ['*'], node: ['*'] },
  dashboard: { ours: ['interface'], others: ['*'], node: ['*'] }
}

/** Entries beside a package's root, for those who need little of it and start often. */
const publicPaths: ReadonlySet<string> = new Set(['@shardswap/content/disk'])

/** The package whose sources hold `path`, by folder name; undefined for tests and tools. */
export function packageOf(path: string): string | undefined {
  return /^packages\/([^/]+)\/src\//.exec(path)?.[1]
}

/** `@scope/name` or `name` of an import, without the path inside it. */
function packageName(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

function fits(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name))
}

function complaint(owner: string, path: string, specifier: string, typeOnly: boolean): string | undefined {
  const allowed = importTable[owner]
  if (allowed === undefined) return `the package ${owner} has no row in the table of imports`
  if (specifier.startsWith('.')) {
    const target = join(dirname(path), specifier)
    return target.startsWith(`packages/${owner}/src/`) ? undefined : `imports ${specifier}, which lies outside its package's sources`
  }
  const name = packageName(specifier)
  if (name.startsWith('@shardswap/')) {
    const ours = name.slice('@shardswap/'.length)
    if (!allowed.ours.includes(ours)) return `${owner} may not import ${name}`
    if (specifier !== name && !publicPaths.has(specifier)) return `imports ${specifier}: only a package's root is public`
    return allowed.types?.includes(ours) === true && !typeOnly ? `${owner} may import only types from ${name}` : undefined
  }
  if (isBuiltin(specifier)) {
    if (!specifier.startsWith('node:')) return `imports ${specifier}: write node:${specifier}`
    return fits(allowed.node ?? [], specifier) ? undefined : `${owner} may not import ${specifier}`
  }
  return fits(allowed.others, name) ? undefined : `${owner} may not import ${name}`
}

/** [tidy] Sources import only what the table allows. */
export function forbiddenImports(source: Source): Finding[] {
  const owner = packageOf(source.path)
  if (owner === undefined) return []
  return source.imports.flatMap(({ specifier, typeOnly, line }) => {
    const message = complaint(owner, source.path, specifier, typeOnly)
    return message === undefined ? [] : [{ path: source.path, line, message }]
  })
}

/**
 * [tidy] What a package's sources load is among its dependencies: with what only its tests install, it would load in this
 * workspace and nowhere else. `declared` gives a package's dependencies by its folder name.
 */
export function undeclaredImports(source: Source, declared: (owner: string) => ReadonlySet<string>): Finding[] {
  const owner = packageOf(source.path)
  if (owner === undefined) return []
  return source.imports.flatMap(({ specifier, typeOnly, line }) => {
    if (typeOnly || specifier.startsWith('.') || isBuiltin(specifier) || declared(owner).has(packageName(specifier))) return []
    return [{ path: source.path, line, message: `loads ${specifier}, which is not among the dependencies of ${owner}` }]
  })
}
