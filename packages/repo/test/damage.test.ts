import { mkdtemp, open, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Block, type CID, readBlock } from '@shardswap/interface'
import { ClassicLevel } from 'classic-level'
import { base32 } from 'multiformats/bases/base32'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openRepo, type Repo, type VerifyResult } from '../src/index.ts'
import { collect, randomBlock } from './blocks.ts'

let folder: string
let path: string
let repo: Repo

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shardswap-damage-'))
  path = join(folder, 'repo')
  repo = await openRepo(path, { create: true })
})

afterEach(async () => {
  await repo.close()
  await rm(folder, { recursive: true, force: true })
})

/** Where a large block's file is; as the layout has it. */
function fileOf(cid: CID): string {
  const name = base32.baseEncode(cid.multihash.bytes)
  return join(path, 'blocks', name.slice(-3, -1), name)
}

async function flipByteOfFile(cid: CID): Promise<void> {
  const file = await open(fileOf(cid), 'r+')
  const byte = Buffer.alloc(1)
  await file.read(byte, 0, 1, 50_000)
  byte[0] = (byte[0] ?? 0) ^ 1
  await file.write(byte, 0, 1, 50_000)
  await file.close()
}

/** Flips a byte of a small block where it rests, in the index. The repo is closed meanwhile. */
async function flipByteOfInline({ cid, bytes }: Block, options = {}): Promise<void> {
  await repo.close()
  const db = new ClassicLevel<Uint8Array, Uint8Array>(join(path, 'blocks', 'index'), { keyEncoding: 'view', valueEncoding: 'view' })
  const key = new Uint8Array([0x62, ...cid.multihash.bytes])
  expect(new Uint8Array((await db.get(key)) ?? [])).toEqual(bytes)
  const flipped = bytes.slice()
  flipped[7] = (flipped[7] ?? 0) ^ 1
  await db.put(key, flipped)
  await db.close()
  repo = await openRepo(path, options)
}

async function stored(length: number): Promise<Block> {
  const block = randomBlock(length)
  await repo.blocks.put(block.cid, block.bytes)
  return block
}

interface Outcome {
  readonly first: unknown
  readonly here: boolean
  readonly second: unknown
  readonly mended: boolean
}

/** What comes of reading a damaged block, of reading it again, and of storing it anew. */
async function outcomeOf({ cid, bytes }: Block): Promise<Outcome> {
  const errorOfRead = async (): Promise<unknown> =>
    await readBlock(repo.blocks, cid).then(
      () => undefined,
      (error: unknown) => error
    )
  const first = await errorOfRead()
  const here = await repo.blocks.has(cid)
  const second = await errorOfRead()
  await repo.blocks.put(cid, bytes)
  return { first, here, second, mended: Buffer.compare(await readBlock(repo.blocks, cid), bytes) === 0 }
}

/** It is told, not handed out, not here any more, and can be stored again. */
const dropped = {
  first: {
    name: 'NotFoundError',
    message: expect.stringMatching(/damaged.*fetch or add it again/) as string,
    cause: { name: 'HashMismatchError' }
  },
  here: false,
  second: { name: 'NotFoundError', message: expect.stringContaining('not in the repo') as string },
  mended: true
}

