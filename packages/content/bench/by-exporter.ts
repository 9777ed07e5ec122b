/**
 * The package's reading functions over ipfs-unixfs-exporter: what decision 0003
 * measures. `by-exporter.config.ts` runs the package's tests with it.
 */
import { type AbortOptions, AbortError, type BlockSource, type CID, InvalidParametersError, NotFoundError } from '@shardswap/interface'
import { exporter, type ReadableStorage, type UnixFSEntry } from 'ipfs-unixfs-exporter'
import * as raw from 'multiformats/codecs/raw'
import { NotADirectoryError, NotAFileError, NotUnixFSError, SizeMismatchError, TooDeepError } from '../src/errors.ts'
import * as limits from '../src/limits.ts'
import { getBlock, throwIfAborted } from '../src/local.ts'
import { formatPath, parsePath } from '../src/path.ts'
import type { DirectoryEntry, EntryType, ReadOptions, TreeEntry } from '../src/types.ts'

/** Entries of a directory that are looked at together. */
const entriesAtOnce = 256

function storeOf(source: BlockSource): ReadableStorage {
  return {
    async *get(cid, options) {
      yield await getBlock(source, cid, options?.signal === undefined ? {} : { signal: options.signal })
    }
  }
}

function withSignal(options: AbortOptions | undefined): { signal?: AbortSignal } {
  return options?.signal === undefined ? {} : { signal: options.signal }
}

/** The library's errors under our names; it does not tell of which CID. */
function renamed(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  switch (error.name) {
    case 'NotUnixFSError':
      return new NotUnixFSError(error.message, { cause: error })
    case 'OverReadError':
    case 'UnderReadError':
      return new SizeMismatchError(error.message, { cause: error })
    case 'BadPathError':
    case 'NoResolverError':
      return new NotADirectoryError(error.message, { cause: error })
    case 'NotFoundError':
      return new NotFoundError(error.message.replace(/^No link "(.*)" found/, 'no link named "$1"'), { cause: error })
    case 'RangeError':
    case 'InvalidParametersError':
      return new InvalidParametersError(error.message, { cause: error })
    default:
      return error
  }
}

async function open(source: BlockSource, text: string, options?: AbortOptions): Promise<UnixFSEntry> {
  const { root, segments } = parsePath(text)
  throwIfAborted(options?.signal)
  try {
    return await exporter(segments.length === 0 ? root : formatPath(root, segments), storeOf(source), withSignal(options))
  } catch (error) {
    if (options?.signal?.aborted === true) throw new AbortError(undefined, { cause: error })
    throw renamed(error)
  }
}

function typeOf(entry: UnixFSEntry): EntryType {
  if (entry.type === 'raw' || entry.type === 'directory') return entry.type
  if (entry.type !== 'file') return 'other'
  return entry.unixfs.type === 'symlink' ? 'symlink' : 'file'
}

function describe(name: string, entry: UnixFSEntry): DirectoryEntry {
  const type = typeOf(entry)
  const { mode, mtime } = 'unixfs' in entry ? entry.unixfs : {}
  return {
    name,
    cid: entry.cid,
    type,
    size: type === 'file' || type === 'raw' ? entry.size : 0n,
    ...(mode === undefined ? {} : { mode }),
    ...(mtime === undefined ? {} : { mtime })
  }
}

/** As the package's `resolve`. */
export async function resolve(source: BlockSource, text: string, options?: AbortOptions): Promise<DirectoryEntry> {
  return describe(parsePath(text).segments.at(-1) ?? '', await open(source, text, options))
}

/** As the package's `cat`. */
export async function* cat(source: BlockSource, text: string, options: ReadOptions = {}): AsyncGenerator<Uint8Array, void, undefined> {
  const entry = await open(source, text, options)
  const type = typeOf(entry)
  if (type !== 'file' && type !== 'raw') throw new NotAFileError(`${text} is a ${type}, not a file`)
  if (!('content' in entry)) return
  yield* contentOf(entry, options)
}

