/** Keeps a repo within its limit: what is written waits here for room, and collections are begun from here. */
import { AbortError, type AbortOptions, blockKey, type BlockKey, type CID, messageOf } from '@shardswap/interface'
import type { SizedBlockstore } from '@shardswap/repo'
import { RepoFullError } from './errors.ts'
import { SpaceRules } from './space.ts'

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
  /** Makes a whole collection. */
  readonly collect: (options: { readonly isPressed: boolean; readonly signal: AbortSignal }) => Promise<void>
}

export class Room {
  readonly #init: RoomInit
  readonly #closing = new AbortController()
  #counting: Promise<SpaceRules> | undefined
  #rules: SpaceRules | undefined
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

  /** Resolves once a block may be written. Errors: RepoFullError, the signal's reason. */
  async make(cid: CID, bytes: number, { signal }: AbortOptions = {}): Promise<void> {
    this.#counting ??= this.#count()
    const rules = await this.#counting
    const more = bytes - ((await this.#init.blocks.size(cid)) ?? 0)
    if (!this.#init.isHeld(blockKey(cid))) rules.released()
    for (;;) {
      const room = more <= 0 ? 'fits' : rules.take(more)
      if (room === 'full') throw this.#full(rules, undefined)
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
    const givenUp = Promise.withResolvers<never>()
    const giveUp = (): void => givenUp.reject(signal?.reason instanceof Error ? signal.reason : new AbortError())
    signal?.addEventListener('abort', giveUp, { once: true })
    try {
      signal?.throwIfAborted()
      await Promise.race([this.#pressed, givenUp.promise])
    } catch (error) {
      if (signal?.aborted === true) throw error
      throw this.#full(rules, error)
    } finally {
      signal?.removeEventListener('abort', giveUp)
    }
  }

  #full(rules: SpaceRules, cause: unknown): RepoFullError {
    const why = cause === undefined ? 'and what is in it is pinned or in use' : `and garbage cannot be collected: ${messageOf(cause)}`
    const text = `the repo is full: it holds ${rules.bytes} of ${rules.maxBytes} bytes at most (repo.maxBytes), ${why}`
    return new RepoFullError(`${text}; unpin something, or raise the limit`, cause === undefined ? {} : { cause })
  }
}
