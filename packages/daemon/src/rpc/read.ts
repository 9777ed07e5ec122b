/** `cat`, `get`, `ls`: reading UnixFS. */
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { NotAFileError, type TreeEntry } from '@shardswap/content'
import { InvalidParametersError } from '@shardswap/interface'
import type { NodeReadOptions } from '../node.ts'
import { linkShape, listShape } from '../shapes.ts'
import { packTree } from '../tar.ts'
import { type Call, fetchOptions, type Handlers } from './call.ts'
import type { Query } from './query.ts'
import type { Reply } from './reply.ts'

/** Offset and length in bytes. */
function rangeOf(query: Query): NodeReadOptions {
  const offset = query.integer('offset')
  const length = query.integer('length')
  if ((offset ?? 0) < 0 || (length ?? 0) < 0) throw new InvalidParametersError('options "offset" and "length" are not negative')
  return {
    ...(offset === undefined ? {} : { offset }),
    ...(length === undefined ? {} : { length })
  }
}

function cat(call: Call): Reply {
  const { node, query } = call
  const [path, ...others] = query.args()
  if (others.length > 0) return { kind: 'bytes', bytes: catAll(call, [path, ...others]), contentType: 'text/plain' }
  let size: bigint | undefined
  const onSize = (bytes: bigint): void => {
    size = bytes
  }
  const bytes = node.cat(path, { ...fetchOptions(call), ...rangeOf(query), onSize })
  return { kind: 'bytes', bytes, contentType: 'text/plain', size: () => size }
}

async function* catAll(call: Call, paths: readonly string[]): AsyncGenerator<Uint8Array> {
  const { offset, length } = rangeOf(call.query)
  if (offset !== undefined || length !== undefined) throw new InvalidParametersError('options "offset" and "length" take one path')
  for (const path of paths) yield* call.node.cat(path, fetchOptions(call))
}

async function* loneFile(path: string, entries: AsyncIterable<TreeEntry>): AsyncGenerator<Uint8Array> {
  for await (const entry of entries) {
    if (entry.content === undefined) throw new NotAFileError(`"${path}" is no file: only an archive of it can be compressed`)
    yield* entry.content()
    return
  }
}

/** From 1, fast, to 9, small; 0 for none, and -1 for gzip's own. */
function compressionLevel(query: Query): number {
  const level = query.integer('compression-level') ?? -1
  if (level < -1 || level > 9) throw new InvalidParametersError('option "compression-level" is from 1 to 9')
  return level
}

async function* gzipped(bytes: AsyncIterable<Uint8Array>, level: number): AsyncGenerator<Uint8Array> {
  const gzip = createGzip({ level })
  // Whoever reads gets the error; this promise only must not count as unhandled.
  const fed = pipeline(bytes, gzip).catch(() => undefined)
  try {
    for await (const part of gzip) yield part as Uint8Array
  } finally {
    gzip.destroy()
    await fed
  }
}

function get(call: Call): Reply {
  const { node, query } = call
  const path = query.arg()
  const name = path.replace(/\/+$/, '').split('/').at(-1) ?? path
  const entries = node.tree(path, fetchOptions(call))
  if (query.flag('compress') !== true) return { kind: 'bytes', bytes: packTree(entries, name), contentType: 'application/x-tar' }
  // As Kubo: a lone file without an archive around it, where none is asked for.
  const bytes = query.flag('archive') === true ? packTree(entries, name) : loneFile(path, entries)
  return { kind: 'bytes', bytes: gzipped(bytes, compressionLevel(query)), contentType: 'application/gzip' }
}

async function ls(call: Call): Promise<Reply> {
  const { node, query } = call
  const paths = query.args()
  // Only without both nothing of the entries has to be fetched.
  const namesOnly = query.flag('size') === false && query.flag('resolve-type') === false
  const options = { ...fetchOptions(call), namesOnly }
  const lines = async function* (): AsyncGenerator<object> {
    for (const path of paths) for await (const entry of node.ls(path, options)) yield listShape(path, [entry])
  }
  if (query.flag('stream') === true) return { kind: 'lines', lines: lines() }
  const objects = []
  for (const path of paths) {
    const links = []
    for await (const entry of node.ls(path, options)) links.push(linkShape(entry))
    objects.push({ Hash: path, Links: links })
  }
  return { kind: 'json', value: { Objects: objects } }
}

export const readHandlers: Handlers = { cat, get, ls }
