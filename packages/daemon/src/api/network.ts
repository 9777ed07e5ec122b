/** What a node tells of its connections and its exchange of blocks, in the terms of Kubo. */
import type { AbortOptions, CID } from '@shardswap/interface'
import type { NodeId } from '../node.ts'

/** A peer and where it is known to be. */
export interface KnownAddresses {
  readonly peer: string
  /** Multiaddrs without the peer's id. */
  readonly addresses: readonly string[]
}

/** What became of a call to disconnect. */
export interface Disconnected {
  readonly peer: string
  /** Why nothing was disconnected. */
  readonly failure?: string
}

/** One step of a ping. */
export interface PingStep {
  readonly ok: boolean
  /** Of an answer: the round trip. */
  readonly rttMs?: number
  /** Of anything else: words. */
  readonly text?: string
}

/** How often, and when to give up. */
export interface PingOptions extends AbortOptions {
  /** Pings to send; 10 by default. */
  readonly count?: number | undefined
  /** From one to the next; a second by default. */
  readonly intervalMs?: number | undefined
}

/** Connections, and who is at their ends. Errors of all: OfflineError where no peer runs. */
export interface NodeSwarm {
  /** Everybody of whom an address is known, this node first. */
  addresses(options?: AbortOptions): Promise<readonly KnownAddresses[]>
  /** This node's own addresses, as it tells them, without its id. */
  ownAddresses(options?: AbortOptions): Promise<readonly string[]>
  /** Closes all connections to `/p2p/PEER`, or the one at a full address. Errors: InvalidParametersError. */
  disconnect(address: string, options?: AbortOptions): Promise<Disconnected>
  /** Pings a peer, given its id or its multiaddr. Errors: InvalidParametersError, ConnectError, and that where none was answered. */
  ping(peer: string, options?: PingOptions): AsyncIterable<PingStep>
  /** What another peer said of itself when it connected. Errors: NotFoundError, InvalidParametersError. */
  identity(peer: string, options?: AbortOptions): Promise<NodeId>
}

/** Sums since the start. Bytes are bytes of blocks. */
export interface BitswapStat {
  readonly wantlist: readonly CID[]
  /** Those that are connected and speak Bitswap. */
  readonly peers: readonly string[]
  readonly blocksReceived: number
  readonly bytesReceived: number
  readonly duplicateBlocks: number
  readonly duplicateBytes: number
  readonly blocksSent: number
  readonly bytesSent: number
}

/** What went between this node and one peer while it is connected. */
export interface BitswapLedger {
  readonly peer: string
  readonly bytesSent: number
  readonly bytesReceived: number
  /** Blocks, in both directions. */
  readonly exchanged: number
}

/** The exchange of blocks. Errors of all: OfflineError where no peer runs. */
export interface NodeBitswap {
  /** Sums over all peers. */
  stat(options?: AbortOptions): Promise<BitswapStat>
  /** What this node wants, or a peer that is connected: nothing is known of others. Errors: InvalidParametersError. */
  wantlist(peer?: string, options?: AbortOptions): Promise<readonly CID[]>
  /** All zeros for a peer of which nothing is known, as in Kubo. Errors: InvalidParametersError. */
  ledger(peer: string, options?: AbortOptions): Promise<BitswapLedger>
}
