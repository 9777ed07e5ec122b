import { cat, exportCar, importCar, tree } from '@shardswap/content'
import { blockSinkOf, blockSourceOf, type BlockSink, type BlockSource } from '@shardswap/interface'
import { MemoryBlockstore } from 'blockstore-core'
import { CID } from 'multiformats/cid'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kuboAvailable, kuboBuildMs } from '../src/build-kubo.ts'
import {
  cborBlocks,
  contentOf,
  digestOfFiles,
  expectedDigestOfFiles,
  mebibyte,
  sha256Of,
  type DirectorySpec,
  type FileSpec
} from '../src/content.ts'
import { startKubo, type KuboNode } from '../src/kubo.ts'
import { addDirectory, addFile } from '../src/ours-content.ts'
import { readingOf } from '../src/reading.ts'

const archiveMs = 120_000

function memory(): BlockSource & BlockSink {
  const store = new MemoryBlockstore()
  return { ...blockSourceOf(store), ...blockSinkOf(store) }
}

async function readTree(source: BlockSource, root: string): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>()
  for await (const entry of tree(source, root)) {
    if (entry.content !== undefined) files.set(entry.path, Buffer.concat(await Array.fromAsync(entry.content())))
  }
  return files
}

const file: FileSpec = { bytes: 20 * mebibyte, seed: 1, cidVersion: 1, rawLeaves: true }
const oldFile: FileSpec = { bytes: mebibyte, seed: 2, cidVersion: 0, rawLeaves: false }
const directory: DirectorySpec = { names: 'plain', count: 1_000 }
const sharded: DirectorySpec = { names: 'plain', count: 6_000 }

describe.runIf(kuboAvailable(import.meta.filename))('archives between Kubo and ours', () => {
  let kubo: KuboNode
  beforeAll(async () => {
    kubo = await startKubo()
  }, kuboBuildMs)
  afterAll(async () => {
    await kubo.stop()
  })

  /** Kubo's export into a store of ours; its bytes must be what we would export. */
  async function takeExport(root: string): Promise<BlockSource> {
    const store = memory()
    const car = await kubo.run(['dag', 'export', root])
    const result = await importCar([car], store)
    expect(result.roots.map(String)).toEqual([root])
    expect(result.missingRoots).toEqual([])
    const ours = await Array.fromAsync(exportCar(store, CID.parse(root)))
    expect(sha256Of(ours)).toBe(sha256Of([car]))
    return store
  }

  test.for([file, oldFile])('Kubo exports, ours imports: a file, CIDv$cidVersion', { timeout: archiveMs }, async (spec) => {
    const root = await kubo.addFile(spec)
    const store = await takeExport(root)
    expect((await readingOf(cat(store, root))).sha256).toBe(sha256Of(contentOf(spec)))
  })

  test.for([directory, sharded])('Kubo exports, ours imports: a directory of $count names', { timeout: archiveMs }, async (spec) => {
    const root = await kubo.addDirectory(spec)
    const store = await takeExport(root)
    expect(digestOfFiles(await readTree(store, root))).toBe(expectedDigestOfFiles(spec))
  })

  test('Kubo exports, ours imports: a tree of dag-cbor', async () => {
    const blocks = await cborBlocks()
    for (const { cid, bytes } of blocks) await kubo.putBlock(cid.toString(), bytes)
    const store = await takeExport(String(blocks.at(-1)?.cid))
    for (const { cid, bytes } of blocks) expect(Buffer.compare(await store.get(cid), bytes)).toBe(0)
  })

  test.for([
    { ...file, seed: 11 },
    { ...oldFile, seed: 12 }
  ])('ours exports, Kubo imports: a file, CIDv$cidVersion', { timeout: archiveMs }, async (spec) => {
    const store = memory()
    const root = await addFile(spec, store)
    await kubo.run(['dag', 'import'], exportCar(store, CID.parse(root)))
    expect((await kubo.readFile(root)).sha256).toBe(sha256Of(contentOf(spec)))
  })

  test('ours exports, Kubo imports: a sharded directory', { timeout: archiveMs }, async () => {
    const spec: DirectorySpec = { names: 'odd', count: 6_001 }
    const store = memory()
    const root = await addDirectory(spec, store)
    await kubo.run(['dag', 'import'], exportCar(store, CID.parse(root)))
    expect(await kubo.readDirectory(root)).toMatchObject({ names: spec.count, sha256: expectedDigestOfFiles(spec) })
  })
})
