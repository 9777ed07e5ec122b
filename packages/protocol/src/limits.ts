import { cidBytesMax, messageBytesMax } from '@shardswap/interface'
import type { DecodeLimits } from './types.ts'

/** What a decoder takes from one message. Each has a line in docs/limits.md. */
export const defaultDecodeLimits: DecodeLimits = {
  messageBytesMax,
  // Kubo fills a message with up to 2 MiB of entries, some 46,000.
  entriesMax: 48 * 1024,
  cidBytesMax,
  // 128 bytes a block in a full message; one of smaller blocks is a waste that nobody sends.
  blocksMax: 32 * 1024,
  // As entries; Go's servers send 16 KiB at a time.
  presencesMax: 48 * 1024
}

/** Groups within groups of an unknown field; Go's protobuf stops there too. */
export const groupDepthMax = 10_000

/** A kept slice may pin at most so many times its own bytes; see `keep`. */
export const pinFactorMax = 4

/** Bytes of a length prefix: five hold more than any message may have. */
export const lengthPrefixBytesMax = 5

/** Arrivals below so many bytes are joined, so that a frame that comes byte by byte costs bytes, not objects. */
export const smallArrivalBytes = 4 * 1024

/** The CIDs of one message share buffers of so many bytes, some 56 CIDs: one that is kept pins no more. */
export const slabBytesMax = 2 * 1024

/** A block from so many bytes on is sent from where it lies; a smaller one is cheaper to copy than to carry apart. */
export const referencedBytesMin = 8 * 1024
