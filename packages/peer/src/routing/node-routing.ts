import type { AbortOptions, CID } from '@shardswap/interface'
import type { Logger, PeerId } from '@libp2p/interface'
import type { Datastore } from 'interface-datastore'
import type { Host } from '../network/host.ts'
import { type NamedPeer, namedPeers } from './addresses.ts'
import { AnnouncePlan } from './announce-plan.ts'
import { Announced } from './announced.ts'
import { Announcer } from './announcer.ts'
import { Bootstrap } from './bootstrap.ts'
import type { LocalNetwork } from './local-network.ts'
import { announceEveryMs, announceRetryMs, announceRoundEveryMs, bootstrapPeersMax, peeringPeersMax } from './limits.ts'
import { Peering } from './peering.ts'
import { Routers } from './routers.ts'
import type { PeerRouting, ProvideInit, RoutedProvider, Router, RoutingInit, RoutingStat } from './types.ts'

/** What a peer's init says of peers to be dialled. Errors: InvalidParametersError. */
export function dialledPeers(init: RoutingInit): { readonly bootstrap: readonly NamedPeer[]; readonly peering: readonly NamedPeer[] } {
  return {
    bootstrap: namedPeers(init.bootstrap ?? [], 'bootstrap', bootstrapPeersMax),
    peering: namedPeers(init.peering ?? [], 'peering', peeringPeersMax)
  }
}

export interface NodeRoutingParts {
  readonly host: Host
  readonly routers: readonly Router[]
  readonly peers: ReturnType<typeof dialledPeers>
  readonly provide: ProvideInit | undefined
  /** Routers that tell again by themselves hear of what is gone. */
  readonly forget: (cid: CID) => Promise<void>
  readonly localNetwork: LocalNetwork | undefined
  readonly datastore: Datastore
  /** Milliseconds since 1970. */
  readonly wallMs: () => number
  readonly log: Logger
}

/** Routing as a part of a peer: it starts after the node and stops before it. */
export class NodeRouting implements PeerRouting {
  readonly #host: Host
  readonly #routers: Routers
  readonly #peering: Peering
  readonly #bootstrap: Bootstrap
  readonly #localNetwork: LocalNetwork | undefined
  readonly #announcer: Announcer | undefined
  #isStarted = false

  constructor({ host, routers, peers, provide, forget, localNetwork, datastore, wallMs, log }: NodeRoutingParts) {
    this.#host = host
    this.#routers = new Routers(routers, log)
    this.#peering = new Peering(host, peers.peering, log)
    this.#bootstrap = new Bootstrap(host, peers.bootstrap, log)
    this.#localNetwork = localNetwork
    if (provide === undefined || !this.#routers.takesAnnouncements) return
    const limits = { everyMs: provide.everyMs ?? announceEveryMs, roundEveryMs: announceRoundEveryMs, retryMs: announceRetryMs }
    this.#announcer = new Announcer({
      plan: new AnnouncePlan(limits, wallMs()),
      announced: new Announced(datastore),
      keys: provide.keys,
      tell: async (cid, signal) => await this.#routers.provide(cid, { signal }),
      untell: forget,
      nowMs: wallMs,
      log
    })
  }

  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#localNetwork?.start(this.#host)
    this.#peering.start()
    this.#bootstrap.start()
    this.#announcer?.start()
  }

  async stop(): Promise<void> {
    this.#localNetwork?.stop()
    this.#peering.stop()
    this.#bootstrap.stop()
    this.#routers.stop()
    await this.#announcer?.stop()
  }

  async *findProviders(cid: CID, options?: AbortOptions): AsyncGenerator<RoutedProvider> {
    yield* this.#routers.findProviders(cid, options)
  }

  async findPeer(peer: PeerId, options?: AbortOptions): Promise<RoutedProvider> {
    return await this.#routers.findPeer(peer, options)
  }

  async provide(cid: CID, options?: AbortOptions): Promise<void> {
    await this.#routers.provide(cid, options)
  }

  announce(cid: CID): void {
    this.#announcer?.announce(cid)
  }

  stat(): RoutingStat {
    const announcer = this.#announcer
    return {
      routers: this.#routers.names,
      peeringPeers: this.#peering.peers,
      peeringConnected: this.#peering.connected,
      announcesWaiting: announcer?.waiting ?? 0,
      announced: announcer?.announced ?? 0,
      announcesFailed: announcer?.failed ?? 0,
      ...(announcer === undefined ? {} : { nextAnnounceAtMs: announcer.nextRoundAtMs })
    }
  }
}
