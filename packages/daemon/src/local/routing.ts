/** Routing of a peer that runs, and what a repo says of it. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { peerIdFromString } from '@libp2p/peer-id'
import { refs } from '@shardswap/content'
import { type AbortOptions, type BlockSource, type CID, InvalidParametersError, NotFoundError } from '@shardswap/interface'
import type { NodeRoutingInit, Peer, RoutedProvider } from '@shardswap/peer'
import { profileConfig, type Repo } from '@shardswap/repo'
import { checkPeerId } from '../address.ts'
import type { FindProvidersOptions, NodeRoutes, RoutedPeer, RoutingProvideOptions } from '../api/routing.ts'
import { reasonFor } from '../errors.ts'
import type { Announcing } from './announcing.ts'

/** Providers that are enough, where nothing is said; Kubo's number. */
const providersFoundMax = 20

/** What routing is to know of the node. */
export interface NodeRoutingSource {
  readonly repo: Repo
  readonly announcing: Announcing
  readonly onWarning: (message: string) => void
}

/** The text of the repo's `swarm.key`, where there is one: with it the node is on a private network. */
async function readSwarmKey(repo: Repo): Promise<Uint8Array | undefined> {
  try {
    return await readFile(join(repo.path, 'swarm.key'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** What the profile for the public network writes is of no use on a private one, and would be told what is looked for there. */
function withoutPublic(named: readonly string[], key: 'bootstrap' | 'delegated', onWarning: (message: string) => void): readonly string[] {
  const { routing } = profileConfig('public') as { routing: Readonly<Record<typeof key, readonly string[]>> }
  const others = named.filter((each) => !routing[key].includes(each))
  if (others.length < named.length) {
    onWarning(`swarm.key makes this node private, so what is public in routing.${key} is left out: change it with "shardswap config set"`)
  }
  return others
}

/**
 * How a node's peer finds others, by the config of its repo. One that runs for a single command does not, but stays on
 * its private network.
 */
export async function routingInit(
  source: NodeRoutingSource,
  isLasting: boolean
): Promise<NodeRoutingInit & { readonly announce?: readonly string[] }> {
  const { repo, onWarning } = source
  const { addresses, routing } = repo.config
  const swarmKey = await readSwarmKey(repo)
  const network = swarmKey === undefined ? {} : { swarmKey }
  if (!isLasting) return network
  const provide = source.announcing.provide()
  return {
    ...network,
    bootstrap: swarmKey === undefined ? routing.bootstrap : withoutPublic(routing.bootstrap, 'bootstrap', onWarning),
    delegatedRouters: swarmKey === undefined ? routing.delegated : withoutPublic(routing.delegated, 'delegated', onWarning),
    peering: routing.peering,
    mdns: routing.mdns,
    dht: routing.dht,
    noAnnounce: addresses.noAnnounce,
    ...(addresses.announce.length === 0 ? {} : { announce: addresses.announce }),
    ...(provide === undefined ? {} : { provide })
  }
}

/** What the node does with routing at a call. */
export interface LocalRoutesInit {
  readonly repo: Repo
  /** The peer, started. Errors: OfflineError. */
  readonly peer: () => Promise<Peer>
  /** The blocks of the repo. */
  readonly local: BlockSource
}

export class LocalRoutes implements NodeRoutes {
  readonly #init: LocalRoutesInit

  constructor(init: LocalRoutesInit) {
    this.#init = init
  }

  async *findProviders(cid: CID, { count = providersFoundMax, signal }: FindProvidersOptions = {}): AsyncGenerator<RoutedPeer> {
    if (count < 1) throw new InvalidParametersError('number of providers must be greater than 0')
    const { routing } = await this.#init.peer()
    let found = 0
    try {
      for await (const provider of routing.findProviders(cid, { signal })) {
        yield routedPeer(provider)
        if (++found >= count) return
      }
    } catch (error) {
      throw reasonFor(error, signal)
    }
  }

  async findPeer(peer: string, { signal }: AbortOptions = {}): Promise<RoutedPeer> {
    checkPeerId(peer)
    const { routing, libp2p } = await this.#init.peer()
    const id = peerIdFromString(peer)
    // Whoever is connected is where it is connected.
    const [connection] = libp2p.getConnections(id)
    if (connection !== undefined) return routedPeer({ id, multiaddrs: [connection.remoteAddr] })
    try {
      return routedPeer(await routing.findPeer(id, { signal }))
    } catch (error) {
      throw reasonFor(error, signal)
    }
  }

  async provide(cids: readonly CID[], { isRecursive = false, signal }: RoutingProvideOptions = {}): Promise<void> {
    const { repo, local } = this.#init
    for (const cid of cids) {
      if (!(await repo.blocks.has(cid))) throw new NotFoundError(`block ${cid.toString()} not found locally, cannot provide`)
    }
    const { routing } = await this.#init.peer()
    try {
      for (const cid of cids) {
        await routing.provide(cid, { signal })
        if (!isRecursive) continue
        for await (const { to } of refs(local, [cid.toString()], { recursive: true, unique: true, signal }))
          await routing.provide(to, { signal })
      }
    } catch (error) {
      throw reasonFor(error, signal)
    }
  }

  async bootstrap(): Promise<readonly string[]> {
    return this.#init.repo.config.routing.bootstrap
  }
}

function routedPeer({ id, multiaddrs = [] }: Pick<RoutedProvider, 'id' | 'multiaddrs'>): RoutedPeer {
  return { peer: id.toString(), addresses: multiaddrs.map((address) => address.toString().replace(/\/p2p\/[^/]+$/, '')) }
}
