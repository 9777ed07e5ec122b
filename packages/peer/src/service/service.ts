import { serviceCapabilities, serviceDependencies, type Startable } from '@libp2p/interface'
import { assemble, checkedLimits } from '../assemble.ts'
import { newPeer } from '../create-peer.ts'
import { MemoryStore } from '../memory-store.ts'
import { registerExchange } from '../metrics/exchange-metrics.ts'
import { hostOf, type ShardswapComponents } from '../network/host.ts'
import type { ExchangeInit } from '../types.ts'
import { RestartableExchange } from './restartable.ts'

/** What libp2p holds as a service: an exchange that starts and stops with the node, as often as the node does. */
export interface ShardswapService extends RestartableExchange, Required<Pick<Startable, 'beforeStart' | 'beforeStop'>> {
  readonly [Symbol.toStringTag]: string
  readonly [serviceCapabilities]: string[]
  readonly [serviceDependencies]: string[]
}

/**
 * The exchange as a service of a libp2p node: `createLibp2p({ services: { identify: identify(), exchange: shardswap() } })`,
 * then `libp2p.services.exchange.get(cid)`. It keeps scores in the node's datastore, looks providers up in its content
 * routing, signs with its key and logs to its logger. Where the node has been stopped and starts again, so does the service.
 * Errors: InvalidParametersError, at once, for limits that cannot work. The node does not start where somebody else serves Bitswap on it.
 */
export function shardswap(init: ExchangeInit = {}): (components: ShardswapComponents) => ShardswapService {
  checkedLimits(init)
  return (components) => new Service(init, components)
}

class Service extends RestartableExchange implements ShardswapService {
  readonly [Symbol.toStringTag] = '@shardswap/peer'
  readonly [serviceCapabilities] = ['@shardswap/exchange']
  // Who speaks Bitswap is learnt from identify alone.
  readonly [serviceDependencies] = ['@libp2p/identify']

  constructor(init: ExchangeInit, components: ShardswapComponents) {
    const blockstore = init.blockstore ?? new MemoryStore()
    super(
      () => components.peerId,
      blockstore,
      async () => {
        const { logger, contentRouting: routing, datastore, privateKey } = components
        return await assemble(
          { logger, routing, datastore, ...init, blockstore },
          { libp2p: hostOf(components), ownNode: undefined, privateKey, newPeer }
        )
      }
    )
    registerExchange(components.metrics, this)
  }

  /** Before the node listens, so that no early connection finds it without handlers. */
  async beforeStart(): Promise<void> {
    await this.start()
  }

  /** While the connections are still there, so that peers hear our cancels. */
  async beforeStop(): Promise<void> {
    await this.stop()
  }
}
