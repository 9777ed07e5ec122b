import type { BlockSource, CID } from '@shardswap/interface'
import * as raw from 'multiformats/codecs/raw'
import { NotUnixFSError } from '../errors.ts'
import type { DirectoryEntry, ReadOptions, TreeEntry } from '../types.ts'
import { type Planned, type Read, readAhead } from './ahead.ts'
import { readFile } from './file.ts'
import { isUnixFSCodec, shardPrefixLength, type NameLink, type UnixFSNode } from './node.ts'
import { describe, innerShard, type Resolved, resolvePath } from './resolve.ts'

const nothing = new Uint8Array(0)

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
export async function* ls(source: BlockSource, text: string, options: ReadOptions = {}): AsyncGenerator<DirectoryEntry, void, undefined> {
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
 * A file's bytes are read only if its `content` is. Blocks are asked for ahead.
 * Errors: those of resolve, of malformed directories, TooDeepError, the source's.
 */
export async function* tree(
  source: BlockSource,
  text: string,
  options: ReadOptions & { readonly dagDepthMax?: number } = {}
): AsyncGenerator<TreeEntry, void, undefined> {
  const root = await resolvePath(source, text, options)
  for await (const node of walk(source, root, Infinity, options)) {
    if (node.context.kind === 'shard' || node.value === undefined) continue
    yield treeEntry(source, node.context.path, node.value, node, options)
  }
}

function entryOf(resolved: Resolved): DirectoryEntry {
  const { bytes: _bytes, node: _node, ...entry } = resolved
  return entry
}

function treeEntry(source: BlockSource, path: string, resolved: Resolved, read: Read<Spot, Opened>, walkOptions: ReadOptions): TreeEntry {
  const { node } = resolved
  const entry = { ...entryOf(resolved), path }
  if (node?.kind === 'symlink') return { ...entry, symlinkTarget: node.target }
  if (node?.kind !== 'file') return entry
  // Not the bytes of a raw leaf that was never fetched.
  const known = read.bytes === nothing ? undefined : read.bytes
  return {
    ...entry,
    content: (options = {}) => readFile(source, resolved.cid, { ...options, signal: options.signal ?? walkOptions.signal }, known)
  }
}

/** Depth 1 gives a directory and its entries, without going into them. */
function walk(
  source: BlockSource,
  root: Resolved,
  levels: number,
  options: ReadOptions & { readonly dagDepthMax?: number }
): AsyncGenerator<Read<Spot, Opened>, void, undefined> {
  return readAhead<Spot, Opened>({
    source,
    roots: [{ cid: root.cid, span: 0, context: { kind: 'entry', name: root.name, path: '', level: 0, dagBytes: 0 }, bytes: root.bytes }],
    open: (planned, bytes) => open(planned, bytes, levels),
    signal: options.signal,
    readAheadBytesMax: options.readAheadBytesMax,
    dagDepthMax: options.dagDepthMax
  })
}

function open(planned: Planned<Spot>, bytes: Uint8Array, levels: number): { value: Opened; children: Planned<Spot>[] } {
  const { cid, context } = planned
  if (context.kind === 'shard') return { value: undefined, children: childrenOf(innerShard(cid, bytes, context.fanout), context) }
  const value = bytes === nothing ? notFetched(context, cid) : describe(context.name, cid, bytes)
  return { value, children: value.node !== undefined && context.level < levels ? childrenOf(value.node, context) : [] }
}

/** A child of which the parent tells all that is asked. */
function notFetched({ name, dagBytes }: Spot & { kind: 'entry' }, cid: CID): Resolved {
  if (cid.code !== raw.code) return { name, cid, type: 'other', size: 0n, bytes: nothing, node: undefined }
  const node: UnixFSNode = { kind: 'file', raw: true, data: nothing, links: [], size: dagBytes }
  return { name, cid, type: 'raw', size: BigInt(dagBytes), bytes: nothing, node }
}

function childrenOf(node: UnixFSNode, parent: Spot): Planned<Spot>[] {
  if (node.kind === 'directory') return node.links.map((link) => named(link, link.name, parent))
  if (node.kind !== 'shard') return []
  const prefixLength = shardPrefixLength(node.fanout)
  return node.links.map((link) => {
    const name = link.name.slice(prefixLength)
    if (name !== '') return named(link, name, parent)
    if (!isUnixFSCodec(link.cid)) throw new NotUnixFSError(`${link.cid.toString()} is no shard, though it stands for one`)
    return { cid: link.cid, span: link.dagBytes, context: { kind: 'shard', path: parent.path, level: parent.level, fanout: node.fanout } }
  })
}

function named(link: NameLink, name: string, parent: Spot): Planned<Spot> {
  const path = parent.level === 0 ? name : `${parent.path}/${name}`
  const fetched = link.cid.code !== raw.code && isUnixFSCodec(link.cid)
  const context: Spot = { kind: 'entry', name, path, level: parent.level + 1, dagBytes: link.dagBytes }
  // The walk reads one block of a file, whatever is below it.
  return { cid: link.cid, span: 0, context, ...(fetched ? {} : { bytes: nothing }) }
}
