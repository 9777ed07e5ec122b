import type { PrivateKey, PeerId } from '@libp2p/interface'
import type { AbortOptions, CID } from '@shardswap/interface'
import type { Blockstore } from 'interface-blockstore'
import type { Datastore } from 'interface-datastore'
import type { ConfigFile } from './config/file.ts'

/** An interface-blockstore that also knows sizes without reading blocks. */
export interface SizedBlockstore extends Blockstore {
  /** Bytes of a block, or undefined where it is not here. Never reads the block. */
  size(cid: CID, options?: AbortOptions): Promise<number | undefined>
  /** Every block with its size, in no order, as they are when it begins. Reads no block. */
  entries(options?: AbortOptions): AsyncIterable<BlockEntry>
}

/** A block that is stored. */
export interface BlockEntry {
  /** A CIDv1 of the codec raw. */
  readonly cid: CID
  readonly bytes: number
}

/** How much a repo holds. */
export interface RepoStat {
  readonly path: string
  readonly version: number
  readonly blocks: number
  /** Sum of the blocks' sizes in bytes. */
  readonly blockBytes: number
  /** What the repo takes on disk, in bytes. */
  readonly diskBytes: number
  /** What the blocks may take in all, in bytes; undefined where there is no limit. */
  readonly maxBytes?: number | undefined
}

/** Whether a block's bytes still give its CID. */
export interface VerifyResult {
  readonly cid: CID
  readonly ok: boolean
  /** Why it is not ok. */
  readonly reason?: string
}

/** The folder on disk, opened by one process at a time. */
export interface Repo {
  readonly path: string
  /** The layout that it has: `repoVersion`, or an older one until `raiseVersion`. */
  readonly version: number
  readonly blocks: SizedBlockstore
  readonly datastore: Datastore
  readonly privateKey: PrivateKey
  readonly peerId: PeerId
  /** Values of the config as they were when the repo was opened. */
  readonly config: RepoConfig
  /** The config file, to be shown and changed; a change counts from the next start on. */
  readonly configFile: ConfigFile
  /** Says that it is of `repoVersion` now: whoever calls has done what that asks for. */
  raiseVersion(): Promise<void>
  /** Counts what is held. */
  stat(): Promise<RepoStat>
  /** Reads and hashes every block; yields one result for each. */
  verify(options?: AbortOptions): AsyncIterable<VerifyResult>
  /** Forces the datastore, and which blocks are here, to the disk: what was written before survives a loss of power. */
  sync(): Promise<void>
  /** Writes `<repo>/api`, the multiaddr at which this process answers RPC; undefined removes it. */
  setApiAddress(multiaddr: string | undefined): Promise<void>
  /** Writes what waits, and gives the repo free for the next process. */
  close(): Promise<void>
}

/** What the config says; config/table.ts tells what each key is for. */
export interface RepoConfig {
  readonly addresses: {
    /** Multiaddrs that the daemon listens on for peers. */
    readonly swarm: readonly string[]
    /** Multiaddr of the RPC; on loopback unless `api.auth` is set. */
    readonly api: string
    /** Multiaddrs that peers are told instead of those found. */
    readonly announce: readonly string[]
    /** Multiaddrs, or ranges with `/ipcidr`, that peers are never told. */
    readonly noAnnounce: readonly string[]
  }
  readonly api: {
    /** The bearer token that callers must show. */
    readonly auth: string | undefined
    /** Origins of web pages that may call. */
    readonly origins: readonly string[]
  }
  readonly routing: {
    readonly bootstrap: readonly string[]
    readonly peering: readonly string[]
    readonly mdns: boolean
    readonly dht: DhtMode
    /** URLs of servers of `/routing/v1`. */
    readonly delegated: readonly string[]
    readonly provide: ProvideMode
    readonly provideEveryMs: number
  }
  readonly repo: {
    /** Bytes of blocks; undefined: no bound. */
    readonly maxBytes: number | undefined
    /** Part of `maxBytes`, above 0 and up to 1. */
    readonly gcAtShare: number
  }
  readonly reliability: {
    /** How scores of peers become shares of what is asked of them: docs/reliability.md. */
    readonly share: ShareName
    /** Whether a second peer is asked where the first is likely to fail. */
    readonly backups: boolean
  }
  /** Whom this node serves, and how much at a time: docs/admission.md. */
  readonly serve: {
    readonly mode: ServeMode
    /** Cap_max: so many requests are open at a time, over all clients. */
    readonly cap: number
    /** The score of clients that no registered server stands behind, in open requests; 0 to `cap`. */
    readonly freeScore: number
    /** Whether servers that are registered are tested, once the node is registered itself. */
    readonly tests: boolean
  }
}

/** Whether the DHT is asked (`client`), and answered in too (`server`). */
export type DhtMode = 'off' | 'client' | 'server'

/** What routing is told that a node has. */
export type ProvideMode = 'off' | 'all' | 'pinned' | 'roots'

/** What happens to requests that are not admitted: they wait, they are refused, or nothing is served at all. */
export type ServeMode = 'open' | 'registered' | 'off'

/** The maps from score to share that a config may name; those of the reliability layer. */
export type ShareName = 'proportional' | 'equal' | 'percentile'

// Contract of the package (src/index.ts exports these):
//   repoPath(env?): string                     SHARDSWAP_PATH, else ~/.shardswap
//   repoExists(path): Promise<boolean>
//   initRepo(path, { privateKey?, config? }): Promise<void>     refuses an existing one (RepoExistsError)
//   openRepo(path, { create?: boolean }): Promise<Repo>  RepoLockedError (names the pid), RepoVersionError, RepoMissingError
//   apiAddress(path): Promise<string | undefined>      reads <repo>/api without opening the repo
//   memoryRepo({ privateKey? }): Promise<Repo>         for tests; nothing on disk
