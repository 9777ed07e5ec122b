/** What a node does with DAGs beyond archives: single nodes in any codec, paths, links, sizes. */
import type { DagSizes, RefsOptions } from '@shardswap/content'
import type { AbortOptions, CID } from '@shardswap/interface'
import type { FetchOptions } from '../node.ts'

/** How a node of a DAG is given. */
export interface DagGetOptions extends FetchOptions {
  /** Name of the codec to answer in; `dag-json` by default. */
  readonly outputCodec?: string | undefined
}

/** How a node of a DAG is read and stored. */
export interface DagPutOptions extends AbortOptions {
  /** Name of the codec that the bytes are in; `dag-json` by default. */
  readonly inputCodec?: string | undefined
  /** Name of the codec to store in; `dag-cbor` by default. */
  readonly storeCodec?: string | undefined
  /** Name of the hash function; `sha2-256` by default. */
  readonly hash?: string | undefined
  /** Store a block of more than 2 MiB. */
  readonly allowBigBlock?: boolean | undefined
  /** Pin what it links to too, all of which is fetched. */
  readonly pin?: boolean | undefined
}

/** Where a path leads. */
export interface DagPlace {
  readonly cid: CID
  /** The keys that are left within the block, as `/a/b`; '' where none are. */
  readonly rest: string
}

/** How a DAG is measured. */
export interface DagSizeOptions extends FetchOptions {
  /** Told the sizes so far, now and then. */
  readonly onProgress?: ((sizes: DagSizes) => void) | undefined
}

/** Which links are told, and in which words. */
export interface DagRefsOptions extends FetchOptions, RefsOptions {
  /** Text of a link, with `<src>`, `<dst>` and `<linkname>` in it; `<dst>` by default. */
  readonly format?: string | undefined
}

/** Nodes of IPLD, and the DAGs below them. */
export interface NodeDag {
  /** What a path leads to, in a codec. Errors: those of `resolveNode`, MalformedError, InvalidParametersError. */
  get(path: string, options?: DagGetOptions): Promise<Uint8Array>
  /** Stores a node; its CID. Errors: MalformedError, InvalidParametersError, TooLargeError. */
  put(bytes: Uint8Array, options?: DagPutOptions): Promise<CID>
  /** The block that a path leads into, and what of the path is left in it. Errors: NotFoundError, InvalidCidError. */
  resolve(path: string, options?: FetchOptions): Promise<DagPlace>
  /** Reads DAGs whole and counts. */
  stat(paths: readonly string[], options?: DagSizeOptions): Promise<DagSizes>
  /** A text for each link below paths. */
  refs(paths: readonly string[], options?: DagRefsOptions): AsyncIterable<string>
  /** Every block of the repo, as a CIDv1 of the codec raw. */
  localRefs(options?: AbortOptions): AsyncIterable<CID>
}
