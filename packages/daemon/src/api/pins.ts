import type { AbortOptions, CID } from '@shardswap/interface'
import type { FetchOptions } from '../node.ts'

/** What a pin keeps: a block with all that it leads to, or that block alone; or that some other pin leads to it. */
export type PinType = 'recursive' | 'direct' | 'indirect'

/** How a pin is to be. */
export interface PinAddOptions extends FetchOptions {
  /** With all that it leads to; true by default. */
  readonly isRecursive?: boolean
  /** At most `pinNameBytesMax` bytes. */
  readonly name?: string | undefined
  /** Blocks that are here so far, and their bytes. */
  readonly onProgress?: ((blocks: number, bytes: number) => void) | undefined
}

/** Which pins are listed. */
export interface PinListOptions extends AbortOptions {
  /** All by default. */
  readonly type?: PinType | 'all' | undefined
  /** Pins alone whose names contain this. */
  readonly name?: string | undefined
  /** Paths or CIDs: these alone, each of which must be pinned. */
  readonly paths?: readonly string[] | undefined
}

/** A line of `pin ls`. */
export interface PinEntry {
  readonly cid: CID
  readonly type: PinType
  readonly name?: string
  /** Of one that was asked for by its path and is pinned indirectly: the pin that leads to it. */
  readonly via?: CID
}

/** Which pins are removed. */
export interface PinRemoveOptions extends FetchOptions {
  /** False: of direct pins alone. True by default. */
  readonly isRecursive?: boolean
}

/** How a pin is replaced. */
export interface PinUpdateOptions extends FetchOptions {
  /** Take the old pin away; true by default. */
  readonly unpin?: boolean
}

/** Whether all that a recursive pin leads to is here and can be read. */
export interface PinCheck {
  readonly cid: CID
  readonly bad: readonly { readonly cid: CID; readonly reason: string }[]
}

/**
 * What the repo keeps. A collection never takes a block that a pin leads to. Paths are a CID, CID/path or /ipfs/CID/path.
 * What resolves has been forced to the disk.
 */
export interface NodePins {
  /**
   * Fetches what is missing, then pins all of them or none. A pin that is there takes the new name; a direct one
   * becomes recursive. Errors: NotFoundError, UnsupportedCodecError, PinError, InvalidParametersError.
   */
  add(paths: readonly string[], options?: PinAddOptions): Promise<readonly CID[]>
  /** Recursive ones first, then direct, then indirect ones, each CID once. Errors: PinError where a path is not pinned so. */
  ls(options?: PinListOptions): AsyncIterable<PinEntry>
  /** Takes all of these pins away or none. Errors: PinError where one is not pinned. */
  rm(paths: readonly string[], options?: PinRemoveOptions): Promise<readonly CID[]>
  /** Pins `to` recursively under the name of `from`; resolves to both. Errors: PinError, and as `add`. */
  update(from: string, to: string, options?: PinUpdateOptions): Promise<readonly [CID, CID]>
  /** Looks at every recursive pin. */
  verify(options?: AbortOptions): AsyncIterable<PinCheck>
}
