/** Blocks that come and go: the store as everybody must use it, holds for what is under way, and collections. */
import { isIdentity } from '@shardswap/hashes'
import {
  type AbortOptions,
  asError,
  blockKey,
  type BlockKey,
  type BlockSink,
  type CID,
  isNotFound,
  type Random,
  readBlock
} from '@shardswap/interface'
import type { BlockEntry, SizedBlockstore } from '@shardswap/repo'
import { collectionLanesMax, removalLanesMax } from '../limits.ts'
import { type CoreHold, GarbageCore } from './core.ts'
import { CollectionError } from './errors.ts'
import { guardedStore } from './guarded-store.ts'
import { hasLinks, linkedCids, tagOf } from './links.ts'
import { Room, type SpaceLimit } from './room.ts'
import { Turn } from './turn.ts'
import { walkDag } from './walk.ts'

/** What pins ask a collection to keep. */
export interface KeptRoot {
  readonly cid: CID
  /** With all that it leads to. */
  readonly isRecursive: boolean
}

export interface KeeperInit {
  readonly blocks: SizedBlockstore
  /** The pins, as they are when it is called. */
  readonly pins: () => AsyncIterable<KeptRoot>
  readonly random: Random
  /** Where the repo has a limit. */
  readonly limit?: SpaceLimit | undefined
}

/** What an operation keeps while it runs. */
export interface Hold {
  /**
   * Says that a block will be counted on. Once this resolves the block does not go while the hold is open; so look
   * for it after that, not before. Returns whether it is the first time, for each codec that gives the block links.
   */
  touch(cid: CID): Promise<boolean>
  /** As `touch`, at once: whoever reads the block next must wait for `settled` first. */
  note(cid: CID): boolean
  /** Resolves once the block is not on its way out any more. */
  settled(cid: CID): Promise<void>
  /** A sink whose blocks are touched before they are written. */
  sink(sink: BlockSink): BlockSink
  /** What it made is kept by a pin, or by nothing. May be called again. */
  end(): void
}

export interface CollectOptions extends AbortOptions {
  /** Take away what readers have passed, too. */
  readonly isPressed?: boolean
}

/** One line of a collection: a block that is gone, or one that could not be dealt with. */
export type Collected = { readonly cid: CID; readonly bytes: number } | { readonly cid: CID; readonly error: Error }

/** Answers of `remove`. */
export type Removed =
  | { readonly cid: CID; readonly outcome: 'removed' | 'absent' | 'in-use' }
  | { readonly cid: CID; readonly pinned: string }

export class BlockKeeper {
  /** The store as everybody else must use it: a collection learns of each block that is written. */
  readonly store: SizedBlockstore
  readonly #blocks: SizedBlockstore
  readonly #pins: () => AsyncIterable<KeptRoot>
  readonly #core: GarbageCore
  readonly #turn = new Turn()
  readonly #removals = new Map<BlockKey, Promise<void>>()
  readonly #room: Room | undefined

  constructor({ blocks, pins, random, limit }: KeeperInit) {
    this.#blocks = blocks
    this.#pins = pins
    this.#core = new GarbageCore(random)
    this.#room = limit === undefined ? undefined : this.#roomFor(limit)
    this.store = guardedStore(blocks, {
      put: async (cid, bytes, write, options) => {
        this.#core.touch(blockKey(cid), undefined)
        return this.#room === undefined ? await write() : await this.#room.put(cid, bytes, write, options)
      }
    })
  }

  /** Bytes of all blocks; undefined while nobody had to know, which is so without a limit. */
  get bytes(): number | undefined {
    return this.#room?.bytes
  }

  get isCollecting(): boolean {
    return this.#core.isCollecting
  }

  /** How many collections have begun since the keeper was made. */
  get collections(): number {
    return this.#core.begun
  }

