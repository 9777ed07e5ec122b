import type { BlockKey, CID, PeerKey } from '@shardswap/interface'
import type { OutgoingMessage } from '@shardswap/protocol'

/** The blocks that we have. Both answers are about the local store only, never the network; one in memory gives them at once. `key` is the CID's. */
export interface LocalBlocks {
  /** Bytes of a block, or undefined where it is not here. */
  size(cid: CID, key: BlockKey): number | undefined | Promise<number | undefined>
  /** A verified block, or undefined where it is not here (or what is here is corrupt). */
  get(cid: CID, key: BlockKey): Uint8Array | undefined | Promise<Uint8Array | undefined>
}

/** The way out to one peer. */
export interface ServerLinks {
  /**
   * Encodes for the peer's version, writes on its long-lived stream, waits for
   * room. True once all of it was written; false where it could not be (stream
   * reset, peer gone, too slow): then nothing may be credited. One at a time a peer.
   */
  send(peer: PeerKey, message: OutgoingMessage, signal: AbortSignal): Promise<boolean>
}
