import { CID, type BlockSource } from '@shardswap/interface'
import { exporter, recursive } from 'ipfs-unixfs-exporter'
import { describe, expect, it } from 'vitest'
import { cat, tree } from '../src/index.ts'
import { bytesOf, collect, fixtureLines, loadCar, sha256 } from './setup.ts'

/** Ours as the store that the library reads from. */
function storeOf(source: BlockSource): Parameters<typeof exporter>[1] {
  return {
    async *get(cid) {
      // The library asks its store for the children that are within their CIDs.
      yield cid.multihash.code === 0 ? cid.multihash.digest : await source.get(CID.decode(cid.bytes))
    }
  }
}

const lines = fixtureLines()
const files = lines.filter(({ sha256, path }) => sha256 !== '-' && path === '-')
const folders = [...new Map(lines.filter(({ car }) => car.startsWith('dir')).map((line) => [line.car, line])).values()]

describe('ours reads as ipfs-unixfs-exporter does', () => {
  it.each(files)('$car, whole and in ranges', async ({ car, root }) => {
    const source = await loadCar(car)
    const entry = await exporter(CID.parse(root), storeOf(source))
    if (!('content' in entry)) throw new Error('a file has content')
    const whole = await bytesOf(entry.content())
    expect(sha256(await bytesOf(cat(source, root)))).toBe(sha256(whole))
    for (const offset of [0, 1, 4095, 4096, 5000].filter((offset) => offset < whole.byteLength)) {
      const length = Math.min(10_000, whole.byteLength - offset)
      expect(sha256(await bytesOf(cat(source, root, { offset, length })))).toBe(sha256(await bytesOf(entry.content({ offset, length }))))
    }
  })

  it.each(folders)('$car, every entry of it', async ({ car, root }) => {
    const source = await loadCar(car)
    const theirs = await collect(recursive(CID.parse(root), storeOf(source)))
    const ours = await collect(tree(source, root))
    expect(ours.map(({ path, cid }) => [path, cid.toString()])).toEqual(
      theirs.map(({ path, cid }) => [path === root ? '' : path.slice(root.length + 1), cid.toString()])
    )
  })
})
