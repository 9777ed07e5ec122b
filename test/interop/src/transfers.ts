/** One list of transfers for every pair of implementations: who serves and who fetches stand in each title. */
import { CID } from 'multiformats/cid'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  blockOf,
  bytesOf,
  cborBlocks,
  contentOf,
  digestOfNames,
  expectedDigestOfFiles,
  leafBytes,
  mebibyte,
  namesOf,
  sampleOf,
  sha256Of,
  type DirectorySpec,
  type FileSpec
} from './content.ts'
import type { RunningNode } from './node-api.ts'
import { addDirectory, addFile } from './ours-content.ts'

/** A pair of running nodes, connected. */
interface Pair {
  readonly provider: RunningNode
  readonly fetcher: RunningNode
}

export interface TransferInit {
  readonly serves: string
  readonly fetches: string
  /** Starts both nodes and connects them. */
  start(): Promise<Pair>
  /** Read every file of the directory of 20,000, or only one in 200. */
  readonly readAll: boolean
  /** How long `start` may take, in milliseconds. */
  readonly startMs?: number
}

/** How long one transfer may take on a busy machine, in milliseconds. */
const transferMs = 120_000

const raw = { cidVersion: 1, rawLeaves: true } as const

const files: readonly (FileSpec & { readonly name: string })[] = [
  { name: '0 bytes', bytes: 0, seed: 1, ...raw },
  { name: '1 byte', bytes: 1, seed: 2, ...raw },
  { name: '256 KiB − 1', bytes: leafBytes - 1, seed: 3, ...raw },
  { name: '256 KiB', bytes: leafBytes, seed: 4, ...raw },
  { name: '256 KiB + 1', bytes: leafBytes + 1, seed: 5, ...raw },
  { name: '1 byte, CIDv0', bytes: 1, seed: 6, cidVersion: 0, rawLeaves: false },
  { name: '3 MiB, CIDv0', bytes: 3 * mebibyte, seed: 7, cidVersion: 0, rawLeaves: false },
  { name: '50 MiB', bytes: 50 * mebibyte, seed: 8, ...raw }
]

const small: DirectorySpec = { names: 'plain', count: 1_000 }
const large: DirectorySpec = { names: 'plain', count: 20_000 }
const sampleStep = 200

/** Declares the whole list for one direction. */
export function describeTransfers(init: TransferInit): void {
  const title = `${init.serves} serves, ${init.fetches} fetches`
  describe(`${init.serves} serves, ${init.fetches} fetches`, () => {
    let pair: Pair
    beforeAll(async () => {
      pair = await init.start()
    }, init.startMs ?? transferMs)
    afterAll(async () => {
      await pair.fetcher.stop()
      await pair.provider.stop()
    })
    const current = (): Pair => pair
    fileTests(title, current)
    blockTests(current)
    directoryTests(current, init.readAll)
  })
}

function fileTests(title: string, pair: () => Pair): void {
  test.for(files)('a file of $name', { timeout: transferMs }, async (spec) => {
    const { provider, fetcher } = pair()
    const root = await provider.addFile(spec)
    expect(root).toBe(await addFile(spec))
    const reading = await fetcher.readFile(root)
    expect(reading).toMatchObject({ bytes: spec.bytes, sha256: sha256Of(contentOf(spec)) })
    if (spec.bytes < 10 * mebibyte) return
    console.log(`${title}: ${spec.name} at ${Math.round(spec.bytes / 1e6 / reading.seconds)} MB/s`)
  })
}

function blockTests(pair: () => Pair): void {
  test('a raw block of 2 MiB', { timeout: transferMs }, async () => {
    const { provider, fetcher } = pair()
    const { cid, bytes } = await blockOf(bytesOf(2 * mebibyte, 13), 0x55)
    await provider.putBlock(cid.toString(), bytes)
    const got = await fetcher.getBlock(cid.toString())
    expect(sha256Of([got])).toBe(sha256Of([bytes]))
  })

  test('a tree of dag-cbor', { timeout: transferMs }, async () => {
    const { provider, fetcher } = pair()
    const blocks = await cborBlocks()
    for (const { cid, bytes } of blocks) await provider.putBlock(cid.toString(), bytes)
    for (const { cid, bytes } of blocks.toReversed()) {
      const got = await fetcher.getBlock(cid.toString())
      expect(Buffer.compare(got, bytes)).toBe(0)
    }
  })

  test('a block stored under one CID, asked for by another of the same multihash', { timeout: transferMs }, async () => {
    const { provider, fetcher } = pair()
    const spec: FileSpec = { bytes: 5_000, seed: 9, cidVersion: 0, rawLeaves: false }
    const v0 = CID.parse(await provider.addFile(spec))
    const reading = await fetcher.readFile(CID.createV1(v0.code, v0.multihash).toString())
    expect(reading.sha256).toBe(sha256Of(contentOf(spec)))
  })
}

function directoryTests(pair: () => Pair, readAll: boolean): void {
  test('a directory of 1,000 names, each read', { timeout: transferMs }, async () => {
    const { provider, fetcher } = pair()
    const root = await provider.addDirectory(small)
    expect(root).toBe(await addDirectory(small))
    const reading = await fetcher.readDirectory(root)
    expect(reading).toMatchObject({ names: small.count, sha256: expectedDigestOfFiles(small) })
  })

  test(`a sharded directory of 20,000 names, ${readAll ? 'each' : 'one in 200'} read`, { timeout: 2 * transferMs }, async () => {
    const { provider, fetcher } = pair()
    const root = await provider.addDirectory(large)
    expect(root).toBe(await addDirectory(large))
    const sample = sampleOf(large, sampleStep)
    // Names first, in a cold store: each must be found through its own shards.
    const some = await fetcher.readNames(
      root,
      sample.map(({ name }) => name)
    )
    expect(some.sha256).toBe(sha256Of(sample.map(({ content }) => content)))
    const listing = await fetcher.listNames(root)
    expect(listing).toMatchObject({ names: large.count, sha256: digestOfNames(namesOf(large)) })
    if (!readAll) return
    const whole = await fetcher.readDirectory(root)
    expect(whole).toMatchObject({ names: large.count, sha256: expectedDigestOfFiles(large) })
  })
}
