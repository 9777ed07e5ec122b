import { defaultLogger } from '@libp2p/logger'
import { type Block, blockKey } from '@shardswap/interface'
import { MemoryBlockstore } from 'blockstore-core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { HeldBlocks } from '../../src/helia/held-blocks.ts'
import { localStore } from '../../src/store.ts'
import { rawBlock } from '../support.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => vi.useRealTimers())

function scene() {
  const store = new MemoryBlockstore()
  const held = new HeldBlocks(localStore(store), defaultLogger().forComponent('test'))
  const put = async ({ cid, bytes }: Block): Promise<void> => await held.put(cid, bytes, blockKey(cid))
  return { store, held, put }
}

test('a block that Helia asks for is held and served until Helia has stored it, and never written twice', async () => {
  const { store, held, put } = scene()
  const block = rawBlock('asked')
  const answered = held.ask(block.cid)
  await put(block)
  answered()
  expect(store.has(block.cid)).toBe(false)
  expect(await held.has(block.cid)).toBe(true)
  expect(await held.get(block.cid, blockKey(block.cid))).toEqual(block.bytes)
  expect(await held.size(block.cid, blockKey(block.cid))).toBe(1024)
  // Helia announces what it is about to store as well.
  await held.announced(block.cid)
  expect(held.bytes).toBe(1024)
  await store.put(block.cid, block.bytes)
  await held.announced(block.cid)
  expect(held.bytes).toBe(0)
  expect(await held.find(block.cid, blockKey(block.cid))).toEqual(block.bytes)
  expect(vi.getTimerCount()).toBe(0)
})

test('what nobody asks for through Helia is stored at once, and so is what Helia does not store in time', async () => {
  const { store, held, put } = scene()
  const [own, asked] = [rawBlock('own'), rawBlock('given up')]
  const [first, second] = [held.ask(own.cid), held.ask(own.cid)]
  first()
  second()
  await put(own)
  expect(store.has(own.cid)).toBe(true)
  held.ask(asked.cid)
  await put(asked)
  expect(store.has(asked.cid)).toBe(false)
  await vi.advanceTimersByTimeAsync(6000)
  expect(store.has(asked.cid)).toBe(true)
  expect(held.bytes).toBe(0)
})

test('so much is held at most, and nothing after the end', async () => {
  const { store, held, put } = scene()
  const blocks = Array.from({ length: 20 }, (_, i) => rawBlock(`large ${i}`, 1024 * 1024))
  for (const block of blocks) {
    held.ask(block.cid)
    await put(block)
  }
  expect(held.bytes).toBe(16 * 1024 * 1024)
  const isStored = await Promise.all(blocks.map(async ({ cid }) => await store.has(cid)))
  expect(isStored.filter(Boolean)).toHaveLength(4)
  held.stop()
  expect(held.bytes).toBe(0)
  expect(vi.getTimerCount()).toBe(0)
})
