/** What a peer's process is asked. Everything travels over IPC, so CIDs and addresses are text. */
import type { FetchStat, LedgerStat, PeerFetchStat, PeerLimits, PeerScore, ServeLimits, ServeStat } from '@shardswap/peer'
import type { AddedFile, BlocksSpec, FileSpec } from './content.ts'

/** How a peer of a cluster is made. */
export interface PeerOptions {
  /** A folder for a repo on disk; blocks are in memory where there is none. */
  readonly folder?: string
  readonly limits?: Partial<PeerLimits>
  readonly serveLimits?: Partial<ServeLimits>
  readonly serve?: boolean
  /** Others learn no address of this peer by identify. Set it where relays are used: else they dial past them. */
  readonly announceNothing?: boolean
}

/** A way to name a running fetch, so that it can be looked at and aborted. */
export interface JobOptions {
  /** Fetches under one name are aborted together. */
  readonly job?: string
  readonly timeoutMs?: number
  /** End by itself where nothing comes for `giveUpMs`; else the fetch waits until it is aborted. */
  readonly givesUp?: boolean
}

export interface GetManyOptions {
  readonly order?: 'request' | 'arrival'
  /** So many blocks are asked for at once, the rest after `goOn`; all of them by default. */
  readonly first?: number
}

/** Content that was fetched. The clock runs in the peer's process. */
export interface Fetched {
  readonly bytes: number
  readonly blocks: number
  /** Over the content in order, in hexadecimal. */
  readonly sha256: string
  readonly seconds: number
}

/** `Peer.stat()`, CIDs as text. */
export interface StatReport {
  readonly fetch: FetchStat
  readonly serve: ServeStat
  readonly peers: readonly PeerFetchStat[]
  readonly wantlist: readonly string[]
  readonly connectedPeers: number
}

/** What must come back to where it was once all is over. */
export interface ProcessGauges {
  readonly rssBytes: number
  /** Bytes alive on the heap and outside of it, after garbage was collected. */
  readonly liveBytes: number
  readonly cpuSeconds: number
  /** Timers, sockets and whatever else keeps the process alive, by kind. */
  readonly resources: Readonly<Record<string, number>>
}

export interface PeerCommands {
  id(): Promise<string>
  /** Multiaddrs listened on, with the peer's id; also where none is announced. */
  addresses(): Promise<string[]>
  /** Gives the other peer's id. */
  connect(address: string): Promise<string>
  /** Closes all connections to a peer. */
  disconnect(peer: string): Promise<void>
  add(spec: FileSpec): Promise<AddedFile>
  /** Puts blocks, and tells those who want them. */
  put(spec: BlocksSpec): Promise<void>
  /** Reads a file through a session of its own. */
  cat(root: string, options?: JobOptions): Promise<Fetched>
  /** As `cat`, of many blocks through `Session.getMany`. */
  getMany(cids: readonly string[], options?: JobOptions & GetManyOptions): Promise<Fetched>
  /** Lets the fetches of a job that were to wait after their `first` blocks ask for the rest. */
  goOn(job: string): Promise<void>
  /** Resolves once a running job has so many bytes of content; false where it ended before. */
  reached(job: string, bytes: number): Promise<boolean>
  /** Aborts every fetch of a job; they reject with AbortError. */
  abort(job: string): Promise<void>
  stat(): Promise<StatReport>
  /** `Peer.scores()`; what is not known is left out. */
  scores(): Promise<readonly PeerScore[]>
  ledger(peer: string): Promise<(Omit<LedgerStat, 'wants'> & { readonly wants: readonly string[] }) | undefined>
  gauges(): Promise<ProcessGauges>
  /** Samples the process's resident memory from now on, until `memoryPeak`. */
  watchMemory(): Promise<void>
  /** The most bytes of resident memory since `watchMemory`. */
  memoryPeak(): Promise<number>
}
