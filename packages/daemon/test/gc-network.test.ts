/** Collections beside fetches: two nodes in this process, over TCP. */
import { setImmediate } from 'node:timers/promises'
import type { CID } from '@shardswap/interface'
import { memoryRepo } from '@shardswap/repo'
import { expect, onTestFinished, test } from 'vitest'
import { openLocalNode, RepoFullError, type SwapNode } from '../src/index.ts'
import { bytesOf, collect, newDaemon, someBytes } from './setup.ts'

const kibibyte = 1024
const content = someBytes(2000 * kibibyte, 1)

/** A node that is connected to another, which has the content. */
async function fetcher(maxBytes: number | undefined): Promise<{ node: SwapNode; root: string }> {
  const provider = await newDaemon()
  const memory = await memoryRepo()
  const repo = { ...memory, config: { ...memory.config, repo: { maxBytes, gcAtShare: 0.9 } } }
  const node = await openLocalNode({ repo, online: true })
  onTestFinished(async () => await node.close())
  await node.swarmConnect(provider.addresses[0] ?? '')
  const added = await collect(provider.node.add([{ path: 'file', content }], { chunker: 'size-8192', cidVersion: 1 }))
  return { node, root: (added[0] as { cid: CID }).cid.toString() }
}

test('a pin that is being fetched stays whole while collections run one after another; one that is given up is garbage', async () => {
  const { node, root } = await fetcher(undefined)
  const pinned = new AbortController()
  let collections = 0
  let removed = 0
  const collecting = (async () => {
    while (!pinned.signal.aborted) {
      await node.blockPut(someBytes(100, collections))
      removed += (await collect(node.garbage.collect())).length
      collections += 1
      // A store in memory answers within the turn: the network must have one too.
      await setImmediate()
    }
  })()
  await node.pins.add([root])
  pinned.abort()
  await collecting
  expect(removed).toBeGreaterThan(0)
  expect(await collect(node.garbage.collect())).toEqual([])
  expect((await collect(node.pins.verify()))[0]?.bad).toEqual([])
  expect(Buffer.compare(await bytesOf(node.cat(root, { offline: true })), content)).toBe(0)
  await node.pins.rm([root])
  expect((await collect(node.garbage.collect())).length).toBeGreaterThan(250)
  const given = new AbortController()
  const onProgress = (blocks: number): void => {
    if (blocks === 100) given.abort()
  }
  await expect(node.pins.add([root], { signal: given.signal, onProgress })).rejects.toMatchObject({ name: 'AbortError' })
  expect(await collect(node.pins.ls())).toEqual([])
  expect((await collect(node.garbage.collect())).length).toBeGreaterThanOrEqual(100)
  expect((await node.repoStat()).blocks).toBe(0)
})

test('a file larger than the limit can be read and not pinned; a pinned block makes it no room', async () => {
  const { node, root } = await fetcher(1000 * kibibyte)
  const kept = await node.blockPut(someBytes(100 * kibibyte, 7), { pin: true })
  expect(Buffer.compare(await bytesOf(node.cat(root)), content)).toBe(0)
  expect((await node.repoStat()).blockBytes).toBeLessThanOrEqual(1000 * kibibyte)
  await expect(node.pins.add([root])).rejects.toBeInstanceOf(RepoFullError)
  expect((await collect(node.pins.ls())).map(({ cid }) => cid.toString())).toEqual([kept.cid.toString()])
  expect(Buffer.from(await node.blockGet(kept.cid, { offline: true })).equals(someBytes(100 * kibibyte, 7))).toBe(true)
})

test('a collection that is given up ends, and the next one goes on', async () => {
  const { node } = await fetcher(undefined)
  for (let seed = 0; seed < 200; seed++) await node.blockPut(someBytes(50, seed))
  const given = new AbortController()
  const removed: CID[] = []
  const collecting = (async () => {
    for await (const line of node.garbage.collect({ signal: given.signal })) {
      if ('cid' in line) removed.push(line.cid)
      if (removed.length === 10) given.abort()
    }
  })()
  await expect(collecting).rejects.toMatchObject({ name: 'AbortError' })
  const waiting = new AbortController()
  const first = node.garbage.collect()[Symbol.asyncIterator]()
  await first.next()
  const second = collect(node.garbage.collect({ signal: waiting.signal }))
  waiting.abort()
  await expect(second).rejects.toMatchObject({ name: 'AbortError' })
  await first.return?.()
  await collect(node.garbage.collect())
  expect((await node.repoStat()).blocks).toBe(0)
})
