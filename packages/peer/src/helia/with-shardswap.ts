import { blockKey, InvalidParametersError } from '@shardswap/interface'
import type { Metrics } from '@libp2p/interface'
import { assemble, checkedLimits } from '../assemble.ts'
import { newPeer } from '../create-peer.ts'
import type { ShardswapPeer } from '../peer.ts'
import { RestartableExchange } from '../service/restartable.ts'
import { registerExchange } from '../metrics/exchange-metrics.ts'
import { localStore } from '../store.ts'
import { Announcements } from './announcements.ts'
import { BrokerSession, type BrokerSessionPorts } from './broker-session.ts'
import { brokerName, retrieve } from './retrieve.ts'
import { HeldBlocks } from './held-blocks.ts'
import { heliaRouting } from './routing.ts'
import { OpenSessions } from './sessions.ts'
import type { HeliaBlockBroker, HeliaComponents, HeliaNode, HeliaPeer, WithExchange, WithShardswapInit } from './types.ts'

const defaultSessionIdleMs = 60_000

/**
 * Puts the exchange in the place of Helia's Bitswap: `await withShardswap(createHelia()).start()`. Everything over
 * `helia.blockstore` fetches and serves by it from then on, and `helia.shardswap` tells scores, figures and the wantlist.
 * It stops and starts with the node. Errors: InvalidParametersError for a node that has started, that has a Bitswap
 * already, or for limits that cannot work; the start fails with one where the node has no libp2p.
 */
export function withShardswap<H extends HeliaNode>(helia: H, init: WithShardswapInit = {}): H & WithExchange {
  checkedLimits(init)
  const { sessionIdleMs = 0 } = init
  if (typeof sessionIdleMs !== 'number' || !(sessionIdleMs >= 0)) {
    throw new InvalidParametersError(`sessionIdleMs must be a number of milliseconds, not ${String(sessionIdleMs)}`)
  }
  if (helia.status !== 'stopped') throw new InvalidParametersError('withShardswap comes before the start of the Helia node')
  if (helia.hasBlockBroker(brokerName)) throw new InvalidParametersError('the Helia node has a block broker for Bitswap already')
  const made: HeliaExchange[] = []
  helia.addBlockBroker((components) => {
    const exchange = new HeliaExchange(helia, components, init)
    made.push(exchange)
    return exchange.broker
  })
  const [exchange] = made
  if (exchange === undefined) throw new InvalidParametersError('the Helia node does not make block brokers at once, as Helia 7 does')
  helia.addMixin({ name: 'shardswap', start: async () => await exchange.start(), stop: async () => await exchange.stop() })
  return Object.assign(helia, { shardswap: exchange })
}

/** The exchange of one Helia node, and its broker. */
class HeliaExchange extends RestartableExchange {
  readonly broker: HeliaBlockBroker
  readonly #announcements: Announcements
  readonly #sessions: OpenSessions
  readonly #held: HeldBlocks
  #isMeasured = false
  readonly #named = new WeakMap<readonly HeliaPeer[], BrokerSession>()

  constructor(helia: HeliaNode, components: HeliaComponents, init: WithShardswapInit) {
    const { blockstore, datastore, logger } = components
    const log = (init.logger ?? logger).forComponent('shardswap:helia')
    const store = localStore(blockstore)
    const held = new HeldBlocks(store, log)
    let peer: ShardswapPeer | undefined
    super(
      () => helia.libp2p.peerId,
      blockstore,
      async () => {
        const { privateKey, patient: _, sessionIdleMs: __, ...rest } = init
        const whole = { logger, datastore, routing: heliaRouting(components), ...rest, blockstore }
        const libp2p = libp2pOf(helia)
        peer = await assemble(whole, { libp2p, ownNode: undefined, privateKey, newPeer, store: held })
        this.#measure(components.metrics ?? libp2p.metrics)
        return peer
      }
    )
    this.#held = held
    this.#sessions = new OpenSessions(init.sessionIdleMs ?? defaultSessionIdleMs)
    this.#announcements = new Announcements({
      isWanted: (cid) => peer?.isWanted(cid) === true,
      has: async (cid) => await store.has(cid),
      notify: (cid) => peer?.notify(cid),
      log
    })
    this.broker = this.#newBroker({
      sessions: this.#sessions,
      patient: init.patient === true,
      held,
      log,
      open: () => this.createSession(),
      find: async (cid) => await held.find(cid, blockKey(cid)),
      announce: (cid) => {
        void held.announced(cid)
        this.#announcements.announce(cid)
      }
    })
  }

  override async stop(): Promise<void> {
    this.#announcements.stop()
    this.#sessions.closeAll()
    await super.stop()
    this.#held.stop()
  }

  /** Once, for metrics are of a name; libp2p, which may bring them, is there from the first start on. */
  #measure(metrics: Metrics | undefined): void {
    if (this.#isMeasured) return
    this.#isMeasured = true
    registerExchange(metrics, this)
  }

  #newBroker(ports: BrokerSessionPorts): HeliaBlockBroker {
    return {
      name: brokerName,
      announce: async (cid) => ports.announce(cid),
      createSession: (options = {}) => new BrokerSession(ports, options),
      retrieve: async (cid, options = {}) => {
        if (options.providers === undefined || options.providers.length === 0) return await retrieve(this, cid, options, ports)
        return await this.#sessionOf(ports, options.providers).retrieve(cid, options)
      }
    }
  }

  /** Helia names the same list with each block of a file that is read without a session: one session of ours has them all. */
  #sessionOf(ports: BrokerSessionPorts, providers: HeliaPeer[]): BrokerSession {
    const known = this.#named.get(providers)
    if (known !== undefined) return known
    const session = new BrokerSession(ports, { providers })
    this.#named.set(providers, session)
    return session
  }
}

function libp2pOf(helia: HeliaNode): HeliaNode['libp2p'] {
  try {
    const { libp2p } = helia
    if (typeof libp2p === 'object') return libp2p
  } catch (cause) {
    throw new InvalidParametersError('the Helia node has no libp2p yet: apply withShardswap to what withLibp2p gives', { cause })
  }
  throw new InvalidParametersError('the Helia node has no libp2p: apply withShardswap to what withLibp2p gives')
}
