/** `stats/bw`: what went over the network; `stats/repo`, Kubo's other name of `repo/stat`. */
import { setTimeout } from 'node:timers/promises'
import { InvalidParametersError } from '@shardswap/interface'
import { parseDurationMs } from '../duration.ts'
import { bandwidthShape } from '../stats-shapes.ts'
import type { Call, Handlers } from './call.ts'
import { repoHandlers } from './repo.ts'

async function* bandwidth({ node, query, signal }: Call): AsyncGenerator<object> {
  if (query.text('peer') !== undefined)
    throw new InvalidParametersError('bytes are counted by protocol, not by peer: "shardswap ledger" has those of blocks')
  const protocol = query.text('proto')
  const isPolling = query.flag('poll') === true
  const intervalMs = Math.max(1, parseDurationMs(query.text('interval') ?? '1s'))
  for (;;) {
    yield bandwidthShape(await node.stats.bandwidth({ protocol }))
    if (!isPolling) return
    await setTimeout(intervalMs, undefined, { signal })
  }
}

function renamed(name: string, handler: Handlers[string] | undefined): Handlers {
  return handler === undefined ? {} : { [name]: handler }
}

export const statsHandlers: Handlers = {
  ...renamed('stats/repo', repoHandlers['repo/stat']),
  'stats/bw': (call) => ({ kind: 'lines', lines: bandwidth(call) })
}
