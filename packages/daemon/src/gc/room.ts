/** Keeps a repo within its limit: what is written waits here for room, and collections are begun from here. */
import { AbortError, type AbortOptions, blockKey, type BlockKey, type CID, messageOf } from '@shardswap/interface'
import type { SizedBlockstore } from '@shardswap/repo'
import { RepoFullError } from './errors.ts'
import { SpaceRules } from './space.ts'
import { unlessAborted } from './unless-aborted.ts'

/** How large the blocks of a repo may be in all. */
export interface SpaceLimit {
  readonly maxBytes: number
  /** The part of it from which on garbage is collected. */
  readonly gcAtShare: number
  /** Told where a collection that was begun beside the writes failed. */
  readonly onWarning: (message: string) => void
}

export interface RoomInit {
  readonly limit: SpaceLimit
  readonly blocks: SizedBlockstore
  /** Whether an operation under way counts on a block. */
  readonly isHeld: (key: BlockKey) => boolean
  /** Resolves once a block is not on its way out any more. */
  readonly settled: (cid: CID) => Promise<void>
  /** Makes a whole collection. */
  readonly collect: (options: { readonly isPressed: boolean; readonly signal: AbortSignal }) => Promise<void>
}

export class Room {
  readonly #init: RoomInit
  readonly #closing = new AbortController()
  #counting: Promise<SpaceRules> | undefined
  #rules: SpaceRules | undefined
  /** Blocks that have room and are being written, with their bytes; as many as there are writes. */
  readonly #arriving = new Map<BlockKey, number>()
  /** Those that were arriving when the listing that is under way began, and have not been listed. */
  #unlisted = new Map<BlockKey, number>()
  /** Collections that were begun from here and have not ended: one beside the writes, one that writes wait for. */
  #beside: Promise<void> | undefined
  #pressed: Promise<void> | undefined

  constructor(init: RoomInit) {
    this.#init = init
  }

  /** Bytes of blocks, undefined while nobody had to know. */
  get bytes(): number | undefined {
    return this.#rules?.bytes
  }

  /** Writes a block once there is room for it. Errors: RepoFullError, the signal's reason, those of the write. */
  async put<T>(cid: CID, bytes: number, write: () => Promise<T>, options: AbortOptions = {}): Promise<T> {
    const key = blockKey(cid)
    this.#counting ??= this.#count()
    const rules = await this.#counting
    // Whoever writes must have touched the block before, so that no removal of it begins from here on.
    await this.#init.settled(cid)
    const here = await this.#init.blocks.size(cid)
    if (!this.#init.isHeld(key)) rules.released()
    // What is here, or on its way in by another call, takes no room of its own.
    if (here !== undefined || this.#arriving.has(key)) return await write()
    await this.#make(rules, key, bytes, options.signal)
    try {
      return await write()
    } catch (error) {
      rules.removed(bytes)
      throw error
    } finally {
      this.#arriving.delete(key)
    }
  }

  /** A collection begins to list what is here: of what is arriving it is not known whether it will be listed. */
  listing(): void {
    this.#unlisted = new Map(this.#arriving)
    this.tell((rules) => rules.listing([...this.#arriving.values()].reduce((sum, bytes) => sum + bytes, 0)))
  }

  /** It has listed a block. */
  listed(cid: CID): void {
    if (this.#unlisted.size === 0) return
    const key = blockKey(cid)
    const twice = this.#unlisted.get(key)
    if (twice === undefined) return
    this.#unlisted.delete(key)
    this.tell((rules) => rules.listedTwice(twice))
  }

  async #make(rules: SpaceRules, key: BlockKey, bytes: number, signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      const room = rules.take(bytes)
      if (room === 'full') throw this.#full(rules, undefined)
      if (room === 'fits' || room === 'fits-collect') this.#arriving.set(key, bytes)
      if (room === 'fits-collect') this.#collectBeside()
      if (room !== 'collect') return
      await this.#collectPressed(rules, signal)
    }
  }

  /** What the rules must know of collections, whoever began them; nothing while nobody had to know. */
  tell(what: (rules: SpaceRules) => void): void {
    if (this.#rules !== undefined) what(this.#rules)
  }

  /** Gives up the collections that were begun from here. */
  async close(): Promise<void> {
    this.#closing.abort(new AbortError('the node is closing'))
    await Promise.allSettled([this.#beside, this.#pressed])
  }

  async #count(): Promise<SpaceRules> {
    const { limit, blocks } = this.#init
    let sum = 0
    for await (const { bytes } of blocks.entries({ signal: this.#closing.signal })) sum += bytes
    this.#rules = new SpaceRules({ maxBytes: limit.maxBytes, collectAtBytes: limit.maxBytes * limit.gcAtShare, bytes: sum })
    return this.#rules
  }

  #collectBeside(): void {
    const { collect, limit } = this.#init
    const { signal } = this.#closing
    this.#beside ??= collect({ isPressed: false, signal })
      .catch((error: unknown) => {
        if (!signal.aborted) limit.onWarning(`the repo is nearly full, and its garbage cannot be collected: ${messageOf(error)}`)
      })
      .finally(() => (this.#beside = undefined))
  }

  /** Those who wait share one collection; one that gives up leaves it to the others. */
  async #collectPressed(rules: SpaceRules, signal: AbortSignal | undefined): Promise<void> {
    this.#pressed ??= this.#init.collect({ isPressed: true, signal: this.#closing.signal }).finally(() => (this.#pressed = undefined))
    try {
      await unlessAborted(this.#pressed, signal)
    } catch (error) {
      if (signal?.aborted === true) throw error
      throw this.#full(rules, error)
    }
  }

  #full(rules: SpaceRules, cause: unknown): RepoFullError {
    const why = cause === undefined ? 'and what is in it is pinned or in use' : `and garbage cannot be collected: ${messageOf(cause)}`
    const text = `the repo is full: it holds ${rules.bytes} of ${rules.maxBytes} bytes at most (repo.maxBytes), ${why}`
    return new RepoFullError(`${text}; unpin something, or raise the limit`, cause === undefined ? {} : { cause })
  }
}
