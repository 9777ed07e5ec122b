import type {
  AbortOptions,
  ComponentLogger,
  Connection,
  Libp2pEvents,
  Metrics,
  Peer,
  PeerData,
  PeerId,
  PrivateKey,
  StreamHandler,
  StreamHandlerOptions
} from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { Datastore } from 'interface-datastore'
import type { Routing } from '../types.ts'

type Listener<K extends keyof Libp2pEvents> = (event: Libp2pEvents[K]) => void

/** Tells of connections and of what the peers at their other ends speak. */
interface HostEvents {
  /** Calls `listener` at each event of a type. */
  addEventListener<K extends keyof Libp2pEvents>(type: K, listener: Listener<K>): void
  /** No longer calls it. */
  removeEventListener<K extends keyof Libp2pEvents>(type: K, listener: Listener<K>): void
}

/** What libp2p remembers of peers. */
interface KnownPeers {
  get(peer: PeerId, options?: AbortOptions): Promise<Peer>
  merge(peer: PeerId, data: PeerData, options?: AbortOptions): Promise<Peer>
}

/**
 * All that the exchange needs of libp2p. A whole node fits, and so do the components that libp2p gives to its services,
 * see `hostOf`; nothing else of libp2p is reached from inside.
 */
export interface Host extends HostEvents {
  readonly peerId: PeerId
  readonly peerStore: KnownPeers
  /** The connections that are open, of one peer or of all. */
  getConnections(peer?: PeerId): Connection[]
  /** The peers that are connected. */
  getPeers(): PeerId[]
  /** The addresses that we announce. */
  getMultiaddrs(): Multiaddr[]
  /** Connects to a peer, or gives the connection that there is. */
  dial(target: PeerId | Multiaddr | Multiaddr[], options?: AbortOptions): Promise<Connection>
  /** From now on answers streams of these protocols. */
  handle(protocols: string | string[], handler: StreamHandler, options?: StreamHandlerOptions): Promise<void>
  /** Answers them no longer. */
  unhandle(protocols: string | string[]): Promise<void>
}

/** The components of libp2p that `shardswap()` takes; libp2p passes them to its services by itself. */
export interface ShardswapComponents {
  readonly peerId: PeerId
  /** Signs what peers ask of their own scores. */
  readonly privateKey: PrivateKey
  readonly logger: ComponentLogger
  readonly events: HostEvents
  readonly peerStore: KnownPeers
  readonly datastore: Datastore
  /** Told what docs/metrics.md lists, where the node has any. */
  readonly metrics?: Metrics
  readonly contentRouting: Routing
  readonly connectionManager: {
    getConnections(peer?: PeerId): Connection[]
    openConnection(target: PeerId | Multiaddr | Multiaddr[], options?: AbortOptions): Promise<Connection>
  }
  readonly registrar: {
    handle(protocol: string, handler: StreamHandler, options?: StreamHandlerOptions): Promise<void>
    unhandle(protocols: string | string[]): Promise<void>
  }
  readonly addressManager: { getAddresses(): Multiaddr[] }
}

/** The host that a service's components make up. */
export function hostOf(components: ShardswapComponents): Host {
  const { peerId, peerStore } = components
  // Looked up with each call: libp2p may set the others after it has made its services.
  return {
    peerId,
    peerStore,
    addEventListener: (type, listener) => components.events.addEventListener(type, listener),
    removeEventListener: (type, listener) => components.events.removeEventListener(type, listener),
    getConnections: (peer) => components.connectionManager.getConnections(peer),
    getPeers: () => {
      const peers = components.connectionManager.getConnections().map(({ remotePeer }) => [remotePeer.toString(), remotePeer] as const)
      return [...new Map(peers).values()]
    },
    getMultiaddrs: () => components.addressManager.getAddresses(),
    dial: async (target, options) => await components.connectionManager.openConnection(target, options),
    handle: async (protocols, handler, options) => {
      await Promise.all([protocols].flat().map(async (protocol) => await components.registrar.handle(protocol, handler, options)))
    },
    unhandle: async (protocols) => await components.registrar.unhandle(protocols)
  }
}
