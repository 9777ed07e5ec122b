/**
 * The real keeper over a store whose every answer comes when the scheduler says: adds, pins, unpins, single blocks and
 * collections cross each other in thousands of orders.
 */
import { type BlockKey, blockKey, type BlockSink, type CID, readBlock, seededRandom } from '@shardswap/interface'
import { memoryBlockstore, type SizedBlockstore } from '@shardswap/repo'
import * as fc from 'fast-check'
import { multihashOf } from '@shardswap/hashes'
import { CID as Cid } from 'multiformats/cid'
import { expect, test } from 'vitest'
import { RepoFullError } from '../src/gc/errors.ts'
import { BlockKeeper, type Hold, type KeptRoot, type Removed } from '../src/gc/keeper.ts'
import { hasLinks, linkedCids } from '../src/gc/links.ts'

interface Made {
  readonly cid: CID
  readonly bytes: Uint8Array
}

function made(codec: number, bytes: Uint8Array): Made {
  const multihash = multihashOf(0x12, 32, bytes)
  if (multihash === undefined) throw new Error('sha2-256 is known')
  return { cid: Cid.createV1(codec, multihash), bytes }
}

function node(name: string, children: readonly Made[]): Made {
  // dag-json, whose links are plain text.
  return made(0x0129, Buffer.from(JSON.stringify({ links: children.map(({ cid }) => ({ '/': cid.toString() })), name })))
}

/** Four leaves, two nodes over them that share one, a node over both, and one that links to a node's block as if it were raw. */
const leaves = ['a', 'b', 'c', 'd'].map((text) => made(0x55, Buffer.from(text))) as [Made, Made, Made, Made]
const left = node('left', [leaves[0], leaves[1]])
const right = node('right', [leaves[1], leaves[2]])
const top = node('top', [left, right])
const odd = node('odd', [{ cid: Cid.createV1(0x55, left.cid.multihash), bytes: left.bytes }, leaves[3]])
const all: readonly Made[] = [...leaves, left, right, top, odd]
const byKey = new Map<BlockKey, Made>(all.map((block) => [blockKey(block.cid), block]))
const roots: readonly Made[] = [left, right, top, odd]

/** A root's blocks, parents first. */
function dagOf(root: Made): Made[] {
  const found: Made[] = []
  const visit = (cid: CID): void => {
    const block = byKey.get(blockKey(cid)) as Made
    found.push(block)
    for (const link of linkedCids(cid, block.bytes)) visit(link)
  }
  visit(root.cid)
  return found
}

/** As a disk: a call does its work when it comes to it, and answers later still; changes of one block keep their order. */
function slowed(blocks: SizedBlockstore, scheduler: fc.Scheduler): SizedBlockstore {
  const wait = async (name: string): Promise<void> => await scheduler.schedule(Promise.resolve(), name)
  const last = new Map<BlockKey, Promise<void>>()
  const change = async (cid: CID, name: string, work: () => Promise<void>): Promise<void> => {
    const mine = (last.get(blockKey(cid)) ?? Promise.resolve()).then(async () => {
      await wait(name)
      await work()
      await wait(`${name} answers`)
    })
    last.set(blockKey(cid), mine)
    await mine
  }
  return {
    ...blocks,
    has: async (cid) => (await wait('has'), await blocks.has(cid)),
    size: async (cid) => {
      await wait('size')
      const size = await blocks.size(cid)
      await wait('size answers')
      return size
    },
    get: async function* (cid) {
      await wait('get')
      const bytes = await readBlock(blocks, cid)
      await wait('get answers')
      yield bytes
    },
    put: async (cid, bytes) => {
      await change(cid, 'put', async () => void (await blocks.put(cid, bytes)))
      return cid
    },
    delete: async (cid) => await change(cid, 'delete', async () => await blocks.delete(cid)),
    entries: async function* () {
      const entries: { cid: CID; bytes: number }[] = []
      for await (const entry of blocks.entries()) entries.push(entry)
      for (const entry of entries) {
        await wait('entry')
        yield entry
      }
    }
  }
}

class World {
  readonly blocks = memoryBlockstore()
  readonly pins = new Map<string, CID>()
  readonly keeper: BlockKeeper
  readonly #slow: SizedBlockstore
  readonly answers: Removed[] = []
  readonly #scheduler: fc.Scheduler
  /** Blocks put by themselves, and the collection that was under way when their put began. */
  readonly #written: { readonly cid: CID; readonly during: number | undefined }[] = []

