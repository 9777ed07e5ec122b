import type { Figures } from '@shardswap/broker'
import type { ComponentLogger, Libp2p, PeerId, PrivateKey } from '@libp2p/interface'
import type { Libp2pInit } from 'libp2p'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { AbortOptions, Block, BlockSource, CID, GetBlockOptions } from '@shardswap/interface'
import type { ServeLimits } from '@shardswap/server'
import type { Blockstore } from 'interface-blockstore'
import type { Datastore } from 'interface-datastore'
import type { AccountLimits, BudgetLimits, Calibration, PeerScore, ReliabilityLimits, ShareMap } from '@shardswap/reliability'
import type { AdmissionSettings, Registering } from './admission/types.ts'
import type { FetchProgress } from './fetch/progress.ts'
import type { PeerLimits } from './limits.ts'
import type { AccountReceipt, AccountReport, ReceiptsOptions } from './reliability/account-book.ts'
import type { NodeRoutingInit, PeerRouting } from './routing/types.ts'
import type { OwnScore, OwnScoreOptions } from './reliability/types.ts'

/** A peer that routing names as having a block, with the addresses that it knows. */
export interface Provider {
  readonly id: PeerId
  readonly multiaddrs?: Multiaddr[]
}

/** Where providers of a block are looked up; libp2p's content routing fits. */
export interface Routing {
  /** Peers that may have the block, as they are found; it ends when the search does. */
  findProviders(cid: CID, options?: AbortOptions): AsyncIterable<Provider>
}

/** How blocks are fetched and served, whichever libp2p node that happens on. */
export interface ExchangeInit {
  /** Blocks we have and serve; memory by default. One with `size(cid)` is asked for sizes. */
  readonly blockstore?: Blockstore & { size?(cid: CID): number | undefined | Promise<number | undefined> }
  /**
   * Where we keep what we know of peers (scores) over a restart, and a node that we make what it knows: memory by default,
   * and for a libp2p service the datastore of libp2p.
   */
  readonly datastore?: Datastore
  /** Where providers are looked up; nowhere by default, and for a libp2p service in the content routing of libp2p. */
  readonly routing?: Routing
  /** Serve blocks to others; true by default. */
  readonly serve?: boolean
  /** Changes to the limits of fetching. */
  readonly limits?: Partial<PeerLimits>
  /** Limits and parameters of the judgement of peers. */
  readonly reliabilityLimits?: Partial<ReliabilityLimits>
  /** Limits of the budget that pays for backups. */
  readonly budgetLimits?: Partial<BudgetLimits>
  /** Limits of the accounts and of their receipts in memory. */
  readonly accountLimits?: Partial<AccountLimits>
  /** How scores become shares of what is asked (P21); `proportional` by default. */
  readonly share?: ShareMap
  /** Whether a second peer is asked, on a budget, where the first is likely to fail (C5); true by default. */
  readonly backups?: boolean
  /** Limits of the serving half. */
  readonly serveLimits?: Partial<ServeLimits>
  /** Whom the serving half serves first, and how (I8 to I16). */
  readonly admission?: AdmissionSettings
  /** Where the log goes; libp2p's by default. */
  readonly logger?: ComponentLogger
  /** Told, beside the log, what whoever runs the peer should know: that what it remembered of others cannot be used. */
  readonly onWarning?: (message: string) => void
}

/** A peer, with the libp2p node that it is to have. */
export interface PeerInit extends ExchangeInit, NodeRoutingInit {
  /** A node of the caller's, started or not; it needs identify. Without it one is made: TCP, Noise, Yamux, identify. */
  readonly libp2p?: Libp2p
  /**
   * Identity of a node that we make; a new one by default. With a node of the caller's: that node's key, to sign what
   * peers ask of their own scores; without it they are told nothing.
   */
  readonly privateKey?: PrivateKey
  /** Multiaddrs to listen on, for a node that we make; `[]` does not listen. Default `/ip4/127.0.0.1/tcp/0`. */
  readonly listen?: readonly string[]
  /** What we announce instead of the addresses listened on; `[]` with `announceNothing`. */
  readonly announce?: readonly string[]
  /** Announce no address at all (behind a relay, in tests). */
  readonly announceNothing?: boolean
  /** The `metrics` of a node that we make, as libp2p takes it (`prometheusMetrics()`); none by default. docs/metrics.md lists what is told. */
  readonly metrics?: NonNullable<Libp2pInit['metrics']>
  /** False: call `start()` yourself. Default true. */
  readonly start?: boolean
}

