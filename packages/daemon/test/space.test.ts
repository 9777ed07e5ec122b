/** A repo with a limit: when it collects, what waits, and what is refused. */
import { type CID, seededRandom } from '@shardswap/interface'
import { memoryRepo, type Repo } from '@shardswap/repo'
import * as fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { SpaceRules } from '../src/gc/space.ts'
import { BlockKeeper } from '../src/gc/keeper.ts'
import { openLocalNode, RepoFullError, type SwapNode } from '../src/index.ts'
import { collect, someBytes } from './setup.ts'

const kibibyte = 1024

const step = fc.oneof(
  fc.record({ type: fc.constant('take'), bytes: fc.integer({ min: 1, max: 300 }) }),
  fc.record({ type: fc.constant('removed'), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.record({ type: fc.constant('released') }),
  fc.record({ type: fc.constant('begin') }),
  fc.record({ type: fc.constant('end'), isPressed: fc.boolean() })
)

test('what is taken never exceeds the limit; it is full only where nothing was let go since a whole collection began', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), fc.integer({ min: 0, max: 1200 }), (steps, before) => {
      const rules = new SpaceRules({ maxBytes: 1000, collectAtBytes: 900, bytes: before })
      let releasedSince: boolean | undefined
      let beganSince = true
      let isCollecting = false
      const wrong: string[] = []
      for (const next of steps) {
        if (next.type === 'take') {
          const here = rules.bytes
          const room = rules.take(next.bytes)
          const fits = here + next.bytes <= 1000
          if (fits !== room.startsWith('fits')) wrong.push(`${here} and ${next.bytes}: ${room}`)
          if (rules.bytes !== (fits ? here + next.bytes : here)) wrong.push(`${here} and ${next.bytes}: ${rules.bytes}`)
          if (room === 'full' && releasedSince !== false) wrong.push('full, although a collection may free something')
          if (room === 'fits-collect' && isCollecting) wrong.push('a collection is begun beside another')
        } else if (next.type === 'removed') rules.removed(Math.floor(rules.bytes * next.share))
        else if (next.type === 'released') {
          rules.released()
          releasedSince = true
          beganSince = true
        } else if (next.type === 'begin') {
          rules.begin()
          isCollecting = true
          beganSince = false
        } else if (isCollecting) {
          rules.end(next.isPressed)
          isCollecting = false
          if (next.isPressed) releasedSince = beganSince
        }
      }
      expect(wrong).toEqual([])
    })
  )
})

test('after a collection that freed little the next begins when half of what is left is taken', () => {
  const rules = new SpaceRules({ maxBytes: 1000, collectAtBytes: 900, bytes: 890 })
  expect([rules.take(9), rules.take(1)]).toEqual(['fits', 'fits-collect'])
  rules.begin()
  expect(rules.take(20)).toBe('fits')
  rules.end(false)
  expect([rules.take(39), rules.take(1)]).toEqual(['fits', 'fits-collect'])
  expect(rules.take(500)).toBe('collect')
})

async function limitedNode(maxBytes: number): Promise<{ node: SwapNode; repo: Repo }> {
  const memory = await memoryRepo()
  const repo = { ...memory, config: { ...memory.config, repo: { maxBytes, gcAtShare: 0.9 } } }
  const node = await openLocalNode({ repo, online: false })
  onTestFinished(async () => await node.close())
  return { node, repo }
}

async function addBytes(node: SwapNode, bytes: Uint8Array, pin: boolean): Promise<CID> {
  const added = await collect(node.add([{ path: 'file', content: bytes }], { chunker: 'size-4096', cidVersion: 1, pin }))
  return (added.at(-1) as { cid: CID }).cid
}

