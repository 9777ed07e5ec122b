import { defaultLogger } from '@libp2p/logger'
import { blockKey } from '@shardswap/interface'
import { afterEach, expect, test, vi } from 'vitest'
import { Announcements } from '../../src/helia/announcements.ts'
import { rawBlock, rawBlocks } from '../support.ts'

afterEach(() => vi.useRealTimers())

/** Announcements over a store and wants that the test changes, on a clock that it moves. */
function scene() {
  vi.useFakeTimers()
  const stored = new Set<string>()
  const wanted = new Set<string>()
  const told: string[] = []
  let looks = 0
  const announcements = new Announcements({
    isWanted: (cid) => wanted.has(blockKey(cid)),
    has: async (cid) => {
      looks += 1
      if (stored.has('broken')) throw new Error('the disk is gone')
      return stored.has(blockKey(cid))
    },
    notify: (cid) => told.push(blockKey(cid)),
    log: defaultLogger().forComponent('test')
  })
  return { announcements, stored, wanted, told, looks: () => looks, pass: async (ms: number) => await vi.advanceTimersByTimeAsync(ms) }
}

test('a block that somebody waits for is told once it is stored, and not before', async () => {
  const { announcements, stored, wanted, told, pass } = scene()
  const { cid } = rawBlock('wanted')
  wanted.add(blockKey(cid))
  announcements.announce(cid)
  await pass(200)
  expect(told).toEqual([])
  stored.add(blockKey(cid))
  await pass(1500)
  expect(told).toEqual([blockKey(cid)])
  expect(announcements.size).toBe(0)
})

test('of a block that nobody waits for the store is not asked, unless somebody asks for it meanwhile', async () => {
  const { announcements, stored, wanted, told, looks, pass } = scene()
  const [quiet, late] = [rawBlock('quiet'), rawBlock('late')]
  announcements.announce(quiet.cid)
  announcements.announce(late.cid)
  stored.add(blockKey(late.cid))
  await pass(1)
  wanted.add(blockKey(late.cid))
  await pass(20)
  expect(told).toEqual([blockKey(late.cid)])
  expect(looks()).toBe(1)
  expect(announcements.size).toBe(0)
})

test('one that is never stored is given up, also by a store that fails', async () => {
  const { announcements, stored, wanted, told, pass } = scene()
  const { cid } = rawBlock('never')
  wanted.add(blockKey(cid))
  stored.add('broken')
  announcements.announce(cid)
  await pass(10_000)
  expect(announcements.size).toBe(0)
  expect(told).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

test('many are bounded, and all end with the node', async () => {
  const { announcements, pass } = scene()
  for (const { cid } of rawBlocks(5000, 16)) announcements.announce(cid)
  expect(announcements.size).toBe(4096)
  announcements.stop()
  expect(announcements.size).toBe(0)
  expect(vi.getTimerCount()).toBe(0)
  await pass(1)
})