  readonly warnings: string[] = []

  constructor(scheduler: fc.Scheduler, maxBytes?: number) {
    this.#scheduler = scheduler
    this.#slow = slowed(this.blocks, scheduler)
    const pins = this.pins
    const list = async function* (): AsyncGenerator<KeptRoot> {
      // As an iterator of the datastore, which sees what was there when it began.
      const snapshot = [...pins.values()]
      await scheduler.schedule(Promise.resolve(), 'pins')
      for (const cid of snapshot) yield { cid, isRecursive: true }
    }
    const onWarning = (message: string): void => void this.warnings.push(message)
    const limit = maxBytes === undefined ? undefined : { maxBytes, gcAtShare: 0.5, onWarning }
    this.keeper = new BlockKeeper({ blocks: this.#slow, pins: list, random: seededRandom(3), limit })
  }

  /** Leaves first, as an importer does it; then the pin. */
  async add(root: Made, isPinned: boolean): Promise<void> {
    const hold = this.keeper.hold()
    const sink: BlockSink = hold.sink({ put: async (cid, bytes) => void (await this.keeper.store.put(cid, bytes)) })
    try {
      for (const block of dagOf(root).toReversed()) await sink.put(block.cid, block.bytes)
      for (const block of dagOf(root)) await this.#isHere(block.cid, 'an add that runs')
      if (isPinned) await this.#pin(root.cid)
    } finally {
      hold.end()
    }
  }

  /** Parents first; what is not here is fetched. */
  async pin(root: Made): Promise<void> {
    const hold = this.keeper.hold([root.cid])
    const visited: CID[] = []
    const visit = async (cid: CID): Promise<void> => {
      if (!(await hold.touch(cid))) return
      const bytes = await this.#fetch(cid)
      visited.push(cid)
      for (const link of hasLinks(cid) ? linkedCids(cid, bytes) : []) await visit(link)
    }
    try {
      await visit(root.cid)
      for (const cid of visited) await this.#isHere(cid, 'a pin that runs')
      await this.#pin(root.cid)
    } finally {
      hold.end()
    }
  }

  async unpin(root: Made): Promise<void> {
    await this.#scheduler.schedule(Promise.resolve(), 'unpin')
    this.pins.delete(root.cid.toString())
    this.keeper.released()
  }

  async put(block: Made): Promise<void> {
    const during = this.keeper.isCollecting ? this.keeper.collections : undefined
    await this.keeper.store.put(block.cid, block.bytes)
    this.#written.push({ cid: block.cid, during })
  }

  async collect(isPressed: boolean): Promise<void> {
    for await (const line of this.keeper.collect({ isPressed })) if ('error' in line) throw line.error
    for (const { cid, during } of this.#written) {
      if (during === this.keeper.collections) await this.#isHere(cid, 'a put since the collection began')
    }
  }

  async remove(block: Made): Promise<void> {
    for await (const removed of this.keeper.remove([block.cid])) this.answers.push(removed)
  }

  async check(): Promise<void> {
    for (const cid of this.pins.values()) {
      const root = byKey.get(blockKey(cid)) as Made
      for (const block of dagOf(root)) await this.#isHere(block.cid, 'a pin')
    }
  }

  async bytes(): Promise<number> {
    let sum = 0
    for await (const { bytes } of this.blocks.entries()) sum += bytes
    return sum
  }

  /** What is in the store, and what pins lead to, by key. */
  async kept(): Promise<{ here: BlockKey[]; pinned: BlockKey[] }> {
    const here: BlockKey[] = []
    for await (const { cid } of this.blocks.entries()) here.push(blockKey(cid))
    const pinned = new Set(
      [...this.pins.values()].flatMap((cid) => dagOf(byKey.get(blockKey(cid)) as Made)).map(({ cid }) => blockKey(cid))
    )
    return { here: here.toSorted(), pinned: [...pinned].toSorted() }
  }

  async #fetch(cid: CID): Promise<Uint8Array> {
    if ((await this.#slow.size(cid)) !== undefined) return await readBlock(this.#slow, cid)
    const { bytes } = byKey.get(blockKey(cid)) as Made
    await this.#scheduler.schedule(Promise.resolve(), 'fetch')
    await this.keeper.store.put(cid, bytes)
    return bytes
  }

  async #pin(cid: CID): Promise<void> {
    await this.#scheduler.schedule(Promise.resolve(), 'pin')
    this.pins.set(cid.toString(), cid)
    await this.#scheduler.schedule(Promise.resolve(), 'pin answers')
  }

  async #isHere(cid: CID, whose: string): Promise<void> {
    if (!(await this.blocks.has(cid))) throw new Error(`a block of ${whose} is gone: ${cid.toString()}`)
  }
}

const root = fc.constantFrom(...roots)
const work = fc.oneof(
  { weight: 3, arbitrary: root.map((made) => async (world: World) => await world.add(made, true)) },
  { weight: 1, arbitrary: root.map((made) => async (world: World) => await world.add(made, false)) },
  { weight: 3, arbitrary: root.map((made) => async (world: World) => await world.pin(made)) },
  { weight: 2, arbitrary: root.map((made) => async (world: World) => await world.unpin(made)) },
  { weight: 1, arbitrary: fc.constantFrom(...all).map((made) => async (world: World) => await world.put(made)) },
  { weight: 1, arbitrary: fc.constantFrom(...all).map((made) => async (world: World) => await world.remove(made)) },
  { weight: 3, arbitrary: fc.boolean().map((isPressed) => async (world: World) => await world.collect(isPressed)) }
)

test('no collection takes a block that is pinned, or that an add or a pin has counted on; a quiet one takes all others', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.array(work, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 4 }),
      async (scheduler, actors) => {
        const world = new World(scheduler)
        const running = Promise.all(
          actors.map(async (jobs) => {
            for (const job of jobs) {
              await job(world)
              await world.check()
            }
          })
        )
        await scheduler.waitFor(running)
        await scheduler.waitFor(world.collect(false))
        const { here, pinned } = await world.kept()
        expect(here).toEqual(pinned)
      }
    ),
    { numRuns: 300 }
  )
}, 120_000)