/** How a block is asked for, and how long it is waited for. */
export interface GetOptions extends GetBlockOptions {
  /** Give up after so many milliseconds with TimeoutError. */
  readonly timeoutMs?: number
  /** A larger block is refused with TooLargeError, and not stored for this caller; no bound by default. */
  readonly maxBytes?: number
  /** Told what happens to the want on its way. */
  readonly onProgress?: (event: FetchProgress) => void
}

/** How blocks are asked for, and in which order they come. */
export interface GetManyOptions extends GetOptions {
  /** `request`: in the order asked (default); `arrival`: as they come. */
  readonly order?: 'request' | 'arrival'
}

/** Whom a session asks, and what ends it. */
export interface SessionInit extends AbortOptions {
  /** Only these peers are asked, ever; no broadcast, no routing. */
  readonly peers?: readonly PeerId[]
}

/** The wants of one DAG. `close` ends it: open wants reject with StoppedError, peers get CANCEL. */
export interface Session extends BlockSource {
  get(cid: CID, options?: GetOptions): Promise<Uint8Array>
  /** Blocks as a stream, in the order asked or as they come. Errors: those of `get`, at the block that has them. */
  getMany(cids: Iterable<CID> | AsyncIterable<CID>, options?: GetManyOptions): AsyncGenerator<Block>
  /**
   * A peer that is likely to have the blocks: it is dialled where it is not connected, and asked first. Of a session with
   * fixed peers it changes nothing. Errors: what libp2p says where it cannot be reached; the signal's reason.
   */
  addPeer(peer: PeerId | Multiaddr | readonly Multiaddr[], options?: AbortOptions): Promise<void>
  /** What this session has fetched, and what it waits for. */
  stat(): SessionStat
  /** Ends the session: open wants reject with StoppedError, peers get CANCEL. */
  close(): void
}

/** What was fetched, in all, in one session or from one peer. Bytes are bytes of blocks. */
export interface FetchStat extends Figures {
  /** Want-blocks and want-haves together. */
  readonly wantsSent: number
}

/** What came from one peer, and how its want queue stands. */
export interface PeerFetchStat extends FetchStat {
  readonly peer: string
  /** 0 to 100, a percentage; see `PeerScore`. */
  readonly score: number
  /** Want-blocks that were sent and not answered, over all sessions, and what they are taken for. */
  readonly inFlight: number
  readonly inFlightBytes: number
  /** Want-haves that stand there. */
  readonly haves: number
  /** How full its want queue is, 0 to 1: by wants, by bytes, or by what it says it has queued for us (B18). */
  readonly depth: number
  /** What may be in flight there now (B15). */
  readonly limitWants: number
  readonly windowBytes: number
  /** Smoothed, once it is known. */
  readonly latencyMs?: number
  readonly bytesPerS?: number
}

/** What one session has fetched, and what it waits for. */
export interface SessionStat extends FetchStat {
  /** How many asks one want is worth now, 1 to 4 (B9). */
  readonly potential: number
  /** Blocks that are wanted now, and want-blocks out for them. */
  readonly wants: number
  readonly inFlight: number
}

/** What was served, in all. */
export interface ServeStat {
  readonly blocksSent: number
  readonly bytesSent: number
  readonly messagesSent: number
}

/** What a peer has done so far, and with whom. */
export interface PeerStat {
  readonly fetch: FetchStat
  readonly serve: ServeStat
  readonly peers: readonly PeerFetchStat[]
  readonly wantlist: readonly CID[]
  readonly connectedPeers: number
}

/** What the server knows of one client. */
export interface LedgerStat {
  readonly peer: string
  readonly wants: readonly CID[]
  readonly bytesSent: number
  readonly bytesReceived: number
  readonly blocksSent: number
  readonly blocksReceived: number
  /** Its want-blocks that are being read or written (I14). */
  readonly openRequests: number
  /** Bytes of blocks that wait for their turn. */
  readonly queuedBytes: number
  /** It reads slowly: its last answer took long, or failed. */
  readonly isSlow: boolean
  /** Its wants wait for admission. */
  readonly isWaiting: boolean
  /** Wants for which there was no room: they had to wait or were refused. */
  readonly turnedAway: number
  /** Milliseconds since the last block was written to it; left out where none was. */
  readonly lastServedMsAgo?: number
}