async function* contentOf(entry: UnixFSEntry, options: ReadOptions): AsyncGenerator<Uint8Array, void, undefined> {
  const { offset = 0, length } = options
  const window = options.readAheadBytesMax ?? limits.readAheadBytesMax
  // The library goes on when its reader stops, unless it is told.
  const stop = new AbortController()
  const signal = options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal])
  const ranges = { offset, ...(length === undefined ? {} : { length }), signal }
  try {
    if (BigInt(offset) >= entry.size || length === 0) return
    const parts = (entry as Extract<UnixFSEntry, { type: 'file' }>).content({
      ...ranges,
      blockReadConcurrency: Math.max(1, Math.floor(window / limits.assumedBlockBytes))
    })
    for await (const part of parts) if (part.byteLength > 0) yield part
  } catch (error) {
    if (options.signal?.aborted === true) throw new AbortError(undefined, { cause: error })
    throw renamed(error)
  } finally {
    stop.abort()
  }
}

/** A raw leaf whose block is read only with its content. */
async function unread(cid: CID, name: string, size: bigint, source: BlockSource): Promise<UnixFSEntry> {
  async function* content(options: ReadOptions = {}): AsyncGenerator<Uint8Array, void, undefined> {
    yield* contentOf(await exporter(cid, storeOf(source)), options)
  }
  return { type: 'raw', cid, name, path: name, size, node: new Uint8Array(0), content }
}

async function* entriesOf(
  source: BlockSource,
  entry: UnixFSEntry,
  options: ReadOptions
): AsyncGenerator<{ name: string; child: UnixFSEntry }> {
  if (entry.type !== 'directory') return
  let batch: { name: string; child: Promise<UnixFSEntry> }[] = []
  for await (const { name, cid, size } of entry.entries(withSignal(options))) {
    const child = cid.code === raw.code ? unread(cid, name, size, source) : exporter(cid, storeOf(source), withSignal(options))
    child.catch(() => undefined)
    batch.push({ name, child })
    if (batch.length < entriesAtOnce) continue
    for (const item of batch) yield { name: item.name, child: await item.child }
    batch = []
  }
  for (const item of batch) yield { name: item.name, child: await item.child }
}

/** As the package's `ls`. */
export async function* ls(source: BlockSource, text: string, options: ReadOptions = {}): AsyncGenerator<DirectoryEntry, void, undefined> {
  const entry = await open(source, text, options)
  if (entry.type !== 'directory') {
    yield describe(parsePath(text).segments.at(-1) ?? '', entry)
    return
  }
  try {
    for await (const { name, child } of entriesOf(source, entry, options)) yield describe(name, child)
  } catch (error) {
    throw renamed(error)
  }
}

/** As the package's `tree`. */
export async function* tree(
  source: BlockSource,
  text: string,
  options: ReadOptions & { readonly dagDepthMax?: number } = {}
): AsyncGenerator<TreeEntry, void, undefined> {
  const root = await open(source, text, options)
  yield treeEntry(parsePath(text).segments.at(-1) ?? '', '', root)
  const walks = [{ path: '', entries: entriesOf(source, root, options) }]
  try {
    for (let top = walks.at(-1); top !== undefined; top = walks.at(-1)) {
      const next = await top.entries.next()
      if (next.done === true) {
        walks.pop()
        continue
      }
      const { name, child } = next.value
      if (walks.length > (options.dagDepthMax ?? limits.dagDepthMax)) throw new TooDeepError(child.cid, walks.length - 1)
      const path = top.path === '' ? name : `${top.path}/${name}`
      yield treeEntry(name, path, child)
      if (child.type === 'directory') walks.push({ path, entries: entriesOf(source, child, options) })
    }
  } catch (error) {
    throw renamed(error)
  }
}

function treeEntry(name: string, path: string, entry: UnixFSEntry): TreeEntry {
  const described = { ...describe(name, entry), path }
  if (described.type === 'symlink' && entry.type === 'file')
    return { ...described, symlinkTarget: new TextDecoder().decode(entry.unixfs.data ?? new Uint8Array(0)) }
  if (!('content' in entry)) return described
  return { ...described, content: (options = {}) => contentOf(entry, options) }
}
