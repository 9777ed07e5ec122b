/** Pins of a repo that is open in this process. */
import { parsePath, resolve } from '@shardswap/content'
import { type AbortOptions, asError, blockKey, type BlockSource, CID, InvalidParametersError } from '@shardswap/interface'
import type { Repo, SizedBlockstore } from '@shardswap/repo'
import type { NodePins, PinAddOptions, PinCheck, PinEntry, PinListOptions, PinRemoveOptions, PinUpdateOptions } from '../api/pins.ts'
import type { BlockKeeper, Hold } from '../gc/keeper.ts'
import { KeySet } from '../gc/key-set.ts'
import { tagOf } from '../gc/links.ts'
import { unforeseen } from '../gc/unforeseen.ts'
import { walkDag } from '../gc/walk.ts'
import { pinLanesMax, pinNameBytesMax } from '../limits.ts'
import type { FetchOptions } from '../node.ts'
import { PinError } from './errors.ts'
import { IndirectPins } from './indirect.ts'
import { type Pin, PinStore } from './pin-store.ts'
import { meet } from './read-links.ts'

export interface LocalPinsInit {
  readonly repo: Repo
  readonly keeper: BlockKeeper
  readonly store: PinStore
  /** Where blocks are looked for while no peer is asked. */
  readonly offline: BlockSource
  /** Runs a read that may ask peers. */
  readonly read: <T>(options: FetchOptions, use: (source: BlockSource) => Promise<T>) => Promise<T>
}

/** What a pin is made with. */
interface PinUnder {
  /** New, so that it tells what was looked at. */
  readonly hold: Hold
  readonly source: BlockSource
  readonly isRecursive: boolean
}

export class LocalPins implements NodePins {
  readonly #init: LocalPinsInit
  readonly #blocks: SizedBlockstore

  constructor(init: LocalPinsInit) {
    this.#init = init
    this.#blocks = init.repo.blocks
  }

