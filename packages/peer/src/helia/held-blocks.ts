import { type BlockKey, blockKey, type CID } from '@shardswap/interface'
import type { Logger } from '@libp2p/interface'
import type { LocalStore } from '../store.ts'

/** Bytes of blocks that wait for Helia to store them; above it the exchange stores what comes itself, and waits for the store. */
const heldBytesMax = 16 * 1024 * 1024
/** How long Helia may take to store a block that it was given, in milliseconds; then the exchange does. */
const heldMs = 5000

interface Held {
  readonly cid: CID
  readonly bytes: Uint8Array
  readonly timer: NodeJS.Timeout
}

/**
 * The store of a Helia node. Helia stores each block that it is given, so the exchange does not write it a first time: it
 * holds it, and serves it, until Helia has stored it. Blocks that nobody asked for through Helia are stored at once.
 */
export class HeldBlocks implements LocalStore {
  readonly #store: LocalStore
  readonly #log: Logger
  /** Blocks that Helia waits for, and how many times over. */
  readonly #asked = new Map<BlockKey, number>()
  readonly #held = new Map<BlockKey, Held>()
  #bytes = 0

  constructor(store: LocalStore, log: Logger) {
    this.#store = store
    this.#log = log
  }

  /** Bytes that are held. */
  get bytes(): number {
    return this.#bytes
  }

  /** Helia asks for this block, and stores it once it is given. Call what is returned when it does not wait any more. */
  ask(cid: CID): () => void {
    const key = blockKey(cid)
    this.#asked.set(key, (this.#asked.get(key) ?? 0) + 1)
    return () => {
      const left = (this.#asked.get(key) ?? 0) - 1
      if (left > 0) this.#asked.set(key, left)
      else this.#asked.delete(key)
    }
  }

  /** Helia says that it has stored a block, or is about to. Never rejects. */
  async announced(cid: CID): Promise<void> {
    const key = blockKey(cid)
    const held = this.#held.get(key)
    if (held !== undefined && (await this.#isStored(cid))) this.#letGo(key, held)
  }

  stop(): void {
    for (const [key, held] of this.#held) this.#letGo(key, held)
  }

  get(cid: CID, key: BlockKey): ReturnType<LocalStore['get']> {
    return this.#held.get(key)?.bytes ?? this.#store.get(cid, key)
  }

  find(cid: CID, key: BlockKey): ReturnType<LocalStore['find']> {
    return this.#held.get(key)?.bytes ?? this.#store.find(cid, key)
  }

  size(cid: CID, key: BlockKey): ReturnType<LocalStore['size']> {
    return this.#held.get(key)?.bytes.byteLength ?? this.#store.size(cid, key)
  }

  async has(cid: CID): Promise<boolean> {
    return this.#held.has(blockKey(cid)) || (await this.#store.has(cid))
  }

  put(cid: CID, bytes: Uint8Array, key: BlockKey): ReturnType<LocalStore['put']> {
    if (this.#held.has(key)) return undefined
    if (!this.#asked.has(key) || this.#bytes + bytes.byteLength > heldBytesMax) return this.#store.put(cid, bytes, key)
    const timer = setTimeout(() => void this.#storeMyself(key), heldMs)
    timer.unref()
    this.#held.set(key, { cid, bytes, timer })
    this.#bytes += bytes.byteLength
    return undefined
  }

  #letGo(key: BlockKey, held: Held): void {
    if (this.#held.get(key) !== held) return
    clearTimeout(held.timer)
    this.#held.delete(key)
    this.#bytes -= held.bytes.byteLength
  }

  /** Helia gave the block up in the moment in which it came, or its store is slow. Never rejects. */
  async #storeMyself(key: BlockKey): Promise<void> {
    const held = this.#held.get(key)
    if (held === undefined) return
    try {
      if (!(await this.#isStored(held.cid))) await this.#store.put(held.cid, held.bytes, key)
    } catch (error) {
      this.#log.error('could not store %c, which Helia asked for and did not store - %e', held.cid, error)
    }
    this.#letGo(key, held)
  }

  async #isStored(cid: CID): Promise<boolean> {
    try {
      return await this.#store.has(cid)
    } catch (error) {
      this.#log.error('could not ask the store for %c - %e', cid, error)
      return false
    }
  }
}
