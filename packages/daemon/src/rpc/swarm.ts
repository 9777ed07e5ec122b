/** `swarm/peers` and `swarm/connect`. */
import { peerShape } from '../shapes.ts'
import type { Call, Handlers } from './call.ts'
import type { Reply } from './reply.ts'

async function peers({ node }: Call): Promise<Reply> {
  const connected = await node.swarmPeers()
  return { kind: 'json', value: { Peers: connected.map(peerShape) } }
}

async function connect({ node, query, signal }: Call): Promise<Reply> {
  const lines: string[] = []
  for (const address of query.args()) lines.push(`connect ${await node.swarmConnect(address, { signal })} success`)
  return { kind: 'json', value: { Strings: lines } }
}

export const swarmHandlers: Handlers = { 'swarm/peers': peers, 'swarm/connect': connect }
