/**
 * Bounds of this package, each with its reason in docs/limits.md.
 * @module
 */
import { blockBytesMax, messageBytesMax } from '@shardswap/interface'

/** Bytes of blocks that are asked for, or held, ahead of a reader: also what arrives while one block is late. */
export const readAheadBytesMax = 64 * 1024 * 1024

/** Blocks asked for at once by one reader, however small they are. */
export const readAheadBlocksMax = 4096

/** The size that a block is taken for until it is here, where nothing tells. */
export const assumedBlockBytes = 256 * 1024

/** The size that an inner node is taken for until it is here. */
export const assumedInnerBytes = 64 * 1024

/** Nodes that a walk passes before the event loop has a turn. */
export const nodesPerTurnMax = 256

/** The deepest DAG that is walked, in links from the root. */
export const dagDepthMax = 8192

/** Links from a claimed size: above it a link cannot name a lone block. */
export const leafBytesMax = blockBytesMax

/** The longest section of an archive: a CID and a block that some message could carry. */
export const carSectionBytesMax = messageBytesMax

/** The longest header of an archive: room for some 25,000 roots. */
export const carHeaderBytesMax = 1024 * 1024

/** Blocks on their way to a sink at once, and their bytes. */
export const sinkBlocksMax = 64
/** Bytes of blocks on their way to a sink at once. */
export const sinkBytesMax = 8 * 1024 * 1024

/** Files and directories of one `add`: about 1 KB each is held until their directories are made, so these take half of Node's heap. */
export const addTreeEntriesMax = 2_000_000

/** Entries that were added and wait for a sink to store them. */
export const addedEntriesMax = 256

/** Kubo's shape of files and directories; another figure gives other CIDs. */
export const fileLinksMax = 174
/** Subtrees of one depth in a trickle DAG, as Kubo makes it. */
export const trickleRepeat = 4
/** Bytes of a file's leaf, by default; Kubo's. */
export const chunkBytesDefault = 256 * 1024
/** The largest leaf that may be asked for, in bytes: with its frame it must fit a block. */
export const chunkBytesMax = blockBytesMax - 256
/** A directory whose links take more bytes is sharded, as Kubo does it. */
export const directoryBytesMax = 256 * 1024
/** Children of a node of a sharded directory that we make. */
export const shardFanout = 256

/** The widest shard that is read: Kubo's bound. */
export const shardFanoutMax = 1024

/** Bytes read from a file at once: a whole number of default chunks, so that none is copied. */
export const readBytes = 4 * chunkBytesDefault

/** Files of a tree that are read and written at once. */
export const treeFilesMax = 32

/** Nodes of a DAG that a reader knows of and has not read: about 30 MB. A DAG of shared blocks may name any number in a few kilobytes. */
export const nodesAheadMax = 65_536
