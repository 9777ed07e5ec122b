import { readFile } from 'node:fs/promises'
import { cat, exportCar, importCar, tree, type TreeEntry } from '@shardswap/content'
import { ShardswapError } from '@shardswap/interface'
import { createPeer, type Peer } from '@shardswap/peer'
import { CID } from 'multiformats/cid'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bytesOf, mebibyte, sha256Of } from '../src/content.ts'
import { fixtureRows, fixtureUrl, type FixtureRow } from '../src/fixtures.ts'
import { readingOf } from '../src/reading.ts'

/** How long the fetcher waits for what nobody has, in milliseconds. */
const giveUpMs = 2_000

const rows = await fixtureRows()
const whole = rows.filter(({ car }) => car !== '(none)' && !/^(bad|missing|no-root)-/.test(car))
const archives = [...new Map(whole.map((row) => [row.car, row])).values()]
const rowsOf = (start: string): FixtureRow[] => rows.filter(({ car }) => car.startsWith(start))

async function textOf(entry: TreeEntry | undefined): Promise<string> {
  return Buffer.concat(await Array.fromAsync(entry?.content?.() ?? [])).toString('utf8')
}

describe('archives that Kubo made, from one of our peers to another over TCP', () => {
  let provider: Peer
  let fetcher: Peer
  beforeEach(async () => {
    provider = await createPeer()
    fetcher = await createPeer({ listen: [], limits: { giveUpMs } })
    await fetcher.connect(provider.addresses()[0] ?? '')
  })
  afterEach(async () => {
    await fetcher.stop()
    await provider.stop()
  })

  async function load(car: string): Promise<number> {
    return (await importCar([await readFile(fixtureUrl(car))], provider)).blocks
  }

  async function entriesOf(root: string): Promise<Map<string, TreeEntry>> {
    return new Map((await Array.fromAsync(tree(fetcher, root))).map((entry) => [entry.path, entry]))
  }

  test.for(whole.filter(({ sha256 }) => sha256 !== '-'))('$car $path has its bytes', async ({ car, root, path, bytes, sha256 }) => {
    await load(car)
    expect(await readingOf(cat(fetcher, path === '-' ? root : `${root}/${path}`))).toMatchObject({ bytes: Number(bytes), sha256 })
  })

  test.for(archives)('$car arrives block for block', async ({ car, root }) => {
    await load(car)
    const there = await Array.fromAsync(exportCar(provider, CID.parse(root)))
    const here = await Array.fromAsync(exportCar(fetcher, CID.parse(root)))
    expect(sha256Of(here)).toBe(sha256Of(there))
  })

  test.for([
    { car: 'dir-hamt-16.car', count: 400, name: (index: number): string => `file-${index}.txt` },
    { car: 'dir-hamt-256.car', count: 1_500, name: (index: number): string => String(index) }
  ])('$car has $count names, each holding its number', async ({ car, count, name }) => {
    await load(car)
    const entries = await entriesOf(rowsOf(car)[0]?.root ?? '')
    const files = [...entries.values()].filter(({ type }) => type !== 'directory')
    expect(files).toHaveLength(count)
    for (let index = 1; index <= count; index++) expect(await textOf(entries.get(name(index)))).toBe(String(index))
  })

  test('dir.car has its symlinks and its empty directory', async () => {
    await load('dir.car')
    const entries = [...(await entriesOf(rowsOf('dir.car')[0]?.root ?? '')).values()]
    expect(entries.filter(({ type }) => type === 'symlink').map(({ symlinkTarget }) => symlinkTarget)).toContain('/etc/passwd')
    const parents = new Set(entries.map(({ path }) => path.split('/').slice(0, -1).join('/')))
    expect(entries.filter(({ type, path }) => type === 'directory' && !parents.has(path))).toHaveLength(1)
  })

  test('dir-mode-mtime.car has its modes and times', async () => {
    await load('dir-mode-mtime.car')
    const entries = await entriesOf(rowsOf('dir-mode-mtime.car')[0]?.root ?? '')
    const hello = BigInt(Date.UTC(2001, 1, 3, 4, 5, 6) / 1000)
    expect(entries.get('hello.txt')).toMatchObject({ mode: 0o400, mtime: { secs: hello, nsecs: 789_000_000 } })
    expect(entries.get('sub')).toMatchObject({ mode: 0o750, mtime: { secs: BigInt(Date.UTC(2040, 0, 1) / 1000) } })
    expect(entries.get('sub/data.bin')).toMatchObject({ mtime: { secs: -2n } })
  })

  test('the raw block of 2 MiB has its root', async () => {
    const cid = CID.parse(rowsOf('(none)')[0]?.root ?? '')
    const bytes = bytesOf(2 * mebibyte, 13)
    await provider.put(cid, bytes)
    expect(sha256Of([await fetcher.get(cid)])).toBe(sha256Of([bytes]))
  })

  test.for([
    { car: 'missing-block.car', blocks: 15 },
    { car: 'no-root-block.car', blocks: 15 }
  ])('$car is taken, and its file ends with an error', async ({ car, blocks }) => {
    expect(await load(car)).toBe(blocks)
    await expect(readingOf(cat(fetcher, rowsOf(car)[0]?.root ?? ''))).rejects.toMatchObject({ name: 'NotFoundError' })
  })

  test.for(rowsOf('bad-'))('$car is refused, and what it lacks is not served', async ({ car, root }) => {
    await expect(load(car)).rejects.toBeInstanceOf(ShardswapError)
    if (root === '-') return
    await expect(readingOf(cat(fetcher, root))).rejects.toMatchObject({ name: 'NotFoundError' })
  })
})
