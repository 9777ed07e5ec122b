/** The modules of libp2p that routing needs, loaded only where they are used: they take longer to load than a peer to start. */
import type { ConnectionProtector, Libp2p, Logger } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { ServiceFactoryMap } from 'libp2p'
import { addressFilter } from './addresses.ts'
import type { DhtRouter } from './dht.ts'
import type { LocalNetwork } from './local-network.ts'
import type { NodeRoutingInit } from './types.ts'

export interface RoutingModules {
  readonly services: ServiceFactoryMap
  readonly connectionProtector: (() => ConnectionProtector) | undefined
  readonly announceFilter: ((addrs: Multiaddr[]) => Multiaddr[]) | undefined
  readonly localNetwork: LocalNetwork | undefined
  readonly discovery: ReturnType<LocalNetwork['discovery']> | undefined
  /** The DHT of the node that was made with the services. */
  dhtOf(libp2p: Libp2p): DhtRouter | undefined
}

/** What a node is to be made with. Errors: SwarmKeyError; InvalidParametersError for addresses that are none. */
export async function routingModules(init: NodeRoutingInit, log: Logger, nowMs: () => number): Promise<RoutingModules> {
  const { mdns = false, dht = 'off', swarmKey, noAnnounce = [] } = init
  const protector = swarmKey === undefined ? undefined : (await import('./private-network.ts')).privateNetwork(swarmKey)
  const ofDht = dht === 'off' ? undefined : await dhtModules(dht, swarmKey !== undefined)
  const localNetwork = mdns === false ? undefined : new (await import('./local-network.ts')).LocalNetwork(log, nowMs)
  return {
    services: ofDht?.services ?? {},
    connectionProtector: protector,
    announceFilter: noAnnounce.length === 0 ? undefined : addressFilter(noAnnounce),
    localNetwork,
    discovery: localNetwork?.discovery(typeof mdns === 'object' ? mdns.serviceTag : undefined),
    dhtOf: (libp2p) => ofDht?.routerOf(libp2p)
  }
}

async function dhtModules(
  mode: 'client' | 'server',
  isPrivate: boolean
): Promise<{ readonly services: ServiceFactoryMap; routerOf(libp2p: Libp2p): DhtRouter }> {
  const { dhtService, DhtRouter } = await import('./dht.ts')
  return {
    services: { dht: dhtService({ mode, isPrivate }) },
    routerOf: (libp2p) => new DhtRouter((libp2p.services as unknown as { dht: ConstructorParameters<typeof DhtRouter>[0] }).dht)
  }
}
