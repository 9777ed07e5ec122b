/** `routing/*` and `bootstrap`: where blocks and peers are. */
import { parseCid } from '../cid.ts'
import { foundPeerShape, providerShape } from '../routing-shapes.ts'
import type { Call, Handlers } from './call.ts'
import type { Reply } from './reply.ts'

async function* findProviders({ node, query, signal }: Call): AsyncGenerator<object> {
  const found = node.routing.findProviders(parseCid(query.arg()), { count: query.integer('num-providers'), signal })
  for await (const provider of found) yield providerShape(provider)
}

async function* findPeer({ node, query, signal }: Call): AsyncGenerator<object> {
  yield foundPeerShape(await node.routing.findPeer(query.arg(), { signal }))
}

/** What Kubo tells of its walk through the DHT, it tells only who asks for `verbose`; ours has nothing of it to tell. */
async function* provide({ node, query, signal }: Call): AsyncGenerator<object> {
  await node.routing.provide(query.cids(), { isRecursive: query.flag('recursive'), signal })
  yield* []
}

async function bootstrap({ node }: Call): Promise<Reply> {
  return { kind: 'json', value: { Peers: await node.routing.bootstrap() } }
}

export const routingHandlers: Handlers = {
  'routing/findprovs': (call) => ({ kind: 'lines', lines: findProviders(call) }),
  'routing/findpeer': (call) => ({ kind: 'lines', lines: findPeer(call) }),
  'routing/provide': (call) => ({ kind: 'lines', lines: provide(call) }),
  bootstrap,
  'bootstrap/list': bootstrap
}
