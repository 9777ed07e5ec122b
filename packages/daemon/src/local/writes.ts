/** What writes blocks into the repo, each under a hold: no collection takes away what it has written before it is pinned. */
import { add, type AddedEntry, type AddSource, importCar } from '@shardswap/content'
import { asError, type BlockSink, type CID } from '@shardswap/interface'
import type { SizedBlockstore } from '@shardswap/repo'
import type { BlockKeeper } from '../gc/keeper.ts'
import type { BlockPutOptions, NodeAddOptions, NodeImportOptions, NodeImportResult } from '../node.ts'
import { checkPinName, type LocalPins } from '../pins/local-pins.ts'

export interface LocalWritesInit {
  readonly keeper: BlockKeeper
  readonly pins: LocalPins
  readonly blocks: SizedBlockstore
  readonly sink: BlockSink
}

const nowhere: BlockSink = { put: async () => {} }

export class LocalWrites {
  readonly #init: LocalWritesInit

  constructor(init: LocalWritesInit) {
    this.#init = init
  }

  /** As `add` of content; a root comes out once it is pinned, and the pin forced to the disk. */
  async *add(sources: AsyncIterable<AddSource> | Iterable<AddSource>, options: NodeAddOptions): AsyncGenerator<AddedEntry> {
    const { onlyHash = false, pin = true, pinName = '', ...rest } = options
    checkPinName(pinName)
    if (onlyHash) {
      yield* add(sources, nowhere, rest)
      return
    }
    const { keeper, pins, sink } = this.#init
    const hold = keeper.hold()
    try {
      for await (const entry of add(sources, hold.sink(sink), rest)) {
        // All its blocks were written under the hold, so there is nothing to look for.
        if (pin && isRoot(entry, rest)) await pins.record([entry.cid], true, pinName)
        yield entry
      }
    } finally {
      hold.end()
    }
  }

  async put(cid: CID, bytes: Uint8Array, { pin = false, signal }: BlockPutOptions): Promise<void> {
    const { keeper, pins, sink } = this.#init
    const hold = keeper.hold()
    try {
      await hold.sink(sink).put(cid, bytes, { signal })
      if (pin) await pins.addHere(cid, { signal })
    } finally {
      hold.end()
    }
  }

  async import(archive: AsyncIterable<Uint8Array>, { pinRoots = true, signal }: NodeImportOptions): Promise<NodeImportResult> {
    const { keeper, blocks, sink } = this.#init
    const hold = keeper.hold()
    try {
      const result = await importCar(archive, hold.sink(sink), { signal, has: async (cid) => await blocks.has(cid) })
      return { ...result, isPinned: pinRoots, unpinned: pinRoots ? await this.#pinRoots(result.roots, signal) : [] }
    } finally {
      hold.end()
    }
  }

  async #pinRoots(roots: readonly CID[], signal: AbortSignal | undefined): Promise<NodeImportResult['unpinned']> {
    const unpinned: { cid: CID; reason: string }[] = []
    for (const cid of roots) {
      try {
        await this.#init.pins.addHere(cid, { signal })
      } catch (error) {
        signal?.throwIfAborted()
        unpinned.push({ cid, reason: asError(error).message })
      }
    }
    return unpinned
  }
}

/** Without a directory around them, each first name is a root of its own. */
function isRoot({ path }: AddedEntry, { wrapWithDirectory = false }: NodeAddOptions): boolean {
  return wrapWithDirectory ? path === '' : !path.includes('/')
}
