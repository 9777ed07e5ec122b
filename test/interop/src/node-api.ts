/** What a test asks of a node, whichever implementation it is. */
import type { AdmissionReport } from '@shardswap/peer'
import type { DirectorySpec, FileSpec } from './content.ts'

/** A whole read: how much, its sha256 in hexadecimal, and how long it took. */
export interface Reading {
  readonly bytes: number
  readonly sha256: string
  readonly seconds: number
}

/** A directory that was read: how many names, and one digest over what was read of them. */
export interface DirectoryReading {
  readonly names: number
  readonly sha256: string
  readonly seconds: number
}

/** A node in a process of its own. CIDs and addresses travel as text. */
export interface BitswapNode {
  /** Multiaddrs with the peer's id. */
  addresses(): Promise<string[]>
  connect(address: string): Promise<void>
  /** Gives the root CID. */
  addFile(spec: FileSpec): Promise<string>
  /** Gives the root CID. */
  addDirectory(spec: DirectorySpec): Promise<string>
  /** Stores a block under a CID that it hashes to; `big` allows one above 2 MiB. */
  putBlock(cid: string, bytes: Uint8Array, options?: { readonly big?: boolean }): Promise<void>
  getBlock(cid: string, options?: { readonly timeoutMs?: number }): Promise<Uint8Array>
  readFile(path: string): Promise<Reading>
  /** Lists a directory without reading its files. */
  listNames(path: string): Promise<DirectoryReading>
  /** Resolves each name by its path and reads it; the digest is over the contents in the order of the names. */
  readNames(path: string, names: readonly string[]): Promise<Reading>
  /** Reads a directory and all its files; the digest is over names and contents. */
  readDirectory(path: string): Promise<DirectoryReading>
}

/** A node, and how to end it. */
export interface RunningNode extends BitswapNode {
  /** What stands in a test's title. */
  readonly title: string
  stop(): Promise<void>
}

/** Blocks that came, in the order asked for. */
interface BlocksReading {
  readonly blocks: number
  readonly sha256: string
}

/** What our own node offers beyond that. */
export interface OurNode extends BitswapNode {
  /** What came from other peers since the start. */
  fetched(): Promise<{ readonly blocks: number; readonly bytes: number; readonly duplicateBlocks: number }>
  /** What went to others since the start, and how many decisions of admission had which reason. */
  served(): Promise<{ readonly blocks: number; readonly decisions: AdmissionReport['decisions'] }>
  /** Asks for many blocks at once. */
  getBlocks(cids: readonly string[]): Promise<BlocksReading>
  /** Stores every block of an archive; gives their number. */
  importCar(car: Uint8Array): Promise<number>
}
