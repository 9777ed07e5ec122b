/** `repo/stat` and `repo/verify`. */
import { CollectionError } from '../gc/errors.ts'
import { collectedShape } from '../pin-shapes.ts'
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

/** Kubo's: with `stream-errors` each error is a line, else the first one ends the answer, after all that was removed. */
async function* gc({ node, query, signal }: Call): AsyncGenerator<object> {
  const silent = query.flag('silent') ?? false
  const streamErrors = query.flag('stream-errors') ?? false
  let failure: Error | undefined
  for await (const line of node.garbage.collect({ signal })) {
    if (!('error' in line)) {
      if (!silent) yield collectedShape(line)
      continue
    }
    failure ??= line.error
    if (streamErrors) yield collectedShape(line)
  }
  if (failure !== undefined) throw streamErrors ? new CollectionError('encountered errors during gc run') : failure
}

export const repoHandlers: Handlers = {
  'repo/gc': (call) => ({ kind: 'lines', lines: gc(call) }),
  'repo/stat': stat,
  'repo/version': async ({ node }) => ({ kind: 'json', value: { Version: String((await node.version()).repoVersion) } }),
  'repo/verify': (call) => ({ kind: 'lines', lines: verify(call) })
}
