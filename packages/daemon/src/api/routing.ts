/** Where blocks and peers are, and who is told of ours. */
import type { AbortOptions, CID } from '@shardswap/interface'

/** A peer that routing named. */
export interface RoutedPeer {
  readonly peer: string
  /** Multiaddrs without the peer's id; none where only its id is known. */
  readonly addresses: readonly string[]
}

/** How many providers are enough. */
export interface FindProvidersOptions extends AbortOptions {
  /** 20 by default, as in Kubo. */
  readonly count?: number | undefined
}

/** What is announced with a block. */
export interface RoutingProvideOptions extends AbortOptions {
  /** With all that it leads to and is here. */
  readonly isRecursive?: boolean | undefined
}

/** Routing. Errors of all but `bootstrap`: OfflineError where no peer runs. */
export interface NodeRoutes {
  /** Providers of a block as they are found, each once. Errors: those of routers are no errors of the search. */
  findProviders(cid: CID, options?: FindProvidersOptions): AsyncIterable<RoutedPeer>
  /** Where a peer is. Errors: NotFoundError, InvalidParametersError. */
  findPeer(peer: string, options?: AbortOptions): Promise<RoutedPeer>
  /** Tells routers, now, that blocks are here. Errors: NotFoundError for one that is not, NoRouterError, RouterError. */
  provide(cids: readonly CID[], options?: RoutingProvideOptions): Promise<void>
  /** Multiaddrs of the peers to begin with. */
  bootstrap(options?: AbortOptions): Promise<readonly string[]>
}
