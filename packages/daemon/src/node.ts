import type { AddedEntry, AddOptions, AddSource, CarImportResult, DirectoryEntry, ReadOptions, WriteTreeResult } from '@shardswap/content'
import type { AbortOptions, CID } from '@shardswap/interface'
import type {
  AccountReceipt,
  AccountReport,
  AdmissionReport,
  BindingStat,
  Calibration,
  ConnectedPeer,
  LedgerStat,
  OwnRegistration,
  OwnScore,
  OwnScoreOptions,
  PeerScore
} from '@shardswap/peer'
import type { NodeDag } from './api/dag.ts'
import type { NodeBitswap, NodeSwarm } from './api/network.ts'
import type { RepoStat, ServeMode, VerifyResult } from '@shardswap/repo'
import type { NodeConfig } from './api/config.ts'
import type { NodeRoutes } from './api/routing.ts'
import type { NodeStats } from './api/stats.ts'
import type { NodeGarbage } from './api/garbage.ts'
import type { NodePins } from './api/pins.ts'

/** Options of a call that may look for blocks at other peers. */
export interface FetchOptions extends AbortOptions {
  /** Look into the repo only: what is not there is NotFoundError, at once. */
  readonly offline?: boolean
  /** Wait for as long as the signal allows. Else a block of which nothing is heard for a minute is NotFoundError. */
  readonly patient?: boolean | undefined
  /** How far a read may be ahead of who takes it, in bytes; 64 MiB by default. A daemon decides that itself. */
  readonly readAheadBytesMax?: number
}

/** Of which version a node and its repo are. */
export interface NodeVersion {
  readonly version: string
  readonly repoVersion: number
  /** Architecture and system, e.g. `x64/linux`. */
  readonly system: string
  /** Version of Node.js. */
  readonly runtime: string
}

/** Who a node is, and where it can be reached. */
export interface NodeId {
  readonly id: string
  /** The public key, protobuf in base64. */
  readonly publicKey: string
  readonly addresses: readonly string[]
  readonly agentVersion: string
  readonly protocols: readonly string[]
}

/** How content is added: the options of `add`, and what becomes of its root. */
export interface NodeAddOptions extends AddOptions {
  /** Compute the CIDs and store nothing. */
  readonly onlyHash?: boolean
  /** Pin each root before its entry comes out; true by default. */
  readonly pin?: boolean
  /** Name of these pins. */
  readonly pinName?: string
}

/** How a block is stored. */
export interface BlockPutOptions extends AbortOptions {
  /** Name of the CID's codec; `raw` by default, `v0` for a CIDv0. */
  readonly codec?: string
  /** Name of the hash function; `sha2-256` by default. */
  readonly mhtype?: string
  /** Bytes of the digest; the function's own length by default. */
  readonly mhlen?: number
  /** Store a block of more than 2 MiB, which no peer can be relied on to take. */
  readonly allowBigBlock?: boolean
  /** Pin it with all that it leads to, which must be here; false by default. */
  readonly pin?: boolean
}

/** How an archive is imported. */
export interface NodeImportOptions extends AbortOptions {
  /** Pin the roots; true by default. */
  readonly pinRoots?: boolean
}

/** What came out of an archive, and was pinned. */
export interface NodeImportResult extends CarImportResult {
  /** Roots that are not pinned, and why; none where no root was to be. */
  readonly unpinned: readonly { readonly cid: CID; readonly reason: string }[]
  /** Whether roots were to be pinned. */
  readonly isPinned: boolean
}

/** A block and its size. */
export interface BlockStat {
  readonly cid: CID
  /** Bytes. */
  readonly size: number
}

/** What became of a block that was to be removed. */
export interface BlockRemoved {
  readonly cid: CID
  /** Why it was not removed. */
  readonly error?: string
}

/** Which part of a file is read, and whether others may be asked for it. */
export interface NodeReadOptions extends ReadOptions, FetchOptions {
  /** Told how many bytes are to come, before the first one, where that is known. */
  readonly onSize?: (bytes: bigint) => void
}

/** How a tree is written to disk, and whether others may be asked for it. */
export interface NodeGetOptions extends FetchOptions {
  /** Make symlinks too that lead out of what is written; left out by default, with a warning. */
  readonly unsafeLinks?: boolean
  /** Bytes written so far. */
  readonly onProgress?: (bytes: number) => void
  /** How many bytes are to come, where it is one file. */
  readonly onSize?: (bytes: bigint) => void
  /** What could not be done and does no harm. */
  readonly onWarning?: (path: string, error: Error) => void
}

