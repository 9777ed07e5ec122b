import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { plainFlags } from '../src/flags.ts'
import { folder, newRepo, ok, run } from './command.ts'

test('what is added is pinned, blocks of pins are not removed, and a collection takes the rest, in the words of Kubo', async () => {
  const repo = await newRepo()
  const cwd = await folder()
  await mkdir(join(cwd, 'tree'))
  await writeFile(join(cwd, 'tree/one'), 'one')
  await writeFile(join(cwd, 'tree/two'), 'two '.repeat(1000))
  const root = await ok(['add', '-r', '-Q', '--pin-name', 'my tree', '--chunker', 'size-1000', 'tree'], { repo, cwd })
  const loose = await ok(['add', '-Q', '--pin=false', '--cid-version=1'], { repo, stdin: 'loose' })
  const shown = (await ok(['pin', 'ls', '--names'], { repo })).split('\n')
  expect(shown[0]).toBe(`${root} recursive my tree`)
  const inner = shown.filter((line) => line.endsWith(' indirect')).map((line) => line.split(' ')[0] ?? '')
  // Two files, and the chunk of which one of them has several.
  expect(inner).toHaveLength(3)
  expect((await run(['block', 'rm', inner[0] ?? '', root], { repo })).stderr).toBe(
    `Error: cannot remove ${inner[0] ?? ''}: pinned via ${root}\nError: cannot remove ${root}: pinned: recursive\n`
  )
  expect(await ok(['repo', 'gc'], { repo })).toBe(`removed ${loose}`)
  expect(await ok(['pin', 'rm', root], { repo })).toBe(`unpinned ${root}`)
  const failed = await run(['pin', 'ls', root], { repo })
  expect([failed.code, failed.stderr]).toEqual([1, `Error: PinError: path '${root}' is not pinned\n`])
  expect(await ok(['pin', 'add', '-r=false', root], { repo })).toBe(`pinned ${root} directly`)
  expect((await ok(['repo', 'gc', '-q'], { repo })).split('\n').toSorted()).toEqual(await rawOf(inner))
  expect(await ok(['pin', 'ls', '-q'], { repo })).toBe(root)
})

/** As a collection names blocks: by their multihash alone. */
async function rawOf(cids: readonly string[]): Promise<string[]> {
  const { CID } = await import('@shardswap/interface')
  return cids.map((text) => CID.createV1(0x55, CID.parse(text).multihash).toString()).toSorted()
}

test('flags with a value are flags without, and those that are on unless something else is said are turned off', () => {
  expect(plainFlags(['pin', 'add', '-r=false', '--progress=true', '--name=r=false'])).toEqual([
    'pin',
    'add',
    '--no-recursive',
    '--progress',
    '--name=r=false'
  ])
  expect(plainFlags(['add', '--pin=false', '--trickle=false', '--', '--pin=false'])).toEqual(['add', '--no-pin', '--', '--pin=false'])
})
