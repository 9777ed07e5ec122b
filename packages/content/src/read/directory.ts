import type { BlockSource, CID, GetBlockOptions } from '@shardswap/interface'
import * as raw from 'multiformats/codecs/raw'
import { NotUnixFSError, SizeMismatchError } from '../errors.ts'
import * as limits from '../limits.ts'
import type { DirectoryEntry, ReadOptions, TreeEntry } from '../types.ts'
import { type Planned, type Read, readAhead } from './ahead.ts'
import { ByteBudget } from './budget.ts'
import { readFile } from './file.ts'
import { isUnixFSCodec, shardPrefixLength, type NameLink, type UnixFSNode } from './node.ts'
import { describe, innerShard, type Resolved, resolvePath } from './resolve.ts'

const nothing = new Uint8Array(0)

/** How a tree is walked. */
export interface TreeOptions extends ReadOptions {
  /** The consumer reads every file: raw leaves are fetched ahead with the rest. */
  readonly contents?: boolean
}

/** How a directory is listed. */
export interface ListOptions extends ReadOptions {
  /** Names and CIDs alone: no entry is fetched, and those that are not raw are of type `other` and size 0. */
  readonly namesOnly?: boolean
}

/** Where a block stands in a tree: an entry with a name, or a part of a sharded directory. */
type Spot =
  | { readonly kind: 'entry'; readonly name: string; readonly path: string; readonly level: number; readonly dagBytes: number }
  | { readonly kind: 'shard'; readonly path: string; readonly level: number; readonly fanout: number }

type Opened = Resolved | undefined

/**
 * The entries of a directory, in its order (a sharded one in the order of its
 * hashes), with the type and size of each. Raw leaves are not fetched for it:
 * their size is what the directory states. For what is not a directory, one
 * entry that describes it. Blocks are asked for ahead.
 * Errors: those of resolve, of malformed directories, of the source.
 */
export async function* ls(source: BlockSource, text: string, options: ListOptions = {}): AsyncGenerator<DirectoryEntry, void, undefined> {
  const root = await resolvePath(source, text, options)
  if (root.type !== 'directory') {
    yield entryOf(root)
    return
  }
  for await (const { context, value } of walk(source, root, 1, options)) {
    if (context.level === 0 || context.kind === 'shard' || value === undefined) continue
    yield entryOf(value)
  }
}

/**
 * Everything below a path, the root itself first and parents before children.
 * A file's bytes are read only if its `content` is; contents may be read several
 * at once and share one bound. Blocks are asked for ahead.
 * Errors: those of resolve, of malformed directories, TooDeepError, the source's.
 */
export async function* tree(source: BlockSource, text: string, options: TreeOptions = {}): AsyncGenerator<TreeEntry, void, undefined> {
  const root = await resolvePath(source, text, options)
  // Half of the bytes for the walk, half for the contents of files.
  const readAheadBytesMax = Math.ceil((options.readAheadBytesMax ?? limits.readAheadBytesMax) / 2)
  const { signal, patient } = options
  const files: FileReading = { source, budget: new ByteBudget(readAheadBytesMax), asked: { signal, patient } }
  for await (const node of walk(source, root, Infinity, { ...options, readAheadBytesMax })) {
    if (node.context.kind === 'shard' || node.value === undefined) continue
    yield treeEntry(files, node.context.path, node.value, node.bytes)
  }
}

function entryOf(resolved: Resolved): DirectoryEntry {
  const { bytes: _bytes, node: _node, ...entry } = resolved
  return entry
}

interface FileReading {
  readonly source: BlockSource
  readonly budget: ByteBudget
  /** What the reader of the tree said of waiting; a reader of one file may say something else. */
  readonly asked: GetBlockOptions
}

function treeEntry(files: FileReading, path: string, resolved: Resolved, bytes: Uint8Array): TreeEntry {
  const { node, cid } = resolved
  const entry = { ...entryOf(resolved), path }
  if (node?.kind === 'symlink') return { ...entry, symlinkTarget: node.target }
  if (node?.kind !== 'file') return entry
  // Not the bytes of a raw leaf that was never fetched.
  const known = bytes === nothing ? undefined : bytes
  return {
    ...entry,
    content: (options = {}) => {
      const budget = options.readAheadBytesMax === undefined ? files.budget : undefined
      return readFile(
        files.source,
        cid,
        { ...options, signal: options.signal ?? files.asked.signal, patient: options.patient ?? files.asked.patient },
        known,
        budget
      )
    }
  }
}

