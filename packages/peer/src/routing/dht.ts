/** The DHT as a router. */
import type { CID } from '@shardswap/interface'
import type { PeerId } from '@libp2p/interface'
import { kadDHT, type KadDHT, passthroughMapper, removePrivateAddressesMapper } from '@libp2p/kad-dht'
import { RouterError } from '../errors.ts'
import type { Provider } from '../types.ts'
import type { Router, RouterOptions } from './types.ts'

export interface DhtOptions {
  readonly mode: 'client' | 'server'
  /** A private network's peers are where that network is: their private addresses count. */
  readonly isPrivate: boolean
}

/** The service for libp2p; it needs identify and ping beside it. */
export function dhtService({ mode, isPrivate }: DhtOptions): (components: object) => KadDHT {
  const make = kadDHT({
    clientMode: mode === 'client',
    peerInfoMapper: isPrivate ? passthroughMapper : removePrivateAddressesMapper
  })
  // What libp2p gives to its services has ping among it once a service of that name is there; its types do not say so.
  return (components) => make(components as Parameters<typeof make>[0])
}

/** Asks the DHT of a node, and tells it. */
export class DhtRouter implements Router {
  readonly name = 'dht'
  readonly #dht: KadDHT

  constructor(dht: KadDHT) {
    this.#dht = dht
  }

  async *findProviders(cid: CID, options: RouterOptions): AsyncGenerator<Provider> {
    for await (const event of this.#dht.findProviders(cid, options)) if (event.name === 'PROVIDER') yield* event.providers
  }

  async findPeer(peer: PeerId, options: RouterOptions): Promise<Provider | undefined> {
    for await (const event of this.#dht.findPeer(peer, options)) if (event.name === 'FINAL_PEER') return event.peer
    return undefined
  }

  /** Errors: RouterError where no peer took the record. */
  async provide(cid: CID, options: RouterOptions): Promise<void> {
    let told = 0
    let failure: unknown
    for await (const event of this.#dht.provide(cid, options)) {
      if (event.name === 'PEER_RESPONSE' && event.messageName === 'ADD_PROVIDER') told++
      else if (event.name === 'QUERY_ERROR') failure = event.error
    }
    if (told === 0) throw new RouterError('no peer of the DHT could be told', { cause: failure })
  }

  /** The DHT says what it was told again by itself, unless it hears that it is no longer so. */
  async forget(cid: CID): Promise<void> {
    await this.#dht.cancelReprovide(cid)
  }
}