test('what is not pinned makes room; the pinned stays; what does not fit is refused, and costs nothing', async () => {
  const { node, repo } = await limitedNode(400 * kibibyte)
  const kept = await addBytes(node, someBytes(200 * kibibyte, 1), true)
  for (let seed = 2; seed < 12; seed++) await addBytes(node, someBytes(100 * kibibyte, seed), false)
  expect((await node.repoStat()).blockBytes).toBeLessThanOrEqual(400 * kibibyte)
  await expect(addBytes(node, someBytes(300 * kibibyte, 20), true)).rejects.toMatchObject({ name: 'RepoFullError', code: 'ERR_REPO_FULL' })
  await expect(node.blockPut(someBytes(300 * kibibyte, 20))).rejects.toBeInstanceOf(RepoFullError)
  expect(await collect(node.pins.verify())).toEqual([{ cid: kept, bad: [] }])
  // What the add that was refused has left behind is garbage, which the next one takes the place of.
  const fits = await addBytes(node, someBytes(150 * kibibyte, 21), true)
  expect((await collect(node.pins.verify())).map(({ cid, bad }) => `${cid.toString()} ${bad.length}`).toSorted()).toEqual(
    [kept, fits].map((cid) => `${cid.toString()} 0`).toSorted()
  )
  // What is here already takes no room.
  expect((await addBytes(node, someBytes(200 * kibibyte, 1), true)).toString()).toBe(kept.toString())
  await node.pins.rm([kept.toString()])
  await addBytes(node, someBytes(240 * kibibyte, 22), true)
  expect((await repo.stat()).blockBytes).toBeLessThanOrEqual(400 * kibibyte)
})

test('a collection begins at the share beside the writes, in the middle of an add, and takes nothing of it', async () => {
  const memory = await memoryRepo()
  const warnings: string[] = []
  const limit = { maxBytes: 100 * kibibyte, gcAtShare: 0.5, onWarning: (message: string) => void warnings.push(message) }
  const keeper = new BlockKeeper({ blocks: memory.blocks, pins: async function* () {}, random: seededRandom(9), limit })
  onTestFinished(async () => await keeper.close())
  const put = async (seed: number, sink: { put: (cid: CID, bytes: Uint8Array) => unknown }): Promise<CID> => {
    const bytes = someBytes(kibibyte, seed)
    const cid = await cidOf(bytes)
    await sink.put(cid, bytes)
    return cid
  }
  for (let seed = 1; seed <= 40; seed++) await put(seed, keeper.store)
  const hold = keeper.hold()
  const sink = hold.sink({ put: async (cid, bytes) => void (await keeper.store.put(cid, bytes)) })
  const mine: CID[] = []
  for (let seed = 41; seed <= 100; seed++) mine.push(await put(seed, sink))
  // Without the collection there would be 100 KiB.
  expect(keeper.collections).toBeGreaterThan(0)
  await keeper.close()
  for (const cid of mine) expect(await memory.blocks.has(cid)).toBe(true)
  expect((await memory.stat()).blocks).toBeLessThan(70)
  expect(warnings).toEqual([])
})

test('a write that fails gives its room back', async () => {
  const { blocks } = await memoryRepo()
  const put = blocks.put.bind(blocks)
  const failing: typeof blocks.put = async (cid, bytes, options) => {
    if (bytes instanceof Uint8Array && bytes.byteLength === 7) throw new Error('the disk says no')
    return await put(cid, bytes, options)
  }
  Object.assign(blocks, { put: failing })
  const limit = { maxBytes: 100, gcAtShare: 0.9, onWarning: () => undefined }
  const keeper = new BlockKeeper({ blocks, pins: async function* () {}, random: seededRandom(9), limit })
  onTestFinished(async () => await keeper.close())
  for (const [bytes, held] of [
    [10, 10],
    [7, 10],
    [20, 30]
  ] as const) {
    const content = someBytes(bytes)
    await Promise.allSettled([keeper.store.put(await cidOf(content), content)])
    expect(keeper.bytes).toBe(held)
  }
})

async function cidOf(bytes: Uint8Array): Promise<CID> {
  const { multihashOf } = await import('@shardswap/hashes')
  const { CID: Cid } = await import('@shardswap/interface')
  return Cid.createV1(0x55, multihashOf(0x12, 32, bytes) as NonNullable<ReturnType<typeof multihashOf>>)
}
