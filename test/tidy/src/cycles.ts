import { dirname, join } from 'node:path/posix'
import { packageOf } from './imports.ts'
import type { Source } from './source.ts'

type Graph = ReadonlyMap<string, ReadonlySet<string>>

/** Files and the files that they import by a relative path. Types are gone when the code runs, and tie no knot. */
export function fileGraph(sources: readonly Source[]): Graph {
  return new Map(
    sources.map(({ path, imports }) => {
      const relative = imports.filter(({ specifier, typeOnly }) => specifier.startsWith('.') && !typeOnly)
      return [path, new Set(relative.map(({ specifier }) => join(dirname(path), specifier)))]
    })
  )
}

/** Packages of ours and the packages of ours that their sources import, be it types alone: each needs the other to be built. */
export function packageGraph(sources: readonly Source[]): Graph {
  const graph = new Map<string, Set<string>>()
  for (const { path, imports } of sources) {
    const owner = packageOf(path)
    if (owner === undefined) continue
    const edges = graph.get(owner) ?? new Set()
    graph.set(owner, edges)
    for (const { specifier } of imports) {
      const target = /^@shardswap\/([^/]+)/.exec(specifier)?.[1]
      if (target !== undefined) edges.add(target)
    }
  }
  return graph
}

/** The first cycle found, as a path that ends where it began; undefined where there is none. */
export function findCycle(graph: Graph): string[] | undefined {
  const done = new Set<string>()
  const trail: string[] = []
  const visit = (node: string): string[] | undefined => {
    const seenAt = trail.indexOf(node)
    if (seenAt !== -1) return [...trail.slice(seenAt), node]
    if (done.has(node)) return undefined
    trail.push(node)
    for (const next of graph.get(node) ?? []) {
      const cycle = visit(next)
      if (cycle !== undefined) return cycle
    }
    trail.pop()
    done.add(node)
    return undefined
  }
  for (const node of graph.keys()) {
    const cycle = visit(node)
    if (cycle !== undefined) return cycle
  }
  return undefined
}
