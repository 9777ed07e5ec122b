/** The links of a DAG, from its root down. */
import { type BlockSource, type CID, type GetBlockOptions, joinBytes } from '@shardswap/interface'
import { type Link, linksInValue, linksOf } from '../car/links.ts'
import { cidKey } from '../cid-key.ts'
import { type Planned, readAhead } from '../read/ahead.ts'
import { type ResolvedNode, resolveNode } from './resolve.ts'

/** Which links are told. */
export interface RefsOptions extends GetBlockOptions {
  /** The links of what is linked too, and so on; all of it is read. */
  readonly recursive?: boolean
  /** Each CID once, over all paths. */
  readonly unique?: boolean
  /** With `recursive`: how many links below the root at most; -1, the default, for all. */
  readonly maxDepth?: number
}

/** One link. */
export interface Ref {
  readonly from: CID
  readonly to: CID
  /** Its name in a block of dag-pb; '' elsewhere. */
  readonly name: string
}

interface Place {
  readonly from: CID
  readonly name: string
  /** Links from the root. */
  readonly depth: number
}

const none = joinBytes([], 0)

/** The depth at which each CID was met first: met again further up, more of what lies below it is within bounds. */
type Seen = Map<string, number>

/**
 * The links below paths, one path after the other, each link before those below it. What lies at the greatest depth is
 * named and not read. Holds about 100 bytes for each CID with `unique`, else nothing that grows.
 * Errors: those of resolveNode, and TooDeepError.
 */
export async function* refs(
  source: BlockSource,
  paths: readonly string[],
  options: RefsOptions = {}
): AsyncGenerator<Ref, void, undefined> {
  const seen: Seen = new Map()
  for (const path of paths) yield* refsBelow(source, path, options, seen)
}

async function* refsBelow(source: BlockSource, path: string, options: RefsOptions, seen: Seen): AsyncGenerator<Ref, void, undefined> {
  const { signal, patient, recursive = false, unique = false } = options
  const depthMax = recursive ? (options.maxDepth ?? -1) : 1
  const root = await resolveNode(source, path, options)
  if (depthMax === 0) return
  const isOver = ({ cid, context }: Planned<Place>): boolean => {
    const before = seen.get(cidKey(cid))
    return before !== undefined && (depthMax < 0 || before <= context.depth)
  }
  const plan = (from: CID, links: readonly Link[], depth: number): Planned<Place>[] =>
    links.map(({ cid, dagBytes, name }) => ({
      cid,
      span: dagBytes,
      context: { from, name, depth },
      ...(depth === depthMax ? { bytes: none } : {})
    }))
  const nodes = readAhead<Place, undefined>({
    source,
    roots: plan(root.cid, rootLinks(root), 1),
    open: ({ cid, context }, bytes) => ({
      value: undefined,
      children: context.depth === depthMax ? [] : plan(cid, linksOf(cid, bytes), context.depth + 1)
    }),
    ...(unique ? { skip: isOver } : {}),
    signal,
    patient
  })
  for await (const { cid, context } of nodes) {
    const isNew = !seen.has(cidKey(cid))
    if (unique) seen.set(cidKey(cid), context.depth)
    if (isNew) yield { from: context.from, to: cid, name: context.name }
  }
}

function rootLinks(root: ResolvedNode): readonly Link[] {
  return root.rest.length === 0 ? linksOf(root.cid, root.bytes) : linksInValue(root.cid.code, root.value())
}