/** Depth 1 gives a directory and its entries, without going into them. */
function walk(
  source: BlockSource,
  root: Resolved,
  levels: number,
  options: TreeOptions & ListOptions
): AsyncGenerator<Read<Spot, Opened>, void, undefined> {
  return readAhead<Spot, Opened>({
    source,
    roots: [{ cid: root.cid, span: 0, context: { kind: 'entry', name: root.name, path: '', level: 0, dagBytes: 0 }, bytes: root.bytes }],
    open: (planned, bytes) => open(planned, bytes, { levels, contents: options.contents === true, namesOnly: options.namesOnly === true }),
    signal: options.signal,
    patient: options.patient,
    readAheadBytesMax: options.readAheadBytesMax,
    dagDepthMax: options.dagDepthMax
  })
}

interface Reach {
  readonly levels: number
  readonly contents: boolean
  readonly namesOnly: boolean
}

function open(planned: Planned<Spot>, bytes: Uint8Array, reach: Reach): { value: Opened; children: Planned<Spot>[] } {
  const { cid, context } = planned
  if (context.kind === 'shard') return { value: undefined, children: childrenOf(innerShard(cid, bytes, context.fanout), context, reach) }
  const isWithin = context.level < reach.levels
  const value =
    bytes === nothing ? notFetched(context, cid) : isWithin ? describe(context.name, cid, bytes) : glance(context.name, cid, bytes)
  return { value, children: value.node !== undefined && isWithin ? childrenOf(value.node, context, reach) : [] }
}

/** As describe, where one odd entry must not hide its neighbours. */
function glance(name: string, cid: CID, bytes: Uint8Array): Resolved {
  try {
    return describe(name, cid, bytes)
  } catch (error) {
    if (!(error instanceof NotUnixFSError || error instanceof SizeMismatchError)) throw error
    return { name, cid, type: 'other', size: 0n, bytes, node: undefined }
  }
}

/** A child of which the parent tells all that is asked. */
function notFetched({ name, dagBytes }: Spot & { kind: 'entry' }, cid: CID): Resolved {
  if (cid.code !== raw.code) return { name, cid, type: 'other', size: 0n, bytes: nothing, node: undefined }
  const node: UnixFSNode = { kind: 'file', raw: true, data: nothing, links: [], size: dagBytes }
  return { name, cid, type: 'raw', size: BigInt(dagBytes), bytes: nothing, node }
}

function childrenOf(node: UnixFSNode, parent: Spot, reach: Reach): Planned<Spot>[] {
  if (node.kind === 'directory') return node.links.map((link) => named(link, link.name, parent, reach))
  if (node.kind !== 'shard') return []
  const prefixLength = shardPrefixLength(node.fanout)
  return node.links.map((link) => {
    const name = link.name.slice(prefixLength)
    if (name !== '') return named(link, name, parent, reach)
    if (!isUnixFSCodec(link.cid)) throw new NotUnixFSError(`${link.cid.toString()} is no shard, though it stands for one`)
    // What is below it does not matter here: its own block does.
    const span = Math.min(link.dagBytes, limits.assumedInnerBytes)
    return { cid: link.cid, span, context: { kind: 'shard', path: parent.path, level: parent.level, fanout: node.fanout } }
  })
}

function named(link: NameLink, name: string, parent: Spot, reach: Reach): Planned<Spot> {
  const path = parent.level === 0 ? name : `${parent.path}/${name}`
  const isRaw = link.cid.code === raw.code
  const fetched = !reach.namesOnly && (isRaw ? reach.contents : isUnixFSCodec(link.cid))
  const context: Spot = { kind: 'entry', name, path, level: parent.level + 1, dagBytes: link.dagBytes }
  // The walk reads this one block, whatever is below it. It is no larger than all of them.
  const span = isRaw || link.dagBytes <= limits.leafBytesMax ? link.dagBytes : limits.assumedInnerBytes
  return { cid: link.cid, span, context, ...(fetched ? {} : { bytes: nothing }) }
}
