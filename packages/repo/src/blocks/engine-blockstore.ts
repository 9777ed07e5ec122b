import { identityBytesMax, isIdentity, isVerifiable, matches, unverifiable } from '@shardswap/hashes'
import {
  type AbortOptions,
  type BlockKey,
  blockKey,
  CID,
  HashMismatchError,
  joinBytes,
  messageOf,
  NotFoundError,
  StoppedError,
  TooLargeError
} from '@shardswap/interface'
import type { InputPair, Pair } from 'interface-blockstore'
import { code as rawCode } from 'multiformats/codecs/raw'
import { decode as decodeMultihash } from 'multiformats/hashes/digest'
import { putManyBlocksMax, storedBytesMax } from '../limits.ts'
import type { BlockEntry, SizedBlockstore, VerifyResult } from '../types.ts'
import type { BlockEngine, EngineEntry } from './engine.ts'
import { KeyTurns } from './key-turns.ts'

type Bytes = Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>

export interface EngineBlockstoreInit {
  /** Hash each block that is read, and drop one that does not match its CID. */
  readonly verifyOnRead: boolean
}

/**
 * An interface-blockstore over an engine. Two CIDs of one multihash are one
 * block; an identity CID is its own block and is never stored. `put` takes the
 * caller's word that the bytes match: a block is hashed where it comes in.
 */
export class EngineBlockstore implements SizedBlockstore {
  readonly #engine: BlockEngine
  readonly #verifyOnRead: boolean
  readonly #turns = new KeyTurns<BlockKey>()
  #running = 0
  #closing: Promise<void> | undefined
  #idle: (() => void) | undefined

  constructor(engine: BlockEngine, init: EngineBlockstoreInit) {
    this.#engine = engine
    this.#verifyOnRead = init.verifyOnRead
  }

  /** Whether the block is here; reads no block. */
  async has(cid: CID, options?: AbortOptions): Promise<boolean> {
    return (await this.size(cid, options)) !== undefined
  }

  /** Bytes of the block, or undefined where it is not here; reads no block. */
  async size(cid: CID, options?: AbortOptions): Promise<number | undefined> {
    if (isIdentity(cid)) return cid.multihash.size <= identityBytesMax ? cid.multihash.size : undefined
    return await this.#use(options, async () => await this.#engine.size(cid.multihash.bytes))
  }

  /**
   * Stores a block, replacing what was there. Resolves once it outlives this
   * process. Errors: UnknownHashError, InvalidCidError, TooLargeError, and the
   * system's own (a full disk).
   */
  async put(cid: CID, bytes: Bytes, options?: AbortOptions): Promise<CID> {
    // What could not be checked when it is read again must not be stored.
    if (!isVerifiable(cid)) throw unverifiable(cid)
    if (isIdentity(cid)) return cid
    const whole = bytes instanceof Uint8Array ? bytes : await collect(bytes)
    if (whole.byteLength > storedBytesMax) throw new TooLargeError(tooLarge(cid, whole.byteLength))
    await this.#write(cid, options, async (key) => await this.#engine.write(key, whole))
    return cid
  }

  /** Stores blocks, up to 32 at a time; yields their CIDs in order, each once its block is stored. */
  async *putMany(source: Iterable<InputPair> | AsyncIterable<InputPair>, options?: AbortOptions): AsyncGenerator<CID> {
    const window: Promise<CID>[] = []
    try {
      for await (const { cid, bytes } of source) {
        const stored = this.put(cid, bytes, options)
        // Its error is thrown when its turn comes; until then it must not count as unhandled.
        stored.catch(() => undefined)
        window.push(stored)
        const oldest = window.length >= putManyBlocksMax ? window.shift() : undefined
        if (oldest !== undefined) yield await oldest
      }
      for (let next = window.shift(); next !== undefined; next = window.shift()) yield await next
    } finally {
      await Promise.allSettled(window)
    }
  }

  /** The block's bytes, in one part. Errors, with the first `next()`: NotFoundError, InvalidCidError. */
  async *get(cid: CID, options?: AbortOptions): AsyncGenerator<Uint8Array> {
    yield await this.#read(cid, options)
  }

  /** As `get`, one CID after another. */
  async *getMany(source: Iterable<CID> | AsyncIterable<CID>, options?: AbortOptions): AsyncGenerator<Pair> {
    for await (const cid of source) yield { cid, bytes: this.get(cid, options) }
  }

  /** Removes the block; it is no error if it is not here. */
  async delete(cid: CID, options?: AbortOptions): Promise<void> {
    if (isIdentity(cid)) return
    await this.#write(cid, options, async (key) => await this.#engine.remove(key))
  }

  /** As `delete`, one CID after another; yields each CID once it is gone. */
  async *deleteMany(source: Iterable<CID> | AsyncIterable<CID>, options?: AbortOptions): AsyncGenerator<CID> {
    for await (const cid of source) {
      await this.delete(cid, options)
      yield cid
    }
  }

  /** Every block, under a CIDv1 of the codec raw, in no order. The bytes are read when asked for. */
  async *getAll(options?: AbortOptions): AsyncGenerator<Pair> {
    for await (const { key } of this.#entries(options)) {
      const cid = cidOfKey(key)
      yield { cid, bytes: this.get(cid, options) }
    }
  }

