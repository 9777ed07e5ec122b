/** The DHT as a router. */
import type { CID } from '@shardswap/interface'
import type { PeerId } from '@libp2p/interface'
import { kadDHT, type KadDHT, type QueryEvent, passthroughMapper, removePrivateAddressesMapper } from '@libp2p/kad-dht'
import { RouterError } from '../errors.ts'
import type { Provider } from '../types.ts'
import { dhtFirstPeerMs } from './limits.ts'
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
  readonly #firstPeerMs: number

  /** `firstPeerMs`: how long a question waits where the DHT has no peer to ask. */
  constructor(dht: KadDHT, firstPeerMs = dhtFirstPeerMs) {
    this.#dht = dht
    this.#firstPeerMs = firstPeerMs
  }

  async *findProviders(cid: CID, { signal }: RouterOptions): AsyncGenerator<Provider> {
    for await (const event of this.#ask((signal) => this.#dht.findProviders(cid, { signal }), signal))
      if (event.name === 'PROVIDER') yield* event.providers
  }

  async findPeer(peer: PeerId, { signal }: RouterOptions): Promise<Provider | undefined> {
    for await (const event of this.#ask((signal) => this.#dht.findPeer(peer, { signal }), signal))
      if (event.name === 'FINAL_PEER') return event.peer
    return undefined
  }

  /** Errors: RouterError where no peer took the record. */
  async provide(cid: CID, { signal }: RouterOptions): Promise<void> {
    let told = 0
    let failure: unknown
    for await (const event of this.#ask((signal) => this.#dht.provide(cid, { signal }), signal)) {
      if (event.name === 'PEER_RESPONSE' && event.messageName === 'ADD_PROVIDER') told++
      else if (event.name === 'QUERY_ERROR') failure = event.error
    }
    if (told === 0) throw new RouterError('no peer of the DHT could be told', { cause: failure })
  }

  /** What the DHT tells of a question. While it knows no peer it says nothing, for as long as it is let: without a network for ever. */
  async *#ask(question: (signal: AbortSignal) => AsyncIterable<QueryEvent>, signal: AbortSignal): AsyncGenerator<QueryEvent> {
    const alone = new AbortController()
    const timer = setTimeout(() => alone.abort(), this.#firstPeerMs)
    try {
      for await (const event of question(AbortSignal.any([signal, alone.signal]))) {
        // What it knows itself, it tells before it asks anybody.
        if (event.name === 'DIAL_PEER' || event.name === 'SEND_QUERY') clearTimeout(timer)
        yield event
      }
    } catch (error) {
      if (!alone.signal.aborted || signal.aborted) throw error
      throw new RouterError(`the DHT found no peer to ask within ${this.#firstPeerMs / 1000} s: is there a network?`, { cause: error })
    } finally {
      clearTimeout(timer)
    }
  }

  /** The DHT says what it was told again by itself, unless it hears that it is no longer so. */
  async forget(cid: CID): Promise<void> {
    await this.#dht.cancelReprovide(cid)
  }
}