describe('[F68] a block that is damaged on the disk is never handed out', () => {
  test('large, one byte flipped', async () => {
    const block = await stored(256 * 1024)
    await flipByteOfFile(block.cid)
    expect(await outcomeOf(block)).toMatchObject(dropped)
  })

  test('large, cut short', async () => {
    const block = await stored(256 * 1024)
    await truncate(fileOf(block.cid), 100)
    expect(await outcomeOf(block)).toMatchObject(dropped)
  })

  test('large, grown', async () => {
    const block = await stored(256 * 1024)
    await truncate(fileOf(block.cid), 256 * 1024 + 1)
    expect(await outcomeOf(block)).toMatchObject(dropped)
  })

  test('large, its file gone', async () => {
    const block = await stored(256 * 1024)
    await rm(fileOf(block.cid))
    expect(await outcomeOf(block)).toMatchObject(dropped)
  })

  test('small, one byte flipped', async () => {
    const block = await stored(1_024)
    await flipByteOfInline(block)
    expect(await outcomeOf(block)).toMatchObject(dropped)
  })

  test('a put of the same block mends it without a read', async () => {
    const block = await stored(256 * 1024)
    await flipByteOfFile(block.cid)
    await repo.blocks.put(block.cid, block.bytes)
    expect(await readBlock(repo.blocks, block.cid)).toEqual(block.bytes)
  })

  test('many readers of one damaged block all learn of it, and a put between them stays', async () => {
    const block = await stored(256 * 1024)
    await flipByteOfFile(block.cid)
    const reads = Array.from({ length: 20 }, async () => await readBlock(repo.blocks, block.cid))
    const put = repo.blocks.put(block.cid, block.bytes)
    for (const outcome of await Promise.allSettled(reads)) {
      const fine =
        outcome.status === 'fulfilled'
          ? Buffer.compare(outcome.value, block.bytes) === 0
          : String(outcome.reason).startsWith('NotFoundError')
      expect(fine).toBe(true)
    }
    await put
    expect(await readBlock(repo.blocks, block.cid)).toEqual(block.bytes)
  })

  test('with verifyOnRead off, reads take the disk at its word', async () => {
    const block = await stored(1_024)
    await flipByteOfInline(block, { verifyOnRead: false })
    const bytes = await readBlock(repo.blocks, block.cid)
    expect(bytes.byteLength).toBe(1_024)
    expect(bytes).not.toEqual(block.bytes)
  })
})

describe('verify', () => {
  test('tells every bad block and why, goes on, and drops none', async () => {
    const small = await stored(1_024)
    const good = [await stored(10), await stored(100_000)]
    const [flipped, short, gone] = [await stored(256 * 1024), await stored(256 * 1024), await stored(256 * 1024)]
    await flipByteOfInline(small)
    await flipByteOfFile(flipped.cid)
    await truncate(fileOf(short.cid), 100)
    await rm(fileOf(gone.cid))
    const results = new Map((await collect(repo.verify())).map((result): [string, VerifyResult] => [result.cid.toString(), result]))
    expect(results.size).toBe(6)
    for (const { cid } of good) expect(results.get(cid.toString())).toEqual({ cid, ok: true })
    expect(results.get(small.cid.toString())).toMatchObject({ ok: false, reason: 'its bytes do not match its CID' })
    expect(results.get(flipped.cid.toString())).toMatchObject({ ok: false, reason: 'its bytes do not match its CID' })
    expect(results.get(short.cid.toString())).toMatchObject({ ok: false, reason: 'it has 100 bytes instead of 262144' })
    expect(results.get(gone.cid.toString())).toMatchObject({ ok: false, reason: 'its bytes are missing' })
    expect((await repo.stat()).blocks).toBe(6)
  })

  test('may be left in the middle, and the repo still closes', async () => {
    for (let i = 0; i < 50; i++) await stored(100)
    let seen = 0
    for await (const { ok } of repo.verify()) {
      expect(ok).toBe(true)
      seen += 1
      if (seen === 3) break
    }
    const left = repo.verify()[Symbol.asyncIterator]()
    expect(await left.next()).toMatchObject({ done: false, value: { ok: true } })
    await repo.close()
    await expect(left.next()).rejects.toMatchObject({ name: 'StoppedError' })
  })

  test('a block deleted while it runs is no bad block', async () => {
    const blocks = await Promise.all(Array.from({ length: 20 }, async () => await stored(20_000)))
    const results: VerifyResult[] = []
    for await (const result of repo.verify()) {
      results.push(result)
      for (const { cid } of blocks) await repo.blocks.delete(cid)
    }
    expect(results.map(({ ok }) => ok)).toEqual([true])
  })
})
