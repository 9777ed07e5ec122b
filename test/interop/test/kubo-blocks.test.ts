import { hashFunctionNamed, multihashOf } from '@shardswap/hashes'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kuboAvailable, kuboBuildMs } from '../src/build-kubo.ts'
import { blockOf, bytesOf, mebibyte, sha256Of, type BlockSpec } from '../src/content.ts'
import { startKuboPair, type KuboPair } from '../src/kubo-pair.ts'
import { manyBlocks } from '../src/many-blocks.ts'

const rawCodec = 0x55

const hashes = [
  { name: 'sha2-512', digestBytes: 64 },
  { name: 'blake2b-256', digestBytes: 32 },
  { name: 'blake3', digestBytes: 32 },
  { name: 'blake3', digestBytes: 64 },
  { name: 'sha1', digestBytes: 20 },
  { name: 'keccak-256', digestBytes: 32 },
  { name: 'sha2-256', digestBytes: 20 }
]

const sizes = [
  { name: '1 MiB', bytes: mebibyte },
  { name: '1 MiB + 14', bytes: mebibyte + 14 },
  { name: '2 MiB', bytes: 2 * mebibyte },
  { name: '2 MiB + 1', bytes: 2 * mebibyte + 1 },
  { name: '3.9 MiB', bytes: Math.floor(3.9 * mebibyte) }
]

/** Larger than any message, and so than any block that can travel. */
const tooLargeBytes = 4 * mebibyte + 1

/** How long a fetch that cannot succeed is given, in milliseconds. */
const hopelessMs = 5_000

function hashedBlock(name: string, digestBytes: number, seed: number): BlockSpec {
  const bytes = bytesOf(10_000, seed)
  const digest = multihashOf(hashFunctionNamed(name)?.code ?? -1, digestBytes, bytes)
  if (digest === undefined) throw new Error(`no digest of ${digestBytes} bytes by ${name}`)
  return { cid: CID.createV1(rawCodec, digest), bytes }
}

