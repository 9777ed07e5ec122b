/** `refs` and `refs/local`: links, and what is in the repo. */
import { InvalidParametersError } from '@shardswap/interface'
import type { DagRefsOptions } from '../api/dag.ts'
import { edgeFormat } from '../dag-shapes.ts'
import { type Call, fetchOptions, type Handlers } from './call.ts'
import type { Query } from './query.ts'

function refsOptions(query: Query): DagRefsOptions {
  const format = query.text('format')
  const edges = query.flag('edges') ?? false
  if (edges && format !== undefined && format !== '<dst>')
    throw new InvalidParametersError('using format argument with edges is not allowed')
  return {
    recursive: query.flag('recursive') ?? false,
    unique: query.flag('unique') ?? false,
    maxDepth: query.integer('max-depth') ?? -1,
    format: edges ? edgeFormat : format
  }
}

async function* linksOfAll(call: Call, paths: readonly string[]): AsyncGenerator<object> {
  const options = { ...refsOptions(call.query), ...fetchOptions(call) }
  for await (const text of call.node.dag.refs(paths, options)) yield { Ref: text, Err: '' }
}

async function* local({ node, signal }: Call): AsyncGenerator<object> {
  for await (const cid of node.dag.localRefs({ signal })) yield { Ref: cid.toString(), Err: '' }
}

export const refsHandlers: Handlers = {
  refs: (call) => ({ kind: 'lines', lines: linksOfAll(call, call.query.args()) }),
  'refs/local': (call) => ({ kind: 'lines', lines: local(call) }),
  'repo/ls': (call) => ({ kind: 'lines', lines: local(call) })
}
