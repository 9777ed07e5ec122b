/** What is under way on a node keeps its blocks, though a collection runs in the middle of it; and what pins need of the disk. */
import { type CID, readBlock } from '@shardswap/interface'
import { memoryRepo, type Repo } from '@shardswap/repo'
import { Key } from 'interface-datastore'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type Daemon, openLocalNode, type SwapNode } from '../src/index.ts'
import { PinStore } from '../src/pins/pin-store.ts'
import { bytesOf, collect, newDaemon, someBytes, urlOf } from './setup.ts'

const chunked = { chunker: 'size-1000', cidVersion: 1 } as const

async function localNode(): Promise<{ node: SwapNode; repo: Repo }> {
  const repo = await memoryRepo()
  const node = await openLocalNode({ repo, online: false })
  onTestFinished(async () => await node.close())
  return { node, repo }
}

async function addOne(node: SwapNode, seed: number, pin = false): Promise<CID> {
  const added = await collect(node.add([{ path: 'file', content: someBytes(5000, seed) }], { ...chunked, pin }))
  return (added.at(-1) as { cid: CID }).cid
}

/** Gives the first half of some bytes, the rest once it is told to. */
async function* halves(bytes: Uint8Array, goOn: Promise<void>): AsyncGenerator<Uint8Array> {
  yield bytes.subarray(0, bytes.byteLength / 2)
  await goOn
  yield bytes.subarray(bytes.byteLength / 2)
}

/** A collection in the middle of something, once some of its blocks are here; of other blocks it takes one away. */
async function collectMeanwhile(node: SwapNode, blocks: number): Promise<void> {
  await vi.waitFor(async () => expect((await node.repoStat()).blocks).toBeGreaterThanOrEqual(blocks), 20_000)
  const { cid } = await node.blockPut(someBytes(100, 99))
  const removed = await collect(node.garbage.collect())
  expect(removed.map((line) => ('cid' in line ? line.cid.toString() : line.error.message))).toEqual([cid.toString()])
}

test('an add, an import and a pin that a collection comes across end with all of their blocks here', async () => {
  const { node, repo } = await localNode()
  const adding = Promise.withResolvers<void>()
  const added = collect(node.add([{ path: 'file', content: halves(someBytes(400_000, 1), adding.promise) }], chunked))
  await collectMeanwhile(node, 50)
  adding.resolve()
  const first = ((await added).at(-1) as { cid: CID }).cid

  const { node: other } = await localNode()
  const archived = await addOne(other, 2)
  const archive = await bytesOf(other.dagExport(archived.toString()))
  const importing = Promise.withResolvers<void>()
  const before = (await node.repoStat()).blocks
  const imported = node.dagImport(halves(archive, importing.promise))
  await collectMeanwhile(node, before + 2)
  importing.resolve()
  expect((await imported).unpinned).toEqual([])

  const here = await addOne(node, 3)
  const pinning = Promise.withResolvers<void>()
  const isRead = Promise.withResolvers<void>()
  const { blocks } = repo
  const get = blocks.get.bind(blocks)
  // The pin's own read of the root waits; that of the collection does not.
  const gated: typeof blocks.get = async function* (cid, options) {
    if (cid.equals(here)) {
      Object.assign(blocks, { get })
      isRead.resolve()
      await pinning.promise
    }
    yield* get(cid, options)
  }
  Object.assign(blocks, { get: gated })
  const pinned = node.pins.add([here.toString()], { offline: true })
  await isRead.promise
  await collectMeanwhile(node, 1)
  pinning.resolve()
  expect((await pinned).map(String)).toEqual([here.toString()])

  const checks = await collect(node.pins.verify())
  expect(checks.map(({ cid }) => cid.toString()).toSorted()).toEqual([first, archived, here].map(String).toSorted())
  expect(checks.flatMap(({ bad }) => bad)).toEqual([])
})

test('a block is not removed by itself either where a pin lacks a block, for it may be below it', async () => {
  const { node, repo } = await localNode()
  const root = await addOne(node, 1, true)
  const leaf = (await collect(node.pins.ls({ type: 'indirect' })))[0] as { cid: CID }
  await repo.blocks.delete(root)
  await expect(collect(node.blockRm([leaf.cid]))).rejects.toMatchObject({ code: 'ERR_COLLECTION' })
  expect(await repo.blocks.has(leaf.cid)).toBe(true)
})

test('a pin whose record cannot be read keeps all that it may keep', async () => {
  const { node, repo } = await localNode()
  const roots = [await addOne(node, 1), await addOne(node, 2)]
  for (const [at, text] of ['{"mode', '7'].entries()) {
    await repo.datastore.put(new Key(`/shardswap/pins/${roots[at]?.toString() ?? ''}`), Buffer.from(text))
  }
  expect(await collect(node.garbage.collect())).toEqual([])
  expect((await collect(node.pins.ls({ type: 'recursive' }))).map(({ cid }) => cid.toString()).toSorted()).toEqual(
    roots.map(String).toSorted()
  )
})

test('a change of pins is told once it is forced to the disk, and many together are forced together', async () => {
  let synced = 0
  const isOpen = Promise.withResolvers<void>()
  const store = new PinStore({
    datastore: (await memoryRepo()).datastore,
    sync: async () => {
      await isOpen.promise
      synced += 1
    }
  })
  const { node } = await localNode()
  const cids = [await addOne(node, 1), await addOne(node, 2), await addOne(node, 3)]
  const told: string[] = []
  store.onPinned = (pins) => told.push(...pins.map(({ cid }) => cid.toString()))
  const pin = async (cid: CID): Promise<void> =>
    await store.change(async () => ({ put: [{ cid, isRecursive: true, name: '' }], answer: undefined }))
  const first = pin(cids[0] as CID)
  await vi.waitFor(async () => expect(await collect(store.all())).toHaveLength(1))
  const others = cids.slice(1).map(pin)
  await vi.waitFor(async () => expect(await collect(store.all())).toHaveLength(3))
  expect([told, synced]).toEqual([[], 0])
  isOpen.resolve()
  await Promise.all([first, ...others])
  expect([told, synced]).toEqual([cids.map(String), 2])
})

test('what a collection cannot remove is a line of its own where that is asked for, and the error of the call', async () => {
  const repo = await memoryRepo()
  const daemon: Daemon = await newDaemon(repo)
  const [stuck, loose] = [await daemon.node.blockPut(someBytes(10, 1)), await daemon.node.blockPut(someBytes(10, 2))]
  const remove = repo.blocks.delete.bind(repo.blocks)
  Object.assign(repo.blocks, {
    delete: async (cid: CID) => {
      if (cid.equals(stuck.cid)) throw new Error('the disk says no')
      await remove(cid)
    }
  })
  const all = await fetch(`${urlOf(daemon)}/repo/gc?stream-errors=true`, { method: 'POST' })
  const lines = (await all.text()).trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual(
    expect.arrayContaining([
      { Key: { '/': loose.cid.toString() } },
      { Error: expect.stringContaining('the disk says no') as string, Key: null }
    ])
  )
  expect(await readBlock(repo.blocks, stuck.cid)).toEqual(someBytes(10, 1))
  const again = await fetch(`${urlOf(daemon)}/repo/gc`, { method: 'POST' })
  expect([again.status, await again.json()]).toEqual([500, expect.objectContaining({ ErrorCode: 'ERR_COLLECTION' })])
})
