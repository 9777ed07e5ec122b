import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CID, readBlock } from '@shardswap/interface'
import { create as createDigest } from 'multiformats/hashes/digest'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { memoryRepo, openRepo, type Repo } from '../src/index.ts'
import { blockOf, collect, randomBlock, rawCode } from './blocks.ts'

const dagPbCode = 0x70

describe.each(['memory', 'disk'] as const)('the block store (%s)', (kind) => {
  let folder: string
  let repo: Repo

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shardswap-blocks-'))
    repo = kind === 'memory' ? await memoryRepo() : await openRepo(join(folder, 'repo'), { create: true })
  })

  afterEach(async () => {
    await repo.close()
    await rm(folder, { recursive: true, force: true })
  })

  test.each([0, 1, 1024, 16 * 1024, 16 * 1024 + 1, 256 * 1024, 2 * 1024 * 1024, 4 * 1024 * 1024])(
    'gives back a block of %i bytes, its size and its presence',
    async (length) => {
      const { cid, bytes } = randomBlock(length)
      expect(await repo.blocks.has(cid)).toBe(false)
      expect(await repo.blocks.size(cid)).toBeUndefined()
      expect(await repo.blocks.put(cid, bytes)).toBe(cid)
      const got = await readBlock(repo.blocks, cid)
      expect(got.byteLength).toBe(length)
      expect(Buffer.compare(got, bytes)).toBe(0)
      expect(Buffer.isBuffer(got)).toBe(false)
      expect(await repo.blocks.size(cid)).toBe(length)
      expect(await repo.blocks.has(cid)).toBe(true)
    }
  )

  test('takes bytes in parts, from an iterable or an async iterable', async () => {
    const parts = [new Uint8Array(randomBytes(20_000)), new Uint8Array(randomBytes(5))]
    const { cid, bytes } = blockOf(new Uint8Array(Buffer.concat(parts)))
    await repo.blocks.put(cid, parts)
    expect(await readBlock(repo.blocks, cid)).toEqual(bytes)
    await repo.blocks.delete(cid)
    await repo.blocks.put(
      cid,
      (async function* () {
        yield* parts
      })()
    )
    expect(await readBlock(repo.blocks, cid)).toEqual(bytes)
  })

  test('a block that is not here is NotFoundError, with the first next()', async () => {
    const { cid } = randomBlock(10)
    const blocks = repo.blocks.get(cid)
    await expect(async () => await blocks.next()).rejects.toMatchObject({ name: 'NotFoundError', code: 'ERR_NOT_FOUND' })
  })

  test('files a block under its multihash: CIDv0, CIDv1 and another codec are one block', async () => {
    const { cid, bytes } = randomBlock(300)
    const v0 = CID.createV0(cid.multihash as Parameters<typeof CID.createV0>[0])
    const dagPb = CID.createV1(dagPbCode, cid.multihash)
    await repo.blocks.put(v0, bytes)
    expect(await repo.blocks.has(cid)).toBe(true)
    expect(await repo.blocks.size(dagPb)).toBe(300)
    expect(await readBlock(repo.blocks, dagPb)).toEqual(bytes)
    expect((await repo.stat()).blocks).toBe(1)
    await repo.blocks.delete(dagPb)
    expect(await repo.blocks.has(v0)).toBe(false)
  })

  test('[F43] answers an identity CID from the CID itself and stores none', async () => {
    const text = new TextEncoder().encode('inline')
    const cid = CID.createV1(rawCode, createDigest(0, text))
    expect(await repo.blocks.has(cid)).toBe(true)
    expect(await repo.blocks.size(cid)).toBe(6)
    expect(await readBlock(repo.blocks, cid)).toEqual(text)
    await repo.blocks.put(cid, text)
    await repo.blocks.delete(cid)
    expect(await readBlock(repo.blocks, cid)).toEqual(text)
    expect((await repo.stat()).blocks).toBe(0)
    expect(await collect(repo.blocks.getAll())).toEqual([])
  })

  test('[F43] refuses an identity CID that is too long', async () => {
    const cid = CID.createV1(rawCode, createDigest(0, new Uint8Array(129)))
    expect(await repo.blocks.has(cid)).toBe(false)
    await expect(readBlock(repo.blocks, cid)).rejects.toMatchObject({ name: 'InvalidCidError' })
    await expect(async () => await repo.blocks.put(cid, new Uint8Array(129))).rejects.toMatchObject({ name: 'InvalidCidError' })
  })

  test('refuses what could never be checked, and what is too large', async () => {
    const unknown = CID.createV1(rawCode, createDigest(0x7777, new Uint8Array(32)))
    await expect(async () => await repo.blocks.put(unknown, new Uint8Array(1))).rejects.toMatchObject({ name: 'UnknownHashError' })
    const short = CID.createV1(rawCode, createDigest(0x12, new Uint8Array(4)))
    await expect(async () => await repo.blocks.put(short, new Uint8Array(1))).rejects.toMatchObject({ name: 'InvalidCidError' })
    const large = randomBlock(4 * 1024 * 1024 + 1)
    await expect(async () => await repo.blocks.put(large.cid, large.bytes)).rejects.toMatchObject({ name: 'TooLargeError' })
    await expect(async () => await repo.blocks.put(large.cid, [large.bytes])).rejects.toMatchObject({ name: 'TooLargeError' })
    expect((await repo.stat()).blocks).toBe(0)
  })

  test('deletes one, many, and what is not here', async () => {
    const blocks = [randomBlock(10), randomBlock(100_000), randomBlock(20)]
    for (const { cid, bytes } of blocks) await repo.blocks.put(cid, bytes)
    const cids = blocks.map(({ cid }) => cid)
    expect(await collect(repo.blocks.deleteMany(cids))).toEqual(cids)
    for (const cid of cids) expect(await repo.blocks.has(cid)).toBe(false)
    await repo.blocks.delete(randomBlock(5).cid)
    expect(await repo.stat()).toMatchObject({ blocks: 0, blockBytes: 0 })
  })

  test('lists all blocks, small and large', async () => {
    const blocks = [0, 1, 500, 16 * 1024, 16 * 1024 + 1, 300_000].map(randomBlock)
    for (const { cid, bytes } of blocks) await repo.blocks.put(cid, bytes)
    const listed = new Map<string, Uint8Array>()
    for await (const { cid, bytes } of repo.blocks.getAll()) {
      listed.set(cid.toString(), new Uint8Array(Buffer.concat(await collect(bytes))))
    }
    expect(listed).toEqual(new Map(blocks.map(({ cid, bytes }) => [cid.toString(), bytes])))
    const blockBytes = blocks.reduce((sum, { bytes }) => sum + bytes.byteLength, 0)
    expect(await repo.stat()).toMatchObject({ blocks: 6, blockBytes, version: 2 })
  })

  test('gets many in the order asked; a missing one fails alone', async () => {
    const a = randomBlock(10)
    const b = randomBlock(100_000)
    await repo.blocks.put(a.cid, a.bytes)
    await repo.blocks.put(b.cid, b.bytes)
    const missing = randomBlock(10)
    const outcomes: unknown[] = []
    for await (const { cid, bytes } of repo.blocks.getMany([b.cid, missing.cid, a.cid])) {
      outcomes.push(
        await collect(bytes).then(
          () => cid,
          (error: Error) => error.name
        )
      )
    }
    expect(outcomes).toEqual([b.cid, 'NotFoundError', a.cid])
  })

  test('putMany holds no more than 32 blocks at once, and yields CIDs in order', async () => {
    const blocks = Array.from({ length: 500 }, (_, at) => randomBlock(at % 7 === 0 ? 20_000 : 100))
    let taken = 0
    let yielded = 0
    let most = 0
    const source = (function* () {
      for (const block of blocks) {
        taken += 1
        most = Math.max(most, taken - yielded)
        yield block
      }
    })()
    const order: CID[] = []
    for await (const cid of repo.blocks.putMany(source)) {
      expect(await repo.blocks.has(cid)).toBe(true)
      yielded += 1
      order.push(cid)
    }
    expect(order).toEqual(blocks.map(({ cid }) => cid))
    expect(most).toBeLessThanOrEqual(32)
  })

  test('putMany reports the first failure and leaves nothing unhandled', async () => {
    const good = randomBlock(10)
    const bad = { cid: CID.createV1(rawCode, createDigest(0x7777, new Uint8Array(32))), bytes: new Uint8Array(1) }
    await expect(collect(repo.blocks.putMany([good, bad, bad, good]))).rejects.toMatchObject({ name: 'UnknownHashError' })
  })

  test('an aborted signal stops each call before it does anything', async () => {
    const { cid, bytes } = randomBlock(10)
    const signal = AbortSignal.abort()
    const aborted = { name: 'AbortError' }
    await expect(async () => await repo.blocks.put(cid, bytes, { signal })).rejects.toMatchObject(aborted)
    expect(await repo.blocks.has(cid)).toBe(false)
    await repo.blocks.put(cid, bytes)
    await expect(readBlock(repo.blocks, cid, { signal })).rejects.toMatchObject(aborted)
    await expect(async () => await repo.blocks.has(cid, { signal })).rejects.toMatchObject(aborted)
    await expect(async () => await repo.blocks.delete(cid, { signal })).rejects.toMatchObject(aborted)
    await expect(collect(repo.blocks.getAll({ signal }))).rejects.toMatchObject(aborted)
    await expect(collect(repo.verify({ signal }))).rejects.toMatchObject(aborted)
    expect(await repo.blocks.has(cid)).toBe(true)
  })

  test('puts, gets and deletes of one block that cross each other leave it whole or absent', async () => {
    const { cid, bytes } = randomBlock(50_000)
    await repo.blocks.put(cid, bytes)
    const tasks: Promise<unknown>[] = []
    for (let i = 0; i < 100; i++) {
      tasks.push(Promise.resolve(i % 3 === 0 ? repo.blocks.delete(cid) : repo.blocks.put(cid, bytes)))
      tasks.push(
        readBlock(repo.blocks, cid).then(
          (got) => expect(got).toEqual(bytes),
          (error: Error) => expect(error.name).toBe('NotFoundError')
        )
      )
    }
    tasks.push(Promise.resolve(repo.blocks.put(cid, bytes)))
    await Promise.all(tasks)
    expect(await readBlock(repo.blocks, cid)).toEqual(bytes)
  })

  test('10,000 small blocks go in and come out', async () => {
    const blocks = Array.from({ length: 10_000 }, (_, at) => blockOf(new TextEncoder().encode(`block ${at}`)))
    let stored = 0
    for await (const cid of repo.blocks.putMany(blocks)) if (cid.code === rawCode) stored += 1
    expect(stored).toBe(10_000)
    for (const { cid, bytes } of blocks) expect(await readBlock(repo.blocks, cid)).toEqual(bytes)
    expect((await repo.stat()).blocks).toBe(10_000)
  })

  test('after close, calls fail with StoppedError; close may be called twice and waits for puts', async () => {
    const { cid, bytes } = randomBlock(100_000)
    const put = repo.blocks.put(cid, bytes)
    await repo.close()
    expect(await put).toBe(cid)
    await repo.close()
    await expect(async () => await repo.blocks.has(cid)).rejects.toMatchObject({ name: 'StoppedError' })
    await expect(readBlock(repo.blocks, cid)).rejects.toMatchObject({ name: 'StoppedError' })
    await expect(collect(repo.blocks.getAll())).rejects.toMatchObject({ name: 'StoppedError' })
    await expect(collect(repo.verify())).rejects.toMatchObject({ name: 'StoppedError' })
  })
})
