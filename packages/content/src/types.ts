import type { AbortOptions, BlockSource, CID, GetBlockOptions } from '@shardswap/interface'

/** A time of UnixFS: seconds since 1970, and nanoseconds in them. */
export interface UnixTime {
  readonly secs: bigint
  readonly nsecs?: number
}

/** One thing to add. No `content` and no `symlinkTarget`: a directory. */
export interface AddSource {
  /** Relative path with `/`; the names of a directory's parts. */
  readonly path: string
  readonly content?: AsyncIterable<Uint8Array> | Iterable<Uint8Array> | Uint8Array
  readonly symlinkTarget?: string
  readonly mode?: number
  readonly mtime?: UnixTime
}

/** Kubo's options of `add`; the defaults give Kubo 0.42's default root CIDs. */
export interface AddOptions extends AbortOptions {
  /** `size-N`, N in bytes. */
  readonly chunker?: string
  /** Version of the CIDs; 0 by default, as for Kubo. */
  readonly cidVersion?: 0 | 1
  /** Whether leaves are raw blocks; by default only with version 1. */
  readonly rawLeaves?: boolean
  /** The trickle layout, for streams that are read from the beginning. */
  readonly trickle?: boolean
  /** A multihash name, e.g. `sha2-256`; any other than it means CID version 1. */
  readonly hash?: string
  /** Puts all into a directory, which keeps the names. */
  readonly wrapWithDirectory?: boolean
  /** Files and directories at once, for each of which about 1 KB is held; a limit with a default. */
  readonly treeEntriesMax?: number
  /** Bytes taken in so far, for a progress bar. */
  readonly onProgress?: (bytes: number) => void
}

/** Something that was added: a file, a directory, a link. */
export interface AddedEntry {
  readonly path: string
  readonly cid: CID
  /** Cumulative DAG size in bytes, as `ipfs add` prints it. */
  readonly size: bigint
}

/** What a path names. `raw`: a block of bytes without UnixFS; `other`: some other IPLD data. */
export type EntryType = 'file' | 'directory' | 'symlink' | 'raw' | 'other'

/** A line of `ls`. */
export interface DirectoryEntry {
  readonly name: string
  readonly cid: CID
  readonly type: EntryType
  /** Bytes of a file's content; 0 for others. */
  readonly size: bigint
  readonly mode?: number
  readonly mtime?: UnixTime
}

/** A node of a tree being read, parents before children. */
export interface TreeEntry extends DirectoryEntry {
  /** Path below the root of the walk, '' for the root itself. */
  readonly path: string
  readonly symlinkTarget?: string
  /** Only for files. */
  content?(options?: ReadOptions): AsyncIterable<Uint8Array>
}

/** Which part of a file is read, and how far ahead. */
export interface ReadOptions extends GetBlockOptions {
  /** Bytes of the file that are left out at its beginning. */
  readonly offset?: number
  /** Bytes that are given at most. */
  readonly length?: number
  /** Bytes of blocks that may be asked for ahead of the reader; a limit with a default. */
  readonly readAheadBytesMax?: number
  /** The deepest DAG that is walked, in links from the root; a limit with a default. */
  readonly dagDepthMax?: number
}

/** What came out of an archive. */
export interface CarImportResult {
  readonly roots: readonly CID[]
  readonly blocks: number
  readonly bytes: number
  /** Roots whose block was neither in the archive nor in the sink: a warning. */
  readonly missingRoots: readonly CID[]
}

// Contract of the package (src/index.ts exports these):
//   parsePath(text): { root: CID, segments: string[] }         CID, CID/path, /ipfs/CID/path; InvalidCidError
//   resolve(source, text, options?): Promise<DirectoryEntry>    NotFoundError names the missing segment
//   add(sources, sink, options?): AsyncIterable<AddedEntry>
//   cat(source, text, options?: ReadOptions): AsyncIterable<Uint8Array>
//   ls(source, text, options?): AsyncIterable<DirectoryEntry>
//   tree(source, text, options?): AsyncIterable<TreeEntry>
//   writeTree(entries, target, options?): the file-system half of `get`; never writes outside `target`
//   importCar(chunks, sink, options?): Promise<CarImportResult>  CAR v1 and v2; every block verified
//   exportCar(source, root, options?): AsyncIterable<Uint8Array> CAR v1, depth first, each CID once
export type { BlockSource }
