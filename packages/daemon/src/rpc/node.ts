/** `id`, `version`, `shutdown`. */
import { InvalidParametersError } from '@shardswap/interface'
import { idShape, versionShape } from '../shapes.ts'
import type { Call, Handlers } from './call.ts'
import type { Reply } from './reply.ts'

async function id({ node, query }: Call): Promise<Reply> {
  const own = await node.id()
  const asked = query.text('arg')
  if (asked !== undefined && asked !== own.id) throw new InvalidParametersError('only the id of this node can be asked for')
  return { kind: 'json', value: idShape(own) }
}

async function version({ node, repoPath }: Call): Promise<Reply> {
  return { kind: 'json', value: versionShape(await node.version(), repoPath) }
}

function shutdown(call: Call): Reply {
  call.shutdown()
  return { kind: 'empty' }
}

export const nodeHandlers: Handlers = { id, version, shutdown }
