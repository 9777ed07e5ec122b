/** Pins and collections, of a node in this process, over its RPC, and as Kubo's own client sees them. */
import type { AddSource } from '@shardswap/content'
import { CID, InvalidParametersError } from '@shardswap/interface'
import { memoryRepo } from '@shardswap/repo'
import { create } from 'kubo-rpc-client'
import { expect, onTestFinished, test } from 'vitest'
import { connectDaemon, openLocalNode, PinError, type SwapNode } from '../src/index.ts'
import { bytesOf, collect, newDaemon, someBytes, urlOf } from './setup.ts'

async function localNode(): Promise<SwapNode> {
  const node = await openLocalNode({ repo: await memoryRepo(), online: false })
  onTestFinished(async () => await node.close())
  return node
}

async function remoteNode(): Promise<SwapNode> {
  return await connectDaemon((await newDaemon()).api)
}

const chunked = { chunker: 'size-1000', cidVersion: 1 } as const

async function addOne(node: SwapNode, source: AddSource, pin = true): Promise<CID> {
  const added = await collect(node.add([source], { ...chunked, pin }))
  return (added.at(-1) as { cid: CID }).cid
}

async function textsOf(entries: AsyncIterable<{ cid: CID }>): Promise<string[]> {
  return (await collect(entries)).map(({ cid }) => cid.toString())
}

async function collected(node: SwapNode): Promise<number> {
  const lines = await collect(node.garbage.collect())
  expect(lines.filter((line) => 'error' in line)).toEqual([])
  return lines.length
}

for (const [name, open] of [
  ['in this process', localNode],
  ['over the RPC', remoteNode]
] as const) {
  test(`each root that is added is pinned, under its name, and survives collections (${name})`, async () => {
    const node = await open()
    const sources = [
      { path: 'a/one', content: someBytes(3000, 1) },
      { path: 'a/b/two', content: someBytes(3000, 2) },
      { path: 'three', content: someBytes(100, 3) }
    ]
    const added = await collect(node.add(sources, { ...chunked, pinName: 'first' }))
    const roots = added.filter(({ path }) => !path.includes('/'))
    expect(roots.map(({ path }) => path).toSorted()).toEqual(['a', 'three'])
    const pins = await collect(node.pins.ls({ type: 'recursive' }))
    expect(pins.map(({ cid, name, type }) => `${cid.toString()} ${type} ${name ?? ''}`).toSorted()).toEqual(
      roots.map(({ cid }) => `${cid.toString()} recursive first`).toSorted()
    )
    expect(await collected(node)).toBe(0)
    const wrapped = await collect(node.add(sources.slice(0, 2), { ...chunked, wrapWithDirectory: true }))
    const wrapper = wrapped.at(-1) as { cid: CID }
    expect(await collect(node.pins.ls({ paths: [wrapper.cid.toString()], type: 'recursive' }))).toHaveLength(1)
    expect(await collect(node.pins.ls({ type: 'recursive' }))).toHaveLength(3)
    await node.pins.rm([wrapper.cid.toString()])
    // The wrapper's block alone: all below it is the tree that was pinned before.
    expect(await collected(node)).toBe(1)
    const tree = roots.find(({ path }) => path === 'a')?.cid.toString() ?? ''
    expect(Buffer.compare(await bytesOf(node.cat(`${tree}/b/two`, { offline: true })), someBytes(3000, 2))).toBe(0)
    await node.pins.rm(roots.map(({ cid }) => cid.toString()))
    expect(await collected(node)).toBeGreaterThan(8)
    expect((await node.repoStat()).blocks).toBe(0)
  })

  test(`pins are direct, recursive or indirect, and calls change all that they name or nothing (${name})`, async () => {
    const node = await open()
    const one = await addOne(node, { path: 'one', content: someBytes(3000, 1) }, false)
    const two = await addOne(node, { path: 'two', content: someBytes(3000, 2) }, false)
    const [a, b] = [one.toString(), two.toString()]
    const absent = 'bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy'
    await expect(node.pins.add([a, absent], { offline: true })).rejects.toMatchObject({ name: 'NotFoundError' })
    await expect(node.pins.rm([a])).rejects.toBeInstanceOf(PinError)
    expect(await collect(node.pins.ls())).toEqual([])
    expect((await node.pins.add([a, b], { isRecursive: false, name: 'both' })).map(String)).toEqual([a, b])
    await expect(node.pins.rm([a, absent])).rejects.toThrow(/not pinned or pinned indirectly/)
    expect((await textsOf(node.pins.ls({ type: 'direct', name: 'bo' }))).toSorted()).toEqual([a, b].toSorted())
    const seen: [number, number][] = []
    await node.pins.add([a], { name: 'first', onProgress: (blocks, bytes) => seen.push([blocks, bytes]) })
    expect(seen.at(-1)).toEqual([4, expect.any(Number)])
    await expect(node.pins.add([a], { isRecursive: false })).rejects.toThrow(/already pinned recursively/)
    await expect(node.pins.rm([a], { isRecursive: false })).rejects.toThrow(/is pinned recursively/)
    await expect(node.pins.update(b, a)).rejects.toThrow(/'from' cid was not recursively pinned/)
    const inner = await collect(node.pins.ls({ type: 'indirect' }))
    expect(inner.map(({ type }) => type)).toEqual(['indirect', 'indirect', 'indirect'])
    const leaf = inner[0]?.cid.toString() ?? ''
    const [through] = await collect(node.pins.ls({ paths: [leaf] }))
    expect([through?.type, through?.via?.toString()]).toEqual(['indirect', a])
    await expect(collect(node.pins.ls({ paths: [leaf], type: 'direct' }))).rejects.toThrow(/is not pinned/)
    expect((await node.pins.update(a, b)).map(String)).toEqual([a, b])
    const after = await collect(node.pins.ls({ type: 'recursive' }))
    expect(after.map(({ cid, name }) => [cid.toString(), name])).toEqual([[b, 'first']])
    await expect(node.pins.add([a], { name: 'x'.repeat(256) })).rejects.toBeInstanceOf(InvalidParametersError)
    expect(await collected(node)).toBe(4)
  })

  test(`pinned blocks are not removed, and what a pin lacks is told, and keeps collections from running (${name})`, async () => {
    const node = await open()
    const root = await addOne(node, { path: 'one', content: someBytes(200_000, 1) })
    const loose = await addOne(node, { path: 'two', content: someBytes(10, 2) }, false)
    const [inner] = await collect(node.pins.ls({ type: 'indirect' }))
    const cids = [root, (inner as { cid: CID }).cid, loose]
    expect((await collect(node.blockRm(cids))).map(({ error }) => error)).toEqual([
      'pinned: recursive',
      `pinned via ${root.toString()}`,
      undefined
    ])
    expect(await collect(node.pins.verify())).toMatchObject([{ bad: [] }])
    const put = await node.blockPut(someBytes(10, 3))
    expect(await collected(node)).toBe(1)
    await expect(node.blockGet(put.cid, { offline: true })).rejects.toMatchObject({ name: 'NotFoundError' })
    const pinned = await node.blockPut(someBytes(10, 3), { pin: true })
    expect(await collected(node)).toBe(0)
    expect(await textsOf(node.pins.ls({ type: 'recursive' }))).toContain(pinned.cid.toString())
  })
}