test('in a repo with a limit all that is kept too, and nobody waits for ever: what does not fit is refused', async () => {
  let refusals = 0
  let largest = -Infinity
  const refused = (error: unknown): void => {
    if (!(error instanceof RepoFullError)) throw error
    refusals += 1
  }
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.integer({ min: 100, max: 1500 }),
      fc.array(fc.array(work, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 4 }),
      async (scheduler, maxBytes, actors) => {
        const world = new World(scheduler, maxBytes)
        const running = Promise.all(
          actors.map(async (jobs) => {
            for (const job of jobs) {
              await job(world).catch(refused)
              await world.check()
              largest = Math.max(largest, (await world.bytes()) - maxBytes)
            }
          })
        )
        await scheduler.waitFor(running)
        await scheduler.waitFor(world.collect(false))
        const { here, pinned } = await world.kept()
        expect(here).toEqual(pinned)
        expect(world.warnings).toEqual([])
      }
    ),
    { numRuns: 300 }
  )
  expect(refusals).toBeGreaterThan(0)
  expect(largest).toBeLessThanOrEqual(0)
}, 120_000)

test('a hold keeps what it touched although its write came before the collection, and what it counted on without writing', async () => {
  const blocks = memoryBlockstore()
  const keeper = new BlockKeeper({ blocks, pins: async function* () {}, random: seededRandom(5) })
  const hold: Hold = keeper.hold()
  await hold.sink({ put: async (cid, bytes) => void (await keeper.store.put(cid, bytes)) }).put(leaves[0].cid, leaves[0].bytes)
  await keeper.store.put(leaves[1].cid, leaves[1].bytes)
  await keeper.store.put(leaves[2].cid, leaves[2].bytes)
  await hold.touch(leaves[1].cid)
  const removed: string[] = []
  for await (const { cid } of keeper.collect()) removed.push(cid.toString())
  expect(removed).toEqual([leaves[2].cid.toString()])
  hold.end()
  for await (const { cid } of keeper.collect()) removed.push(cid.toString())
  expect(removed.toSorted()).toEqual(
    leaves
      .slice(0, 3)
      .map(({ cid }) => cid.toString())
      .toSorted()
  )
})
