import { blockKeyOfMultihash, type BlockKey } from '@shardswap/interface'
import type { BlockEngine, EngineEntry } from './engine.ts'

/** A small slice would keep the whole buffer that it was cut from, such as a frame of 4 MiB. */
function compact(bytes: Uint8Array): Uint8Array {
  return bytes.buffer.byteLength > 2 * bytes.byteLength ? bytes.slice() : bytes
}

/** Blocks in a map; nothing outlives the process. */
export class MemoryEngine implements BlockEngine {
  readonly #blocks = new Map<BlockKey, { key: Uint8Array; bytes: Uint8Array }>()

  async size(key: Uint8Array): Promise<number | undefined> {
    return this.#blocks.get(blockKeyOfMultihash(key))?.bytes.byteLength
  }

  async read(key: Uint8Array): Promise<Uint8Array | undefined> {
    return this.#blocks.get(blockKeyOfMultihash(key))?.bytes
  }

  async write(key: Uint8Array, bytes: Uint8Array): Promise<void> {
    this.#blocks.set(blockKeyOfMultihash(key), { key: compact(key), bytes: compact(bytes) })
  }

  async remove(key: Uint8Array): Promise<void> {
    this.#blocks.delete(blockKeyOfMultihash(key))
  }

  async *entries(): AsyncIterable<EngineEntry> {
    for (const { key, bytes } of this.#blocks.values()) yield { key, bytes: bytes.byteLength }
  }

  async sync(): Promise<void> {}

  async close(): Promise<void> {
    this.#blocks.clear()
  }
}