  /** Every block with its size, under a CIDv1 of the codec raw, in no order. */
  async *entries(options?: AbortOptions): AsyncGenerator<BlockEntry> {
    for await (const { key, bytes } of this.#entries(options)) yield { cid: cidOfKey(key), bytes }
  }

  /** Forces the index to the disk. */
  async sync(): Promise<void> {
    await this.#use(undefined, async () => await this.#engine.sync())
  }

  /** How many blocks there are, and the sum of their sizes in bytes. */
  async total(): Promise<{ blocks: number; blockBytes: number }> {
    let blocks = 0
    let blockBytes = 0
    for await (const { bytes } of this.#entries(undefined)) {
      blocks += 1
      blockBytes += bytes
    }
    return { blocks, blockBytes }
  }

  /** Reads and hashes every block, one at a time; drops none. */
  async *verify(options?: AbortOptions): AsyncGenerator<VerifyResult> {
    for await (const { key, bytes } of this.#entries(options)) {
      const cid = cidOfKey(key)
      const result = await this.#use(options, async () => await this.#check(cid, bytes))
      if (result !== undefined) yield result
    }
  }

  /** Waits for what is under way, then gives up the engine. */
  async close(): Promise<void> {
    this.#closing ??= this.#finish()
    await this.#closing
  }

  /** What the engine lists. It does not hold up `close`, for a caller may leave it in the middle; it ends by an error then. */
  async *#entries(options: AbortOptions | undefined): AsyncGenerator<EngineEntry> {
    this.#refuseIfClosed()
    try {
      for await (const entry of this.#engine.entries()) {
        this.#refuseIfClosed()
        options?.signal?.throwIfAborted()
        yield entry
      }
    } catch (error) {
      this.#refuseIfClosed()
      throw error
    }
  }

  #refuseIfClosed(): void {
    if (this.#closing !== undefined) throw new StoppedError('the repo is closed')
  }

  async #finish(): Promise<void> {
    if (this.#running > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve
      })
    }
    await this.#engine.close()
  }

  async #read(cid: CID, options: AbortOptions | undefined): Promise<Uint8Array> {
    if (isIdentity(cid)) {
      if (!isVerifiable(cid)) throw unverifiable(cid)
      return cid.multihash.digest
    }
    const key = cid.multihash.bytes
    const bytes = await this.#use(options, async () => await this.#engine.read(key))
    options?.signal?.throwIfAborted()
    if (bytes !== undefined && this.#isGood(cid, bytes)) return bytes
    return await this.#readAgain(cid, options)
  }

  #isGood(cid: CID, bytes: Uint8Array): boolean {
    return !this.#verifyOnRead || matches(cid, bytes)
  }

  /**
   * A block that is missing or does not match is read once more, alone, in case
   * a writer was at it. If it is damaged still, it goes, so that it is asked of
   * others like any block that is not here, and can be stored anew.
   */
  async #readAgain(cid: CID, options: AbortOptions | undefined): Promise<Uint8Array> {
    return await this.#write(cid, options, async (key) => {
      const bytes = await this.#engine.read(key)
      if (bytes !== undefined && this.#isGood(cid, bytes)) return bytes
      if (bytes === undefined && (await this.#engine.size(key)) === undefined) {
        throw new NotFoundError(`block ${cid.toString()} is not in the repo`)
      }
      await this.#engine.remove(key)
      throw new NotFoundError(`block ${cid.toString()} was damaged in the repo and has been dropped: fetch or add it again`, {
        cause: new HashMismatchError('the bytes on disk do not match the CID')
      })
    })
  }

  /** How the block is, or undefined where it was deleted meanwhile. */
  async #check(cid: CID, bytesExpected: number): Promise<VerifyResult | undefined> {
    try {
      const bytes = await this.#engine.read(cid.multihash.bytes)
      if (bytes !== undefined) return judge(cid, bytes, bytesExpected)
      const gone = (await this.#engine.size(cid.multihash.bytes)) === undefined
      return gone ? undefined : { cid, ok: false, reason: 'its bytes are missing' }
    } catch (error) {
      return { cid, ok: false, reason: `it cannot be read: ${messageOf(error)}` }
    }
  }

  /** Runs a task that changes one block, after those before it on the same block. */
  async #write<T>(cid: CID, options: AbortOptions | undefined, task: (key: Uint8Array) => Promise<T>): Promise<T> {
    return await this.#use(options, async () => await this.#turns.run(blockKey(cid), async () => await task(cid.multihash.bytes)))
  }

  /** Counts a task as under way, so that `close` can wait for it. */
  async #use<T>(options: AbortOptions | undefined, task: () => Promise<T>): Promise<T> {
    this.#refuseIfClosed()
    options?.signal?.throwIfAborted()
    this.#running += 1
    try {
      return await task()
    } finally {
      this.#running -= 1
      if (this.#running === 0) this.#idle?.()
    }
  }
}

function judge(cid: CID, bytes: Uint8Array, bytesExpected: number): VerifyResult {
  if (matches(cid, bytes)) return { cid, ok: true }
  if (bytes.byteLength === bytesExpected) return { cid, ok: false, reason: 'its bytes do not match its CID' }
  return { cid, ok: false, reason: `it has ${bytes.byteLength} bytes instead of ${bytesExpected}` }
}

/** The CID under which a block of this multihash is listed. */
function cidOfKey(key: Uint8Array): CID {
  return CID.createV1(rawCode, decodeMultihash(key))
}

function tooLarge(cid: CID, bytes: number): string {
  return `block ${cid.toString()} has ${bytes} bytes or more; the store takes up to ${storedBytesMax}`
}

async function collect(source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of source) {
    length += part.byteLength
    if (length > storedBytesMax) throw new TooLargeError(`a block has ${length} bytes or more; the store takes up to ${storedBytesMax}`)
    parts.push(part)
  }
  return joinBytes(parts, length)
}