test('a direct pin keeps its block alone, also where nobody can read what is in it', async () => {
  const node = await localNode()
  const { cid } = await node.blockPut(someBytes(100))
  const strange = [CID.createV1(0x20, cid.multihash), CID.createV1(0x71, cid.multihash)].map(String)
  await expect(node.pins.add(strange)).rejects.toThrow(/codec/)
  await node.pins.add(strange, { isRecursive: false })
  expect(await collected(node)).toBe(0)
  expect(await textsOf(node.pins.ls({ type: 'direct' }))).toEqual(expect.arrayContaining(strange))
  await node.pins.rm(strange)
  expect(await collected(node)).toBe(1)
})

test('a pin that lacks a block is broken, and nothing is removed while what it leads to cannot be known', async () => {
  const repo = await memoryRepo()
  const node = await openLocalNode({ repo, online: false })
  onTestFinished(async () => await node.close())
  const root = await addOne(node, { path: 'a/one', content: someBytes(3000, 1) })
  const loose = await addOne(node, { path: 'two', content: someBytes(10, 2) }, false)
  const middle = (await collect(node.ls(root.toString())))[0] as { cid: CID }
  await repo.blocks.delete(middle.cid)
  const [check] = await collect(node.pins.verify())
  expect(check?.bad.map(({ cid }) => cid.toString())).toEqual([middle.cid.toString()])
  const lines: object[] = []
  const gone = async (): Promise<void> => {
    for await (const line of node.garbage.collect()) lines.push(line)
  }
  await expect(gone()).rejects.toMatchObject({
    name: 'CollectionError',
    code: 'ERR_COLLECTION',
    message: expect.stringContaining(middle.cid.toString())
  })
  expect(lines).toHaveLength(1)
  expect(await repo.blocks.has(loose)).toBe(true)
  await addOne(node, { path: 'a/one', content: someBytes(3000, 1) })
  expect(await collected(node)).toBe(1)
})

test("Kubo's client pins, lists, unpins and collects", async () => {
  const daemon = await newDaemon()
  const kubo = create({ url: urlOf(daemon) })
  const { cid } = await kubo.add(someBytes(3000), { chunker: 'size-1000', cidVersion: 1, pin: false })
  expect(await collect(kubo.pin.ls())).toEqual([])
  expect((await kubo.pin.add(cid, { name: 'mine' })).toString()).toBe(cid.toString())
  const pins = await collect(kubo.pin.ls({ type: 'recursive', names: true }))
  expect(pins.map((pin) => [pin.cid.toString(), pin.type, pin.name])).toEqual([[cid.toString(), 'recursive', 'mine']])
  const response = await fetch(`${urlOf(daemon)}/pin/ls?type=recursive`, { method: 'POST' })
  expect(await response.json()).toEqual({ Keys: { [cid.toString()]: { Type: 'recursive', Name: '' } } })
  const other = await kubo.add(someBytes(2000, 5), { chunker: 'size-1000', cidVersion: 1, pin: false })
  await kubo.pin.update(cid, other.cid)
  await expect(kubo.pin.rm(cid)).rejects.toThrow(/not pinned or pinned indirectly/)
  expect(await collect(kubo.repo.gc())).toHaveLength(4)
  expect((await kubo.pin.rm(other.cid)).toString()).toBe(other.cid.toString())
  const silent = await fetch(`${urlOf(daemon)}/repo/gc?silent=true`, { method: 'POST' })
  expect([silent.status, await silent.text()]).toEqual([200, ''])
  expect((await daemon.node.repoStat()).blocks).toBe(0)
})
