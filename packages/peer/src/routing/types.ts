import type { AbortOptions, CID } from '@shardswap/interface'
import type { PeerId } from '@libp2p/interface'
import type { Provider, Routing } from '../types.ts'

/** How peers and providers are found, and what is announced. Nothing of it is on by default. */
export interface RoutingInit {
  /** Multiaddrs of peers to begin with: dialled at the start, and again whenever few peers are connected. */
  readonly bootstrap?: readonly string[]
  /** Multiaddrs of peers to stay connected to, for as long as this peer runs. */
  readonly peering?: readonly string[]
  /** URLs of delegated routers, which answer at `/routing/v1`. */
  readonly delegatedRouters?: readonly string[]
  /** What is announced to the routers, and how often. */
  readonly provide?: ProvideInit
}

/** Routing that needs a libp2p node made for it. */
export interface NodeRoutingInit extends RoutingInit {
  /** Find peers of the local network, and be found; `serviceTag` names a network of its own. */
  readonly mdns?: boolean | { readonly serviceTag: string }
  /** Ask the DHT (`client`), or serve it too (`server`). On a private network it is one of that network's own. */
  readonly dht?: 'off' | 'client' | 'server'
  /** The text of a `swarm.key`: only peers that have the same one can be connected. */
  readonly swarmKey?: string | Uint8Array
  /** Multiaddrs, and ranges such as `/ip4/10.0.0.0/ipcidr/8`, that no peer is told of. */
  readonly noAnnounce?: readonly string[]
}

/** What is announced, and how often. */
export interface ProvideInit {
  /** Everything that is to be announced now: gone through at the start, and again when the first of it is due. */
  readonly keys: (options: AbortOptions) => AsyncIterable<CID>
  /** How long after it was announced a CID is announced again, in milliseconds; 22 h by default. */
  readonly everyMs?: number
}

/** Routers are always told when to give up. */
export interface RouterOptions {
  readonly signal: AbortSignal
}

/** One way to find providers, peers, or both, and to tell others of what is here. */
export interface Router {
  /** For people and logs, e.g. `dht`. */
  readonly name: string
  /** Those who have a block, as they are found. */
  findProviders?(cid: CID, options: RouterOptions): AsyncIterable<Provider>
  /** Undefined where this router knows nothing of the peer. */
  findPeer?(peer: PeerId, options: RouterOptions): Promise<Provider | undefined>
  /** Errors: any, where nobody was told. */
  provide?(cid: CID, options: RouterOptions): Promise<void>
}

/** What a router named, and which one. */
export interface RoutedProvider extends Provider {
  readonly router: string
}

/** Sizes of what routing holds, and counts of what it did. */
export interface RoutingStat {
  /** Names of the routers. */
  readonly routers: readonly string[]
  /** Peers to stay connected to, and how many of them are. */
  readonly peeringPeers: number
  readonly peeringConnected: number
  /** CIDs that wait to be announced, or are being announced. */
  readonly announcesWaiting: number
  readonly announced: number
  readonly announcesFailed: number
  /** When everything to be announced is gone through next, in milliseconds since 1970; undefined while nothing is planned. */
  readonly nextAnnounceAtMs?: number
}

/** All routers of a peer together. */
export interface PeerRouting extends Routing {
  /** Asks all routers at once; each provider once, as they come. A router that fails or hangs holds nobody back. */
  findProviders(cid: CID, options?: AbortOptions): AsyncGenerator<RoutedProvider>
  /** Where a peer is; the first answer with addresses counts. Errors: NotFoundError. */
  findPeer(peer: PeerId, options?: AbortOptions): Promise<RoutedProvider>
  /** Tells routers that the block is here, once. Errors: NoRouterError where there is nobody to tell, else the routers' own. */
  provide(cid: CID, options?: AbortOptions): Promise<void>
  /** Tells routers in the background, if that is due and anything is announced at all. */
  announce(cid: CID): void
  /** What routing holds and did, for metrics and tests. */
  stat(): RoutingStat
}