/** Sizes of what a peer holds for its callers and its clients. All are 0 once nobody waits for anything and all sessions are closed. */
export interface PeerGauges {
  /** Sessions that are open, without the peer's own. */
  readonly sessions: number
  /** Blocks that callers wait for, on their way into the store included. */
  readonly blocksAwaited: number
  /** Blocks wanted from peers. */
  readonly wants: number
  /** Wants that stand at peers, counted once for each peer. */
  readonly wantsAtPeers: number
  /** Copies, candidates and whatever else is kept for each want, or for each session and peer; but for the peers that the peer's own session knows. */
  readonly records: number
  /** Verified blocks on their way into the store. */
  readonly storeBacklogBytes: number
  /** Searches in routing. */
  readonly searches: number
  /** Wants of clients that stand here, or whose size is being looked up. */
  readonly clientWants: number
  /** Bytes of blocks that wait to be sent, or are being sent. */
  readonly clientBytes: number
  /** Servers that are being tested, each by a node of its own; nobody waits for that. */
  readonly tests: number
}

/** A peer that is connected. */
export interface ConnectedPeer {
  readonly peer: string
  readonly addr: string
  readonly direction: 'inbound' | 'outbound'
  /** Round trip in milliseconds, where known. */
  readonly latencyMs?: number
  readonly protocols: readonly string[]
}

/** Fetches and serves blocks on a libp2p node. As a block source it reads its store first and fetches what is missing, in a session of its own. */
export interface Exchange extends BlockSource, Registering {
  readonly peerId: PeerId
  readonly blockstore: Blockstore
  /** Starts what `createPeer` was told not to start. */
  start(): Promise<void>
  /** Ends sessions, streams and timers; stops libp2p where the peer made it. */
  stop(): Promise<void>
  /** The wants of one DAG, as something that can be closed; each file deserves one of its own. */
  createSession(init?: SessionInit): Session
  /**
   * The block's bytes: from the store, else from peers. Without a signal or a time of its own it ends after `giveUpMs`
   * without progress. Errors: NotFoundError, TimeoutError, AbortError, UnknownHashError, StoppedError.
   */
  get(cid: CID, options?: GetOptions): Promise<Uint8Array>
  /** Blocks as a stream, in the order asked or as they come. Errors: those of `get`, at the block that has them. */
  getMany(cids: Iterable<CID> | AsyncIterable<CID>, options?: GetManyOptions): AsyncGenerator<Block>
  /** Stores a verified block and tells the peers who want it. Errors: HashMismatchError, UnknownHashError, TooLargeError. */
  put(cid: CID, bytes: Uint8Array, options?: AbortOptions): Promise<void>
  /** Tells the peers who want it that a block, stored by other means, is here. */
  notify(cid: CID): void
  /** Whether the block is in the store; nobody is asked. */
  has(cid: CID): Promise<boolean>
  /** Dials, and waits until it is known what the peer speaks; where we are registered, a second at most until it knows that too. */
  connect(addr: Multiaddr | string, options?: AbortOptions): Promise<PeerId>
  /** The peers that are connected. */
  connections(): readonly ConnectedPeer[]
  /** The multiaddrs at which others reach this peer, its id at their end. */
  addresses(): readonly string[]
  /** What was done so far, in all and with each peer. */
  stat(): PeerStat
  /** Every peer that is remembered, connected or not, the greatest score first. */
  scores(): readonly PeerScore[]
  /**
   * The account of a period (P8 to P12), the present one by default: who was asked, who delivered in time, who has the
   * credit. Undefined where nothing is known of it.
   */
  report(period?: string): AccountReport | undefined
  /** The receipts of a period that are still there, oldest first: `sumReceipts` makes its account of them. */
  receipts(options?: ReceiptsOptions): AsyncGenerator<AccountReceipt>
  /** How good our forecasts of failure were, of all peers together. */
  calibration(): Calibration
  /**
   * How we stand with a peer that is connected, as it says, and the receipts that prove it; checked to be signed by it
   * and to be about us. Many receipts come in several answers: ask again from `receiptsFrom + receipts.length` on.
   * Errors: ScoreUnavailableError; InvalidParametersError for a text that is no PeerId; the signal's reason.
   */
  ownScoreAt(peer: PeerId | string, options?: OwnScoreOptions): Promise<OwnScore>
  /** How much is held now, for those who look for leaks. */
  gauges(): PeerGauges
  /** Blocks that are wanted from peers now. */
  wantlist(): readonly CID[]
  /** What is known of one client; undefined for one that is neither connected nor wants anything. */
  ledger(peer: PeerId | string): LedgerStat | undefined
  /** Of every client that is connected or wants something; none where nothing is served. */
  ledgers(): readonly LedgerStat[]
}

/** An exchange with the node that it runs on: what `createPeer` gives. */
export interface Peer extends Exchange {
  readonly libp2p: Libp2p
  /** Where providers and peers are looked up, and what is here is announced. */
  readonly routing: PeerRouting
}
