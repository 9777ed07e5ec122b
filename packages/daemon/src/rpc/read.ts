/** `cat`, `get`, `ls`: reading UnixFS. */
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
  let size: bigint | undefined
  const onSize = (bytes: bigint): void => {
    size = bytes
  }
  const bytes = node.cat(query.arg(), { ...fetchOptions(call), ...rangeOf(query), onSize })
  return { kind: 'bytes', bytes, contentType: 'text/plain', size: () => size }
}

function get(call: Call): Reply {
  const { node, query } = call
  if (query.flag('compress') === true) throw new InvalidParametersError('option "compress" is not supported: compress the archive yourself')
  const path = query.arg()
  const name = path.replace(/\/+$/, '').split('/').at(-1) ?? path
  const entries = node.tree(path, fetchOptions(call))
  return { kind: 'bytes', bytes: packTree(entries, name), contentType: 'application/x-tar' }
}

async function ls(call: Call): Promise<Reply> {
  const { node, query } = call
  const paths = query.args()
  const options = fetchOptions(call)
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