  /**
   * Begins to keep what an operation writes and touches. `roots` are where it begins to read: what is here below them is
   * kept by collections that begin later. `isReader`: it will not miss what it has read.
   */
  hold(roots: readonly CID[] = [], isReader = false): Hold {
    const hold = this.#core.open(roots, isReader)
    const note = (cid: CID): boolean => this.#core.touch(blockKey(cid), hold, tagOf(cid))
    return {
      note,
      touch: async (cid) => {
        const isNew = note(cid)
        await this.#settled(cid)
        return isNew
      },
      settled: async (cid) => await this.#settled(cid),
      sink: (sink) => ({ put: async (cid, bytes, options) => await this.#put(hold, sink, cid, bytes, options) }),
      end: () => {
        this.#core.close(hold)
        this.released()
      }
    }
  }

  /** Says that a pin was taken away, so that a collection may find something. */
  released(): void {
    this.#room?.tell((rules) => rules.released())
  }

  /** Ends the collections that the limit has begun. */
  async close(): Promise<void> {
    await this.#room?.close()
  }

  /**
   * Removes every block that no pin leads to and nothing that is under way needs; yields what it removed, and what it
   * could not. It ends early where it is given up. One runs at a time; others wait.
   * Errors: CollectionError where a block that a pin leads to cannot be read, before anything is removed; the signal's reason.
   */
  async *collect({ signal, isPressed = false }: CollectOptions = {}): AsyncGenerator<Collected> {
    const done = await this.#turn.take(signal)
    let isWhole = false
    try {
      const roots = this.#core.begin(!isPressed)
      this.#room?.tell((rules) => rules.begin())
      const failures = await this.#mark(roots, signal)
      yield* failures
      if (failures[0] !== undefined) {
        throw new CollectionError(`garbage collection aborted: could not retrieve some links: ${failures[0].error.message}`)
      }
      yield* this.#sweep(signal)
      isWhole = true
    } finally {
      await Promise.allSettled(this.#removals.values())
      this.#core.end()
      this.#room?.tell((rules) => rules.end(isWhole && isPressed))
      done()
    }
  }

  /** Removes these blocks, unless a pin leads to them or something that is under way needs them. Errors: as `collect`. */
  async *remove(cids: readonly CID[], { signal }: AbortOptions = {}): AsyncGenerator<Removed> {
    const done = await this.#turn.take(signal)
    try {
      // What readers have passed may go, as they asked for nothing more than to read it.
      const roots = this.#core.begin(false)
      const why = new Map<BlockKey, string>()
      const failures = await this.#mark(roots, signal, new Set(cids.map(blockKey)), why)
      if (failures[0] !== undefined) throw new CollectionError(`pin check failed: ${failures[0].error.message}`)
      for (const cid of cids) yield await this.#removeOne(cid, why)
    } finally {
      await Promise.allSettled(this.#removals.values())
      this.#core.end()
      done()
    }
  }

  #roomFor(limit: SpaceLimit): Room {
    return new Room({
      limit,
      blocks: this.#blocks,
      isHeld: (key) => this.#core.isHeld(key),
      settled: async (cid) => await this.#settled(cid),
      collect: async (options) => {
        for await (const line of this.collect(options)) if ('error' in line) throw line.error
      }
    })
  }

  async #removeOne(cid: CID, why: ReadonlyMap<BlockKey, string>): Promise<Removed> {
    const pinned = why.get(blockKey(cid))
    if (pinned !== undefined) return { cid, pinned }
    const bytes = await this.#blocks.size(cid)
    if (bytes === undefined) return { cid, outcome: 'absent' }
    const removal = this.#remove(cid, bytes)
    if (removal === undefined) return { cid, outcome: 'in-use' }
    await removal
    return { cid, outcome: 'removed' }
  }

  async #put(hold: CoreHold, sink: BlockSink, cid: CID, bytes: Uint8Array, options: AbortOptions | undefined): Promise<void> {
    // Before anything is asked of the store: a block that is here already is counted on as much as a new one.
    this.#core.touch(blockKey(cid), hold)
    await sink.put(cid, bytes, options)
  }

  async #settled(cid: CID): Promise<void> {
    await this.#removals.get(blockKey(cid))
  }