  async add(paths: readonly string[], options: PinAddOptions = {}): Promise<readonly CID[]> {
    const { isRecursive = true, name = '' } = options
    checkPinName(name)
    return await this.#init.read(options, async (source) => {
      const cids = await this.#resolveAll(paths, source, options)
      // Its roots are marked from: what was fetched before a collection begins is kept by them.
      const hold = this.#init.keeper.hold(cids)
      try {
        await this.#fetch(cids, { hold, source, isRecursive }, options)
        await this.record(cids, isRecursive, name)
        return cids
      } finally {
        hold.end()
      }
    })
  }

  /** Pins one root from what is in the repo, which the caller holds. Errors: as `add`. */
  async addHere(cid: CID, options: AbortOptions): Promise<void> {
    // A hold of its own, for it tells what was looked at: not what another root's walk came to before it failed.
    const hold = this.#init.keeper.hold([cid])
    try {
      await this.#fetch([cid], { hold, source: this.#init.offline, isRecursive: true }, options)
      await this.record([cid], true, '')
    } finally {
      hold.end()
    }
  }

  /** Writes pins of which every block is here and held. Errors: PinError. */
  async record(cids: readonly CID[], isRecursive: boolean, name: string): Promise<void> {
    const { store } = this.#init
    await store.change(async () => {
      if (!isRecursive) await this.#refuseRecursive(cids)
      return { put: cids.map((cid) => ({ cid, isRecursive, name })), answer: undefined }
    })
  }

  async *ls({ type = 'all', name, paths, signal }: PinListOptions = {}): AsyncGenerator<PinEntry> {
    if (name !== undefined) checkPinName(name)
    if (paths !== undefined && paths.length > 0) {
      yield* this.#listed(paths, type, signal)
      return
    }
    const isWanted = (pin: Pin): boolean => name === undefined || pin.name.includes(name)
    if (type === 'recursive' || type === 'all') yield* this.#own(true, isWanted)
    if (type === 'direct' || type === 'all') yield* this.#own(false, isWanted)
    // A name is of a pin that was asked for, so no indirect one has it.
    if ((type === 'indirect' || type === 'all') && name === undefined) yield* this.#indirect().all(signal)
  }

  async rm(paths: readonly string[], options: PinRemoveOptions = {}): Promise<readonly CID[]> {
    const cids = await this.#init.read(options, async (source) => await this.#resolveAll(paths, source, options))
    await this.#init.store.change(async () => {
      for (const cid of cids) await this.#checkRemovable(cid, options.isRecursive ?? true)
      return { remove: cids, answer: undefined }
    })
    this.#init.keeper.released()
    return cids
  }

  async update(from: string, to: string, options: PinUpdateOptions = {}): Promise<readonly [CID, CID]> {
    return await this.#init.read(options, async (source) => {
      const [before, after] = (await this.#resolveAll([from, to], source, options)) as unknown as readonly [CID, CID]
      await this.#updatable(before, after)
      const hold = this.#init.keeper.hold([after])
      try {
        await this.#fetch([after], { hold, source, isRecursive: true }, options)
        return await this.#init.store.change(async () => {
          const pin = await this.#updatable(before, after)
          const remove = options.unpin === false || before.equals(after) ? [] : [before]
          return { put: [{ ...pin, cid: after }], remove, answer: [before, after] as const }
        })
      } finally {
        hold.end()
      }
    })
  }

  async *verify({ signal }: AbortOptions = {}): AsyncGenerator<PinCheck> {
    for await (const { cid, isRecursive } of this.#init.store.all()) {
      if (isRecursive) yield { cid, bad: await this.#badOf(cid, signal) }
    }
  }

  async #badOf(root: CID, signal: AbortSignal | undefined): Promise<PinCheck['bad']> {
    const bad: { cid: CID; reason: string }[] = []
    const seen = new KeySet(unforeseen)
    await walkDag({
      roots: [root],
      lanes: pinLanesMax,
      signal,
      admit: (cid) => seen.add(blockKey(cid), tagOf(cid)),
      visit: async (cid) => {
        try {
          return (await meet(cid, this.#blocks, this.#init.offline, { signal })).links
        } catch (error) {
          signal?.throwIfAborted()
          bad.push({ cid, reason: asError(error).message })
          return []
        }
      }
    })
    return bad
  }

  async #resolveAll(paths: readonly string[], source: BlockSource, options: FetchOptions): Promise<readonly CID[]> {
    const cids: CID[] = []
    for (const path of paths) {
      const { root, segments } = parsePath(path)
      cids.push(segments.length === 0 ? root : (await resolve(source, path, options)).cid)
    }
    return cids
  }

  /** Sees to it that all blocks are here, and stay here while the hold is open. */
  async #fetch(cids: readonly CID[], under: PinUnder, { signal, onProgress }: PinAddOptions): Promise<void> {
    let blocks = 0
    let bytes = 0
    await walkDag({
      roots: cids,
      lanes: pinLanesMax,
      signal,
      admit: (cid) => under.hold.note(cid),
      visit: async (cid) => {
        await under.hold.settled(cid)
        const met = await meet(cid, this.#blocks, under.source, { signal, withLinks: under.isRecursive })
        blocks += 1
        bytes += met.bytes
        onProgress?.(blocks, bytes)
        return met.links
      }
    })
  }

  async *#own(isRecursive: boolean, isWanted: (pin: Pin) => boolean): AsyncGenerator<PinEntry> {
    for await (const pin of this.#init.store.all()) {
      if (pin.isRecursive === isRecursive && isWanted(pin)) yield entryOf(pin)
    }
  }

  /** Those that were asked for, in their order. */
  async *#listed(paths: readonly string[], type: string, signal: AbortSignal | undefined): AsyncGenerator<PinEntry> {
    const cids = await this.#resolveAll(paths, this.#init.offline, { signal })
    for (const [at, cid] of cids.entries()) {
      const pin = await this.#init.store.get(cid)
      if (pin !== undefined && (type === 'all' || type === entryOf(pin).type)) {
        yield entryOf(pin)
        continue
      }
      // As Kubo has it: what is pinned recursively is not indirect, what is pinned directly may be both.
      const mayBeIndirect = (type === 'all' || type === 'indirect') && pin?.isRecursive !== true
      const via = mayBeIndirect ? await this.#indirect().via(cid, signal) : undefined
      if (via === undefined) throw new PinError(`path '${paths[at] ?? ''}' is not pinned`)
      yield { cid, type: 'indirect', via }
    }
  }

  #indirect(): IndirectPins {
    return new IndirectPins(this.#init.store, this.#blocks)
  }

  async #refuseRecursive(cids: readonly CID[]): Promise<void> {
    for (const cid of cids) {
      if ((await this.#init.store.get(cid))?.isRecursive === true) throw new PinError(`pin: ${cid.toString()} already pinned recursively`)
    }
  }

  async #checkRemovable(cid: CID, isRecursive: boolean): Promise<void> {
    const pin = await this.#init.store.get(cid)
    if (pin === undefined) throw new PinError(`${cid.toString()} is not pinned or pinned indirectly`)
    if (pin.isRecursive && !isRecursive) throw new PinError(`${cid.toString()} is pinned recursively`)
  }

  async #updatable(from: CID, to: CID): Promise<Pin> {
    const pin = await this.#init.store.get(from)
    if (pin?.isRecursive !== true) throw new PinError("'from' cid was not recursively pinned already")
    if (from.toString() !== to.toString() && (await this.#init.store.get(to))?.isRecursive === true) {
      throw new PinError("'to' cid was already recursively pinned")
    }
    return pin
  }
}

function entryOf({ cid, isRecursive, name }: Pin): PinEntry {
  return { cid, type: isRecursive ? 'recursive' : 'direct', ...(name === '' ? {} : { name }) }
}

/** Throws InvalidParametersError for a name that is too long. */
export function checkPinName(name: string): void {
  const bytes = Buffer.byteLength(name)
  if (bytes > pinNameBytesMax) throw new InvalidParametersError(`pin name is ${bytes} bytes (max ${pinNameBytesMax} bytes)`)
}