/** How a directory is listed. */
export interface NodeListOptions extends FetchOptions {
  /** Names and CIDs alone: no entry is fetched. */
  readonly namesOnly?: boolean
}

/** How peers stand with this node. */
export interface NodeScores {
  /** The greatest score first; of more than `scoredPeersMax` those that are connected and those with the greatest scores. */
  readonly peers: readonly PeerScore[]
  /** How many are known in all. */
  readonly known: number
  /** How good its forecasts were; undefined where it does not run. */
  readonly calibration: Calibration | undefined
}

/** Of which period the account is asked for. */
export interface ReportOptions extends AbortOptions {
  /** Name of the period, e.g. `2026-11-30`; the present one by default. */
  readonly period?: string | undefined
}

/** Which receipts are asked for. */
export interface ReceiptListOptions extends ReportOptions {
  /** Only those in which this peer had a turn. */
  readonly peer?: string | undefined
}

/** Of whom the ledgers are asked for. */
export interface LedgerOptions extends AbortOptions {
  /** This client's alone, with what it wants. Errors: NotFoundError where nothing is known of it. */
  readonly peer?: string | undefined
}

/** What is known of one client. */
export interface ClientLedger extends Omit<LedgerStat, 'wants'> {
  /** How many it wants. */
  readonly wants: number
  /** Which they are, where one client was asked for. */
  readonly wanted?: readonly CID[]
}

/** What is known of clients. */
export interface NodeLedgers {
  /** What becomes of requests that are not admitted; undefined where no peer runs, which serves nobody. */
  readonly mode: ServeMode | undefined
  /** Those that were sent most first; of more than `ledgersShownMax` the first ones. */
  readonly clients: readonly ClientLedger[]
  /** How many are known in all. */
  readonly known: number
}

/** Who is served first, and what is known of owners. */
export interface NodeAdmission {
  /** False where no peer runs: then all is as the repo remembers it. */
  readonly isRunning: boolean
  /** Of more than `ownersShownMax` owners those with open requests and peers that are connected first; of peers some. */
  readonly report: AdmissionReport
  /** How many are known in all. */
  readonly ownersKnown: number
  readonly peersKnown: number
}

/** How long a binding, a claim or a delegation is to hold. */
export interface LifetimeOptions extends AbortOptions {
  /** How long what is made holds, in milliseconds. */
  readonly lifetimeMs?: number | undefined
}

/** Keys are libp2p's protobuf, as in the file `identity.key` of a repo. They are used once and not kept. */
export interface NodeRegisterOptions extends LifetimeOptions {
  /** The private key that signs as the owner; the node's own by default. */
  readonly ownerKey?: Uint8Array | undefined
  /** The private key of the client; the node's own by default. */
  readonly clientKey?: Uint8Array | undefined
  /** The server's word that it belongs to the owner; where it is left out, the node is the server. */
  readonly serverClaim?: string | undefined
}

/** Whose bindings are revoked. */
export interface NodeUnregisterOptions extends AbortOptions {
  /** The private key that signs as the owner; the node's own by default. */
  readonly ownerKey?: Uint8Array | undefined
  /** The client key whose binding ends; all that are the node's or point to it by default. */
  readonly client?: string | undefined
}

/** How a delegation is to be. */
export interface NodeDelegateOptions extends LifetimeOptions {
  /** The private key of the client; the node's own by default. */
  readonly clientKey?: Uint8Array | undefined
}

/**
 * What the commands and the RPC can do. There are two: one that has the repo
 * open in this process, and one that asks a running daemon.
 * Calls end with the errors of `@shardswap/interface`; both give the same ones.
 */