  /** Marks from pins and holds. What pins lead to must be here: what is missing is returned, for what is below it cannot be known. */
  async #mark(
    holdRoots: readonly CID[],
    signal: AbortSignal | undefined,
    wanted?: ReadonlySet<BlockKey>,
    why?: Map<BlockKey, string>
  ): Promise<{ cid: CID; error: Error }[]> {
    const failures: { cid: CID; error: Error }[] = []
    const explain = (cid: CID, reason: string): void => {
      const key = blockKey(cid)
      if (wanted?.has(key) === true && why?.has(key) === false) why.set(key, reason)
    }
    for await (const { cid, isRecursive } of this.#pins()) {
      signal?.throwIfAborted()
      explain(cid, `pinned: ${isRecursive ? 'recursive' : 'direct'}`)
      if (!isRecursive) this.#core.mark(blockKey(cid), 0)
      else
        await this.#markDag(
          [cid],
          signal,
          (link, error) => failures.push({ cid: link, error }),
          (link) => explain(link, `pinned via ${cid.toString()}`)
        )
    }
    // After the pins: what is missing here must not hide that a pin leads to it.
    await this.#markDag(
      holdRoots,
      signal,
      () => undefined,
      () => undefined
    )
    return failures
  }

  async #markDag(
    roots: readonly CID[],
    signal: AbortSignal | undefined,
    onMissing: (cid: CID, error: Error) => void,
    onMet: (cid: CID) => void
  ): Promise<void> {
    await walkDag({
      roots,
      lanes: collectionLanesMax,
      signal,
      admit: (cid) => {
        onMet(cid)
        return this.#core.mark(blockKey(cid), tagOf(cid)) && hasLinks(cid)
      },
      visit: async (cid) => {
        try {
          return linkedCids(cid, isIdentity(cid) ? cid.multihash.digest : await readBlock(this.#blocks, cid, { signal }))
        } catch (thrown) {
          signal?.throwIfAborted()
          const error = asError(thrown)
          const why = isNotFound(error) ? error.message : `could not retrieve links for ${cid.toString()}: ${error.message}`
          onMissing(cid, new CollectionError(why, { cause: error }))
          return []
        }
      }
    })
  }

  async *#sweep(signal: AbortSignal | undefined): AsyncGenerator<Collected> {
    const window: Promise<Collected>[] = []
    let listedBytes = 0
    this.#room?.listing()
    for await (const entry of this.#blocks.entries({ signal })) {
      listedBytes += entry.bytes
      this.#room?.listed(entry.cid)
      const removal = this.#remove(entry.cid, entry.bytes)
      if (removal === undefined) continue
      window.push(collectedOf(entry, removal))
      const oldest = window.length >= removalLanesMax ? window.shift() : undefined
      if (oldest !== undefined) yield await oldest
    }
    this.#room?.tell((rules) => rules.listed(listedBytes))
    for (let next = window.shift(); next !== undefined; next = window.shift()) yield await next
  }

  /** Removes a block if nothing needs it. Its task stands in the store before anybody else's turn, so a write that comes now comes after it. */
  #remove(cid: CID, bytes: number): Promise<void> | undefined {
    const key = blockKey(cid)
    if (!this.#core.startRemoval(key)) return undefined
    const removal = this.#blocks.delete(cid)
    const gone = Promise.resolve(removal)
      .then(() => this.#room?.tell((rules) => rules.removed(bytes)))
      .finally(() => {
        this.#removals.delete(key)
        this.#core.removed(key)
      })
    // Its error is for whoever removes; those who only wait for the end must not get it.
    this.#removals.set(
      key,
      gone.catch(() => undefined)
    )
    return gone
  }
}

async function collectedOf({ cid, bytes }: BlockEntry, removal: Promise<void>): Promise<Collected> {
  try {
    await removal
    return { cid, bytes }
  } catch (thrown) {
    const error = asError(thrown)
    return { cid, error: new CollectionError(`could not remove ${cid.toString()}: ${error.message}`, { cause: error }) }
  }
}
