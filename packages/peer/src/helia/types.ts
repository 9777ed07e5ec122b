import type { AbortOptions, CID } from '@shardswap/interface'
import type { ComponentLogger, Libp2p, Metrics, PrivateKey } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { Blockstore } from 'interface-blockstore'
import type { Datastore } from 'interface-datastore'
import type { ProgressEvent } from 'progress-events'
import type { FetchProgress } from '../fetch/progress.ts'
import type { Exchange, ExchangeInit } from '../types.ts'

// Shapes of Helia 7 as far as the adapter needs them: this package does not depend on Helia, and compiles without it.

/** A peer as Helia names it: its id as a CID, an address, or several addresses of one peer. */
export type HeliaPeer = CID | Multiaddr | Multiaddr[]

/** A provider as Helia's routing names it. */
export interface HeliaProvider {
  readonly id: CID
  readonly multiaddrs: Multiaddr[]
  /** How it gives what it has; where nothing is said, it may be by Bitswap. */
  readonly protocols?: string[]
  /** It is no peer, but a gateway that fetches for others. */
  readonly fallback: boolean
}

/** What Helia hands to those who make block brokers. */
export interface HeliaComponents {
  /** Where blocks are kept; asking it for what is not there asks nobody else. */
  readonly blockstore: Blockstore
  readonly datastore: Datastore
  readonly logger: ComponentLogger
  /** Told what docs/metrics.md lists; where Helia has none, those of its libp2p are. */
  readonly metrics?: Metrics
  readonly routing: { findProviders(cid: CID, options?: AbortOptions): AsyncIterable<HeliaProvider> }
}

interface BrokerEvent<T extends string> {
  readonly broker: string
  readonly type: T
  /** The peer's id. */
  readonly provider: CID
  readonly cid: CID
}

/** What Helia's own block brokers tell. */
export type HeliaBrokerProgress =
  | ProgressEvent<'helia:block-broker:connect', BrokerEvent<'connect'>>
  | ProgressEvent<'helia:block-broker:connected', BrokerEvent<'connected'> & { readonly address: Multiaddr }>
  | ProgressEvent<'helia:block-broker:request-block', BrokerEvent<'request-block'>>
  | ProgressEvent<'helia:block-broker:receive-block', BrokerEvent<'receive-block'>>

/** Our events, and beside them Helia's. */
export type HeliaProgress = FetchProgress | HeliaBrokerProgress

/** How a block is fetched, as Helia asks for it. */
export interface HeliaRetrieveOptions extends AbortOptions {
  /** Peers that are likely to have the block; others are asked and looked for as well. */
  readonly providers?: HeliaPeer[]
  /** Has the last word on the block's bytes. */
  readonly validateFn?: (bytes: Uint8Array) => Promise<void>
  /** Bytes; a larger block is refused. Default 2 MiB. */
  readonly maxSize?: number
  /** Told what happens on the way: our events, and Helia's beside them. */
  readonly onProgress?: (event: HeliaProgress) => void
}

/**
 * A signal and a callback that are given here belong to whatever opened the session, and not to what it is used for
 * later on: those of each block count.
 */
export interface HeliaSessionOptions extends AbortOptions {
  /** Peers that are likely to have the blocks; others are asked and looked for as well. */
  readonly providers?: HeliaPeer[]
  /** Ask nobody: what is not here is not found. */
  readonly offline?: boolean
  /** Told what happens on the way: our events, and Helia's beside them. */
  readonly onProgress?: (event: HeliaProgress) => void
}

/** The exchange in the place of Helia's Bitswap. */
export interface HeliaBlockBroker {
  readonly name: string
  /** A verified block. Errors: those of `Exchange.get`, and TooLargeError. */
  retrieve(cid: CID, options?: HeliaRetrieveOptions): Promise<Uint8Array>
  /** Tells those who wait for the block, once it is in the store. */
  announce(cid: CID, options?: AbortOptions): Promise<void>
  /** For the blocks of one DAG. */
  createSession(options?: HeliaSessionOptions): HeliaSessionBroker
}

/** The exchange in the place of a session of Helia's Bitswap. */
export interface HeliaSessionBroker extends Omit<HeliaBlockBroker, 'createSession'> {
  /** Dials a peer that is likely to have the blocks. Errors: what libp2p says where it cannot be reached. */
  addPeer(peer: HeliaPeer, options?: AbortOptions): Promise<void>
}

/** A Helia node with libp2p, not started. */
export interface HeliaNode {
  readonly status: string
  readonly libp2p: Libp2p
  /** Whether something of this name fetches blocks already. */
  hasBlockBroker(name: string): boolean
  /** Lets blocks be fetched by what the function makes. */
  addBlockBroker(broker: (components: HeliaComponents) => HeliaBlockBroker): void
  /** Lets something start and stop with the node. */
  addMixin(mixin: { name: string; start(): Promise<void>; stop(): Promise<void> }): void
}

/** How the exchange of a Helia node works. Its blocks are Helia's; scores go to Helia's datastore, the log to Helia's logger. */
export interface WithShardswapInit extends Omit<ExchangeInit, 'blockstore'> {
  /** The key of the node's identity, to sign what peers ask of their own scores; without it they are told nothing. */
  readonly privateKey?: PrivateKey
  /**
   * Whether a want lasts as long as its signal lets, however long nothing goes on. Helia passes a signal whether its caller
   * gave one or not, so by default a want that nobody answers ends after `limits.giveUpMs` without progress.
   */
  readonly patient?: boolean
  /** How long a session of Helia's that asks for nothing keeps its peers in mind, in milliseconds; Helia does not say when it ends. Default 60 s. */
  readonly sessionIdleMs?: number
}

/** The exchange of a Helia node, for scores, figures, the wantlist, sessions of one's own. */
export interface WithExchange {
  readonly shardswap: Exchange
}
