import type { CID } from '@shardswap/interface'

/** A block's size before anything is known of it (B15). */
export const unknownBlockBytes = 256 * 1024
/** The codec of blocks without links: the bytes of a file. */
const rawCode = 0x55
/** A new size counts for an eighth, and more among the first ones of raw blocks. */
const sizesKept = 8

/**
 * What a session's blocks are taken for before they are here, in bytes (B15).
 * Raw blocks are told from nodes, and nodes are taken for large until many were
 * small: of a file of 64 MiB the root has 110 bytes and the leaves have 256 KiB.
 * Leaves that were taken for a root's size would all miss their deadlines.
 */
export class BlockSizes {
  #rawBytes = unknownBlockBytes
  #nodeBytes = unknownBlockBytes
  #rawSeen = 0

  /** Whole bytes: sums of them come back to 0. */
  expected(cid: CID): number {
    return Math.round(cid.code === rawCode ? this.#rawBytes : this.#nodeBytes)
  }

  add(cid: CID, bytes: number): void {
    if (cid.code !== rawCode) {
      this.#nodeBytes += (bytes - this.#nodeBytes) / sizesKept
      return
    }
    this.#rawSeen += 1
    this.#rawBytes += (bytes - this.#rawBytes) / Math.min(sizesKept, this.#rawSeen)
  }
}
