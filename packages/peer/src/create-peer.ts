import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Libp2p, Logger, PrivateKey } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
import { InvalidParametersError } from '@shardswap/interface'
import { MemoryDatastore } from 'datastore-core'
import { checkedLimits, partsFor } from './assemble.ts'
import { nowMs } from './clock.ts'
import { createNode } from './libp2p-node.ts'
import { registerExchange } from './metrics/exchange-metrics.ts'
import { registerMetrics } from './metrics/register.ts'
import { routingMetrics } from './metrics/routing-metrics.ts'
import { type PeerParts, ShardswapPeer } from './peer.ts'
import { DelegatedRouter } from './routing/delegated.ts'
import { type RoutingModules, routingModules } from './routing/modules.ts'
import { dialledPeers, NodeRouting } from './routing/node-routing.ts'
import type { Router } from './routing/types.ts'
import type { Peer, PeerInit } from './types.ts'

/**
 * A peer that fetches and serves blocks over Bitswap, started unless `start` is
 * false. What it knew of others comes back from the datastore, which must be open.
 * Errors: InvalidParametersError for limits that cannot work, a map from score to share that there is not, a private key that is
 * not the given node's, or addresses that name no peer; SwarmKeyError; what libp2p says where an address cannot be listened on.
 */
export async function createPeer(init: PeerInit = {}): Promise<Peer> {
  const peer = await newPeer(init)
  if (init.start !== false) await peer.start()
  return peer
}

/** An exchange with the libp2p node that it runs on, and routing beside it. */
class NodePeer extends ShardswapPeer<Libp2p> implements Peer {
  readonly routing: NodeRouting

  constructor(init: PeerInit, parts: PeerParts<Libp2p>, routing: NodeRouting) {
    super(init, parts)
    this.routing = routing
  }

  override async start(): Promise<void> {
    await super.start()
    this.routing.start()
  }

  override async stop(): Promise<void> {
    await this.routing.stop()
    await super.stop()
  }
}

/** As `createPeer`, not started. */
export async function newPeer(init: PeerInit): Promise<NodePeer> {
  checkedLimits(init)
  refuseForGivenNode(init)
  const peers = dialledPeers(init)
  const privateKey = await keyOf(init)
  const log = (init.logger ?? defaultLogger()).forComponent('shardswap:routing')
  const modules = await routingModules(init, log, nowMs)
  const withKey = privateKey === undefined ? init : { ...init, privateKey }
  const libp2p = init.libp2p ?? (await createNode(withKey, modules))
  const ownNode = init.libp2p === undefined ? libp2p : undefined
  const { routers, forget } = routersOf(init, libp2p, modules, log)
  const { provide, datastore = new MemoryDatastore() } = init
  const { localNetwork } = modules
  const routing = new NodeRouting({ host: libp2p, routers, peers, provide, forget, localNetwork, datastore, wallMs: Date.now, log })
  const lookups = routers.length === 0 ? {} : { routing: { findProviders: dialable(libp2p, routing) } }
  // Nodes that test servers have to be on the same network as those.
  const others = async (other: PeerInit): Promise<NodePeer> => {
    return await newPeer(init.swarmKey === undefined || other.libp2p !== undefined ? other : { ...other, swarmKey: init.swarmKey })
  }
  const parts = await partsFor({ ...init, ...lookups }, { libp2p, ownNode, privateKey, newPeer: others })
  const peer = new NodePeer({ ...init, ...lookups }, parts, routing)
  registerExchange(libp2p.metrics, peer)
  if (libp2p.metrics !== undefined) registerMetrics(libp2p.metrics, routingMetrics, () => routing.stat())
  return peer
}

/** Providers that can be dialled at all: of those that public routers name, many speak QUIC alone, and a fetch takes a few. */
function dialable(libp2p: Libp2p, routing: NodeRouting): NodeRouting['findProviders'] {
  return async function* (cid, options) {
    for await (const provider of routing.findProviders(cid, options)) {
      const { router, multiaddrs = [] } = provider
      // What is behind a name in the DNS is seen when it is dialled.
      const isNamed = multiaddrs.some((address) => address.toString().startsWith('/dns'))
      if (router === givenRouter || isNamed || multiaddrs.length === 0 || (await libp2p.isDialable(multiaddrs))) yield provider
    }
  }
}

/** The name of the caller's own: who is named by it is dialled, come what may. */
const givenRouter = 'given'

/** The routers of a peer, and what tells them that something is gone. */
function routersOf(
  init: PeerInit,
  libp2p: Libp2p,
  modules: RoutingModules,
  log: Logger
): { readonly routers: readonly Router[]; readonly forget: (cid: Parameters<NodeRouting['announce']>[0]) => Promise<void> } {
  const { routing, delegatedRouters = [] } = init
  const dht = init.libp2p === undefined ? modules.dhtOf(libp2p) : undefined
  const given: readonly Router[] =
    routing === undefined ? [] : [{ name: givenRouter, findProviders: (cid, options) => routing.findProviders(cid, options) }]
  const delegated = delegatedRouters.map((url) => {
    if (!URL.canParse(url)) throw new InvalidParametersError(`delegatedRouters: ${url} is no URL`)
    return new DelegatedRouter(url, log)
  })
  return {
    routers: [...given, ...(dht === undefined ? [] : [dht]), ...delegated],
    forget: async (cid) => await dht?.forget(cid)
  }
}

/** What a node has to be made with cannot be had of one that is there: a private network above all must not be left out unsaid. */
function refuseForGivenNode({ libp2p, swarmKey, dht = 'off', mdns = false }: PeerInit): void {
  if (libp2p === undefined || (swarmKey === undefined && dht === 'off' && mdns === false)) return
  throw new InvalidParametersError('swarmKey, dht and mdns are for a node that createPeer makes: make the given libp2p node with them')
}

/** The key of our identity: the caller's, or a new one for a node that we make. */
async function keyOf({ libp2p, privateKey }: PeerInit): Promise<PrivateKey | undefined> {
  if (libp2p === undefined) return privateKey ?? (await generateKeyPair('Ed25519'))
  if (privateKey !== undefined && libp2p.peerId.publicKey?.equals(privateKey.publicKey) !== true) {
    throw new InvalidParametersError('privateKey is not the key of the libp2p node that was given')
  }
  return privateKey
}
