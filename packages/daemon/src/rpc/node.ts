/** `id`, `version`, `shutdown`. */
import { idShape, versionShape } from '../shapes.ts'
import type { Call, Handlers } from './call.ts'
import type { Reply } from './reply.ts'

async function id({ node, query, signal }: Call): Promise<Reply> {
  const own = await node.id()
  const asked = query.text('arg')
  return { kind: 'json', value: idShape(asked === undefined || asked === own.id ? own : await node.swarm.identity(asked, { signal })) }
}

async function version({ node, repoPath }: Call): Promise<Reply> {
  return { kind: 'json', value: versionShape(await node.version(), repoPath) }
}

function shutdown(call: Call): Reply {
  call.shutdown()
  return { kind: 'empty' }
}

export const nodeHandlers: Handlers = { id, version, shutdown }
