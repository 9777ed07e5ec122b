/** A block as an engine lists it. */
export interface EngineEntry {
  /** The multihash. */
  readonly key: Uint8Array
  readonly bytes: number
}

/**
 * Where blocks rest, by multihash. It neither hashes nor knows CIDs. A write is
 * done when a later reader, also one after the end of this process, finds it.
 * Calls for one key are never concurrent if one of them writes or removes.
 */
export interface BlockEngine {
  /** Bytes of a block, without reading it. */
  size(key: Uint8Array): Promise<number | undefined>
  read(key: Uint8Array): Promise<Uint8Array | undefined>
  write(key: Uint8Array, bytes: Uint8Array): Promise<void>
  remove(key: Uint8Array): Promise<void>
  entries(): AsyncIterable<EngineEntry>
  /** Forces what says which blocks are here to the disk. */
  sync(): Promise<void>
  close(): Promise<void>
}
