import type { CID } from 'multiformats/cid'

/** A content-addressed block: bytes, and a CID that they hash to. */
export interface Block {
  readonly cid: CID
  readonly bytes: Uint8Array
}

/** Options of everything that can be given up. */
export interface AbortOptions {
  /** Ends the call when it fires. */
  readonly signal?: AbortSignal | undefined
}

/** Options of asking for a block. */
export interface GetBlockOptions extends AbortOptions {
  /**
   * Whether to wait as long as the signal lets, however long nothing goes on. Where it is left out, a
   * signal says yes. A reader that passes a signal of its own says here whether its caller gave one.
   */
  readonly patient?: boolean | undefined
}

/**
 * Where verified blocks come from: a store, a session, a peer.
 * Many `get`s may run at once; a source bounds its own memory.
 */
export interface BlockSource {
  /**
   * The bytes of the block that `cid` names.
   * Errors: NotFoundError, TimeoutError, AbortError, UnknownHashError, StoppedError.
   */
  get(cid: CID, options?: GetBlockOptions): Promise<Uint8Array>
}

/** Where blocks go. `put` resolves once the block is as durable as the sink promises. */
export interface BlockSink {
  /** Takes a block. The caller has verified it. */
  put(cid: CID, bytes: Uint8Array, options?: AbortOptions): Promise<void>
}

/** Milliseconds on a clock that never jumps; only differences mean anything. */
export interface Clock {
  /** The time now. */
  nowMs(): number
}

/** A source of numbers, uniform in [0, 1). */
export interface Random {
  /** The next number. */
  next(): number
}

/** The part of interface-blockstore 7 that reading needs; any such store fits. */
export interface ReadableStore {
  /** The bytes of a block, in one part or several; it throws where the block is not here. */
  get(cid: CID, options?: AbortOptions): Iterable<Uint8Array> | AsyncIterable<Uint8Array>
}

/** The part of interface-blockstore 7 that writing needs; any such store fits. */
export interface WritableStore {
  /** Keeps a block. */
  put(cid: CID, bytes: Uint8Array, options?: AbortOptions): CID | Promise<CID>
}

/** Joins the chunks of one block; a lone chunk is passed on as it is. */
export async function readBlock(store: ReadableStore, cid: CID, options?: AbortOptions): Promise<Uint8Array> {
  const parts = store.get(cid, options)
  // A store in memory has them at once: waiting for each would cost more than reading it.
  if (Symbol.iterator in parts) return joined(Array.from(parts))
  const chunks: Uint8Array[] = []
  for await (const chunk of parts) chunks.push(chunk)
  return joined(chunks)
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const first = chunks[0]
  if (chunks.length === 1 && first !== undefined) return first
  return joinBytes(chunks)
}

/** Copies parts behind each other; `length` is what they are in all, in bytes, for those who have counted it. */
export function joinBytes(parts: readonly Uint8Array[], length = parts.reduce((sum, part) => sum + part.byteLength, 0)): Uint8Array {
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.byteLength
  }
  return bytes
}

/** All that comes, in one piece; `check` is told how many bytes came so far, and throws where they are too many. */
export async function readWhole(content: AsyncIterable<Uint8Array>, check: (bytes: number) => void): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of content) {
    length += part.byteLength
    check(length)
    parts.push(part)
  }
  return joinBytes(parts, length)
}

/** A store's blocks as a source: what is not in the store is NotFoundError, at once. */
export function blockSourceOf(store: ReadableStore): BlockSource {
  return { get: async (cid, options) => await readBlock(store, cid, options) }
}

/** A store as a sink. */
export function blockSinkOf(store: WritableStore): BlockSink {
  return {
    put: async (cid, bytes, options) => {
      await store.put(cid, bytes, options)
    }
  }
}
