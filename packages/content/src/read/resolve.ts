import * as dagCbor from '@ipld/dag-cbor'
import * as dagJson from '@ipld/dag-json'
import { type BlockSource, CID, type GetBlockOptions, NotFoundError } from '@shardswap/interface'
import * as raw from 'multiformats/codecs/raw'
import { NotADirectoryError, NotUnixFSError } from '../errors.ts'
import { getBlock } from '../local.ts'
import { formatPath, parsePath } from '../path.ts'
import type { DirectoryEntry, EntryType } from '../types.ts'
import { decodeNode, isUnixFSCodec, shardPrefix, shardPrefixLength, type NameLink, type UnixFSNode } from './node.ts'
import { nameHash, positionAt } from './shard.ts'

/** What a path leads to, and the bytes of its block. */
export interface Resolved extends DirectoryEntry {
  readonly bytes: Uint8Array
  /** Undefined where it is not UnixFS. */
  readonly node: UnixFSNode | undefined
}

/**
 * Walks a path and reads the block at its end. Within dag-cbor and dag-json the
 * names are keys. Errors: InvalidCidError, NotFoundError naming the missing
 * segment, NotADirectoryError, NotUnixFSError, the source's.
 */
export async function resolvePath(source: BlockSource, text: string, options?: GetBlockOptions): Promise<Resolved> {
  const { root, segments } = parsePath(text)
  let cid = root
  let bytes = await getBlock(source, cid, options)
  let at = 0
  while (at < segments.length) {
    const step = await nextStep(source, cid, bytes, segments, at, options)
    at += step.used
    cid = step.cid
    bytes = await getBlock(source, cid, options)
  }
  const name = segments.at(-1) ?? ''
  return describe(name, cid, bytes)
}

/** As resolvePath, without the block. */
export async function resolve(source: BlockSource, text: string, options?: GetBlockOptions): Promise<DirectoryEntry> {
  const { bytes: _bytes, node: _node, ...entry } = await resolvePath(source, text, options)
  return entry
}

/** The line of `ls` for a block that is here. A dag-pb block that is not UnixFS is an error; another codec is `other`. */
export function describe(name: string, cid: CID, bytes: Uint8Array): Resolved {
  if (!isUnixFSCodec(cid)) return { name, cid, type: 'other', size: 0n, bytes, node: undefined }
  const node = decodeNode(cid, bytes)
  const { mode, mtime } = node.kind === 'file' && node.raw ? {} : attributes(node)
  return {
    name,
    cid,
    type: typeOf(node),
    size: node.kind === 'file' ? BigInt(node.size) : 0n,
    ...(mode === undefined ? {} : { mode }),
    ...(mtime === undefined ? {} : { mtime }),
    bytes,
    node
  }
}

function attributes(node: UnixFSNode): Pick<UnixFSNode, 'mode' | 'mtime'> {
  return node
}

function typeOf(node: UnixFSNode): EntryType {
  if (node.kind === 'file') return node.raw ? 'raw' : 'file'
  return node.kind === 'symlink' ? 'symlink' : 'directory'
}

interface Step {
  readonly cid: CID
  readonly used: number
}

async function nextStep(
  source: BlockSource,
  cid: CID,
  bytes: Uint8Array,
  segments: readonly string[],
  at: number,
  options: GetBlockOptions | undefined
): Promise<Step> {
  if (cid.code === dagCbor.code) return stepWithin(dagCbor.decode(bytes), cid, segments, at)
  if (cid.code === dagJson.code) return stepWithin(dagJson.decode(bytes), cid, segments, at)
  return { cid: await namedLink(source, cid, bytes, segments[at] ?? '', options), used: 1 }
}

/**
 * The CID that a directory of UnixFS, sharded or not, has under a name; `bytes` are the directory's block.
 * Errors: NotADirectoryError, NotFoundError, NotUnixFSError, the source's.
 */
export async function namedLink(
  source: BlockSource,
  cid: CID,
  bytes: Uint8Array,
  name: string,
  options: GetBlockOptions | undefined
): Promise<CID> {
  const below = formatPath(cid, [name])
  if (cid.code === raw.code) throw new NotADirectoryError(`${below}: ${cid.toString()} is a file, not a directory`)
  const node = decodeNode(cid, bytes)
  const found = await findName(source, node, name, options)
  if (found === 'no directory') throw new NotADirectoryError(`${below}: ${cid.toString()} is a ${node.kind}, not a directory`)
  if (found === undefined) throw new NotFoundError(`no link named "${name}" under ${cid.toString()}`)
  return found.cid
}

async function findName(
  source: BlockSource,
  node: UnixFSNode,
  name: string,
  options: GetBlockOptions | undefined
): Promise<NameLink | 'no directory' | undefined> {
  if (node.kind === 'directory') return node.links.find((link) => link.name === name)
  if (node.kind !== 'shard') return 'no directory'
  return await findInShard(source, node, name, options)
}

/** Follows the name's hash; a shard that is itself an inner one has the name or not, like any other. */
async function findInShard(
  source: BlockSource,
  root: UnixFSNode & { kind: 'shard' },
  name: string,
  options: GetBlockOptions | undefined
): Promise<NameLink | undefined> {
  const hash = nameHash(name)
  let shard = root
  for (let depth = 0; ; depth++) {
    const position = positionAt(hash, depth, Math.log2(shard.fanout))
    if (position === undefined) return undefined
    const prefix = shardPrefix(position, shard.fanout)
    const link = shard.links.find((link) => link.name.startsWith(prefix))
    if (link === undefined) return undefined
    const rest = link.name.slice(shardPrefixLength(shard.fanout))
    if (rest !== '') return rest === name ? link : undefined
    shard = innerShard(link.cid, await getBlock(source, link.cid, options), shard.fanout)
  }
}

/** A sub-shard's node. Errors: NotUnixFSError where it is no shard of its parent's fanout. */
export function innerShard(cid: CID, bytes: Uint8Array, fanout: number): UnixFSNode & { kind: 'shard' } {
  const node = decodeNode(cid, bytes)
  if (node.kind !== 'shard') throw new NotUnixFSError(`${cid.toString()} is a ${node.kind} where a shard belongs`)
  if (node.fanout !== fanout) throw new NotUnixFSError(`${cid.toString()} is a malformed shard: fanout ${node.fanout} within ${fanout}`)
  return node
}

/** Follows keys until a link, or the end. */
function stepWithin(value: unknown, cid: CID, segments: readonly string[], at: number): Step {
  let here = value
  for (let i = at; i < segments.length; i++) {
    const key = segments[i] ?? ''
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) {
      throw new NotFoundError(`no link named "${key}" under ${formatPath(cid, segments.slice(at, i))}`)
    }
    here = (here as Record<string, unknown>)[key]
    const link = CID.asCID(here)
    if (link !== null) return { cid: link, used: i - at + 1 }
  }
  throw new NotADirectoryError(`${formatPath(cid, segments.slice(at))} is a value within a block, not a link to one`)
}
