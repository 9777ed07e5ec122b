/** `swarm/*` and `ping`: connections. */
import { disconnectedText, addressesShape, pingShape } from '../network-shapes.ts'
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

async function disconnect({ node, query }: Call): Promise<Reply> {
  const lines: string[] = []
  for (const address of query.args()) lines.push(disconnectedText(await node.swarm.disconnect(address)))
  return { kind: 'json', value: { Strings: lines } }
}

async function addresses({ node }: Call): Promise<Reply> {
  return { kind: 'json', value: addressesShape(await node.swarm.addresses()) }
}

async function ownAddresses({ node, query }: Call): Promise<Reply> {
  const own = await node.swarm.ownAddresses()
  const suffix = query.flag('id') === true ? `/p2p/${(await node.id()).id}` : ''
  return { kind: 'json', value: { Strings: own.map((address) => `${address}${suffix}`) } }
}

async function* ping({ node, query, signal }: Call): AsyncGenerator<object> {
  const count = query.integer('count')
  for (const peer of query.args()) for await (const step of node.swarm.ping(peer, { count, signal })) yield pingShape(step)
}

export const swarmHandlers: Handlers = {
  'swarm/peers': peers,
  'swarm/connect': connect,
  'swarm/disconnect': disconnect,
  'swarm/addrs': addresses,
  'swarm/addrs/local': ownAddresses,
  'swarm/addrs/listen': ownAddresses,
  ping: (call) => ({ kind: 'lines', lines: ping(call) })
}