export interface SwapNode {
  /** What the nodes of the repo go by. */
  readonly config: NodeConfig
  /** What it counts. */
  readonly stats: NodeStats
  /** What the repo keeps. */
  readonly pins: NodePins
  /** Removes what it does not keep. */
  readonly garbage: NodeGarbage
  /** Of which version the node and its repo are. */
  version(options?: AbortOptions): Promise<NodeVersion>
  /** Who the node is, and where it can be reached. */
  id(options?: AbortOptions): Promise<NodeId>
  /** Adds files, directories and links, each told of once it is stored. Errors: InvalidParametersError. */
  add(sources: AsyncIterable<AddSource> | Iterable<AddSource>, options?: NodeAddOptions): AsyncIterable<AddedEntry>
  /** Bytes of a file. */
  cat(path: string, options?: NodeReadOptions): AsyncIterable<Uint8Array>
  /** The entries of a directory. Errors: NotFoundError, InvalidCidError. */
  ls(path: string, options?: NodeListOptions): AsyncIterable<DirectoryEntry>
  /** Writes a file or a whole directory to disk, below or at `target` and nowhere else. */
  get(path: string, target: string, options?: NodeGetOptions): Promise<WriteTreeResult>
  /** Stores one block under the CID that its bytes give. */
  blockPut(bytes: Uint8Array, options?: BlockPutOptions): Promise<BlockStat>
  /** The bytes of one block. Errors: NotFoundError, TimeoutError. */
  blockGet(cid: CID, options?: FetchOptions): Promise<Uint8Array>
  /** The size of one block, which is fetched where it is not here. */
  blockStat(cid: CID, options?: FetchOptions): Promise<BlockStat>
  /** Removes blocks from this node, and tells of each; `force`: one that is not here is no error. */
  blockRm(cids: readonly CID[], options?: AbortOptions & { readonly force?: boolean }): AsyncIterable<BlockRemoved>
  /** Stores the blocks of a CAR archive, each verified. */
  /** Stores the blocks of an archive. A root that cannot be pinned is no error: its blocks are here all the same. */
  dagImport(archive: AsyncIterable<Uint8Array>, options?: NodeImportOptions): Promise<NodeImportResult>
  /** A DAG as a CAR archive, version 1, depth first, each block once. */
  dagExport(path: string, options?: FetchOptions): AsyncIterable<Uint8Array>
  /** The peers that are connected. */
  swarmPeers(options?: AbortOptions): Promise<readonly ConnectedPeer[]>
  /** Connects to a peer; its id. Errors: ConnectError. */
  swarmConnect(address: string, options?: AbortOptions): Promise<string>
  /** How peers stand with this node; what it remembers where it does not run. Errors: MalformedError. */
  scores(options?: AbortOptions): Promise<NodeScores>
  /**
   * How this node stands with a peer, given its id or its multiaddr, which is connected first.
   * Errors: ScoreUnavailableError, ConnectError, OfflineError.
   */
  ownScoreAt(peer: string, options?: OwnScoreOptions): Promise<OwnScore>
  /** The account of a period (P8 to P12); what is stored of it where the node does not run. Errors: NotFoundError. */
  report(options?: ReportOptions): Promise<AccountReport>
  /** Its receipts that are still there, oldest first. Errors: NotFoundError. */
  receipts(options?: ReceiptListOptions): AsyncIterable<AccountReceipt>
  /** What is known of those who ask this node for blocks. Errors: NotFoundError, InvalidParametersError for a text that is no PeerId. */
  ledgers(options?: LedgerOptions): Promise<NodeLedgers>
  /** Who would be admitted now and why; what the repo remembers where no peer runs. */
  admission(options?: AbortOptions): Promise<NodeAdmission>
  /** Binds a client key to a server. Errors: InvalidParametersError for what cannot be bound, or names no key or claim. */
  register(options?: NodeRegisterOptions): Promise<BindingStat>
  /** Revokes bindings; the revocations. Errors: InvalidParametersError. */
  unregister(options?: NodeUnregisterOptions): Promise<readonly BindingStat[]>
  /** This server's word that it belongs to an owner, to be carried to another machine. Errors: InvalidParametersError. */
  serverClaim(owner: string, options?: LifetimeOptions): Promise<string>
  /** A client key's word that a peer may make requests under it, to be carried there. Errors: InvalidParametersError. */
  delegate(to: string, options?: NodeDelegateOptions): Promise<string>
  /** Makes requests under the client key that gave this delegation; undefined: under the node's identity. Errors: InvalidParametersError. */
  useDelegation(delegation: string | undefined, options?: AbortOptions): Promise<OwnRegistration>
  /** Connections beyond `swarmPeers` and `swarmConnect`. */
  readonly swarm: NodeSwarm
  /** What is exchanged with whom, in the terms of Kubo. */
  readonly bitswap: NodeBitswap
  /** Where blocks and peers are, and who is told of ours. */
  readonly routing: NodeRoutes
  /** Single nodes, paths, links and sizes of DAGs. */
  readonly dag: NodeDag
  /** How much the repo holds. */
  repoStat(options?: AbortOptions): Promise<RepoStat>
  /** Reads and hashes every block; one result for each. */
  repoVerify(options?: AbortOptions): AsyncIterable<VerifyResult>
  /** Gives up what runs, and the repo where this process has it open. */
  close(): Promise<void>
}