describe.runIf(kuboAvailable(import.meta.filename))('single blocks with Kubo', () => {
  let pair: KuboPair
  beforeAll(async () => {
    pair = await startKuboPair()
  }, kuboBuildMs)
  afterAll(async () => {
    await pair.stop()
  })

  test.for(hashes)('[F44] Kubo serves, ours fetches: a block under $name of $digestBytes bytes', async ({ name, digestBytes }) => {
    const { cid, bytes } = hashedBlock(name, digestBytes, 1_000 + digestBytes)
    await pair.kubo.putBlock(cid.toString(), bytes)
    expect(sha256Of([await pair.ours.getBlock(cid.toString())])).toBe(sha256Of([bytes]))
  })

  test.for(hashes)('[F44] ours serves, Kubo fetches: a block under $name of $digestBytes bytes', async ({ name, digestBytes }) => {
    const { cid, bytes } = hashedBlock(name, digestBytes, 2_000 + digestBytes)
    await pair.ours.putBlock(cid.toString(), bytes)
    expect(sha256Of([await pair.kubo.getBlock(cid.toString())])).toBe(sha256Of([bytes]))
  })

  test('[F44] a hash that nobody here can compute is an error that names its code, not a wait', async () => {
    const cid = CID.createV1(rawCodec, createDigest(0x1234, bytesOf(32, 3_000)))
    await expect(pair.ours.getBlock(cid.toString())).rejects.toMatchObject({
      name: 'UnknownHashError',
      message: expect.stringContaining('0x1234')
    })
  })

  test.for(sizes)('[F46] Kubo serves, ours fetches: a block of $name', async ({ bytes: length }) => {
    const { cid, bytes } = await blockOf(bytesOf(length, 4_000), rawCodec)
    await pair.kubo.putBlock(cid.toString(), bytes, { big: true })
    expect(sha256Of([await pair.ours.getBlock(cid.toString())])).toBe(sha256Of([bytes]))
  })

  test.for(sizes)('[F46] ours serves, Kubo fetches: a block of $name', async ({ bytes: length }) => {
    const { cid, bytes } = await blockOf(bytesOf(length, 5_000), rawCodec)
    await pair.ours.putBlock(cid.toString(), bytes, { big: length > 2 * mebibyte })
    expect(sha256Of([await pair.kubo.getBlock(cid.toString())])).toBe(sha256Of([bytes]))
  })

  test('[F46] ours refuses to put a block above 2 MiB', async () => {
    const { cid, bytes } = await blockOf(bytesOf(2 * mebibyte + 1, 6_000), rawCodec)
    await expect(pair.ours.putBlock(cid.toString(), bytes)).rejects.toMatchObject({ name: 'TooLargeError' })
  })

  test('[F46] Kubo serves, ours fetches: a block that fits in no message fails alone', async () => {
    const large = await blockOf(bytesOf(tooLargeBytes, 7_000), rawCodec)
    await pair.kubo.putBlock(large.cid.toString(), large.bytes, { big: true })
    await expect(pair.ours.getBlock(large.cid.toString(), { timeoutMs: hopelessMs })).rejects.toMatchObject({ name: 'TimeoutError' })
    const small = await blockOf(bytesOf(1_000, 7_001), rawCodec)
    await pair.kubo.putBlock(small.cid.toString(), small.bytes)
    expect(sha256Of([await pair.ours.getBlock(small.cid.toString())])).toBe(sha256Of([small.bytes]))
  })

  test('[F46] ours serves, Kubo fetches: a block that fits in no message fails alone', async () => {
    const large = await blockOf(bytesOf(tooLargeBytes, 8_000), rawCodec)
    await pair.ours.putBlock(large.cid.toString(), large.bytes, { big: true })
    await expect(pair.kubo.getBlock(large.cid.toString(), { timeoutMs: hopelessMs })).rejects.toThrow('ipfs block get')
    const small = await blockOf(bytesOf(1_000, 8_001), rawCodec)
    await pair.ours.putBlock(small.cid.toString(), small.bytes)
    expect(sha256Of([await pair.kubo.getBlock(small.cid.toString())])).toBe(sha256Of([small.bytes]))
  })

  test('[F46] Kubo serves, ours fetches: large blocks among 2,000 small ones', { timeout: 120_000 }, async () => {
    const many = await manyBlocks(2_000, 9_000)
    const large = await Promise.all([0, 1, 2].map(async (index) => await blockOf(bytesOf(2 * mebibyte, 9_500 + index), rawCodec)))
    await pair.kubo.run(['dag', 'import', '--pin-roots=false'], [many.car])
    for (const { cid, bytes } of large) await pair.kubo.putBlock(cid.toString(), bytes)
    const wanted = [...many.blocks, ...large]
    const reading = await pair.ours.getBlocks(wanted.map(({ cid }) => cid.toString()))
    expect(reading).toEqual({ blocks: wanted.length, sha256: sha256Of(wanted.map(({ bytes }) => bytes)) })
  })

  test('[F46] ours serves, Kubo fetches: large blocks among 2,000 small ones', { timeout: 120_000 }, async () => {
    const many = await manyBlocks(2_000, 20_000)
    const large = await Promise.all([0, 1, 2].map(async (index) => await blockOf(bytesOf(2 * mebibyte, 30_000 + index), rawCodec)))
    await pair.ours.importCar(many.car)
    for (const { cid, bytes } of large) await pair.ours.putBlock(cid.toString(), bytes)
    const [, ...got] = await Promise.all([
      pair.kubo.run(['pin', 'add', many.root.toString()]),
      ...large.map(async ({ cid }) => await pair.kubo.getBlock(cid.toString()))
    ])
    const car = await pair.kubo.run(['dag', 'export', many.root.toString()])
    expect(sha256Of([car])).toBe(sha256Of([many.car]))
    expect(got.map((bytes) => sha256Of([bytes]))).toEqual(large.map(({ bytes }) => sha256Of([bytes])))
  })
})
