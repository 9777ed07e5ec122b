import { join } from 'node:path'
import type { ClassicLevel } from 'classic-level'
import { forceToDisk, openLevel } from '../lock.ts'
import { inlineBytesMax } from '../limits.ts'
import { BatchedWrites } from './batched-writes.ts'
import type { BlockEngine, EngineEntry } from './engine.ts'
import { FlatFiles } from './flat-files.ts'

/** Keys of the index: 's' and a multihash hold the block's size, 'b' and a multihash its bytes if it is small. */
const sizeTag = 0x73
const bytesTag = 0x62
/** The key of this byte alone is written where all before it is to be on the disk; it has no value. */
const syncTag = 0x66

function tagged(tag: number, key: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(key.byteLength + 1)
  bytes[0] = tag
  bytes.set(key, 1)
  return bytes
}

/** Four bytes, little end first. */
function encodeSize(size: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, size, true)
  return bytes
}

function decodeSize(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(0, true)
}

/**
 * Small blocks within LevelDB, large ones in files of their own, the sizes of
 * all in LevelDB. The index says what is here; a file counts once its size
 * stands in the index, and a crash in between is made good by `reconcile`.
 * Nothing is forced to the disk: what was written outlives this process,
 * because the operating system has it, but not a loss of power. Which is safe
 * here: a block that such a loss tore does not match its own name.
 */
export class DiskEngine implements BlockEngine {
  readonly #db: ClassicLevel<Uint8Array, Uint8Array>
  readonly #files: FlatFiles
  readonly #writes: BatchedWrites

  private constructor(db: ClassicLevel<Uint8Array, Uint8Array>, files: FlatFiles) {
    this.#db = db
    this.#files = files
    this.#writes = new BatchedWrites(db)
  }

  /** Opens the folder. The caller holds the repo's lock. `afterCrash`: the last process did not close it. */
  static async open(folder: string, afterCrash: boolean): Promise<DiskEngine> {
    const files = new FlatFiles(folder)
    await files.open()
    const db = await openLevel<Uint8Array>(join(folder, 'index'), 'view')
    const engine = new DiskEngine(db, files)
    try {
      if (afterCrash) await engine.#reconcile()
      return engine
    } catch (error) {
      await db.close()
      throw error
    }
  }

  async size(key: Uint8Array): Promise<number | undefined> {
    return this.#sizeNow(key)
  }

  /**
   * Read in place: the sizes lie close together, so they are in memory nearly
   * always, and going through a thread costs ten times the reading.
   */
  #sizeNow(key: Uint8Array): number | undefined {
    const value = this.#db.getSync(tagged(sizeTag, key))
    return value === undefined ? undefined : decodeSize(value)
  }

  async read(key: Uint8Array): Promise<Uint8Array | undefined> {
    const size = this.#sizeNow(key)
    if (size === undefined) return undefined
    return size <= inlineBytesMax ? await this.#readInline(key) : await this.#files.read(key, size)
  }

  async #readInline(key: Uint8Array): Promise<Uint8Array | undefined> {
    const value = await this.#db.get(tagged(bytesTag, key))
    // LevelDB's binding gives a Buffer, whose `slice` and JSON are not those of a Uint8Array.
    return value === undefined ? undefined : new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
  }

  async write(key: Uint8Array, bytes: Uint8Array): Promise<void> {
    const size = { type: 'put', key: tagged(sizeTag, key), value: encodeSize(bytes.byteLength) } as const
    if (bytes.byteLength <= inlineBytesMax) {
      await this.#writes.write(size, { type: 'put', key: tagged(bytesTag, key), value: bytes })
    } else {
      await this.#files.write(key, bytes)
      await this.#writes.write(size)
    }
  }

  async remove(key: Uint8Array): Promise<void> {
    const size = this.#sizeNow(key)
    if (size === undefined) return
    const gone = { type: 'del', key: tagged(sizeTag, key) } as const
    if (size <= inlineBytesMax) {
      await this.#writes.write(gone, { type: 'del', key: tagged(bytesTag, key) })
    } else {
      await this.#writes.write(gone)
      await this.#files.remove(key)
    }
  }

  async *entries(): AsyncIterable<EngineEntry> {
    const range = { gte: new Uint8Array([sizeTag]), lt: new Uint8Array([sizeTag + 1]) }
    for await (const [key, value] of this.#db.iterator(range)) yield { key: key.slice(1), bytes: decodeSize(value) }
  }

  async sync(): Promise<void> {
    await forceToDisk(this.#db, new Uint8Array([syncTag]))
  }

  async close(): Promise<void> {
    await this.#db.close()
  }

  /** Takes files that are in place, but not in the index, into the index. Their bytes are checked when read. */
  async #reconcile(): Promise<void> {
    for await (const key of this.#files.keys()) {
      if ((await this.size(key)) !== undefined) continue
      const size = await this.#files.size(key)
      if (size === undefined) continue
      if (size > inlineBytesMax) await this.#db.put(tagged(sizeTag, key), encodeSize(size))
      else await this.#files.remove(key)
    }
  }
}
