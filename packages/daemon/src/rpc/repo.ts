/** `repo/stat` and `repo/verify`. */
import { repoStatShape, verifyShape } from '../shapes.ts'
import type { Call, Handlers } from './call.ts'
import type { Reply } from './reply.ts'

async function stat({ node }: Call): Promise<Reply> {
  return { kind: 'json', value: repoStatShape(await node.repoStat()) }
}

async function* verify({ node, signal }: Call): AsyncGenerator<object> {
  let seen = 0
  let corrupt = false
  for await (const result of node.repoVerify({ signal })) {
    corrupt ||= !result.ok
    yield verifyShape(result, ++seen)
  }
  yield { Msg: corrupt ? 'verify complete, some blocks were corrupt.' : 'verify complete, all blocks validated.', Progress: seen }
}

export const repoHandlers: Handlers = {
  'repo/stat': stat,
  'repo/verify': (call) => ({ kind: 'lines', lines: verify(call) })
}
