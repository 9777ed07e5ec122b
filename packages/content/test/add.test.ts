import { describe, expect, it } from 'vitest'
import { add, type AddOptions, type AddSource, cat, ls } from '../src/index.ts'
import { bytesOf, collect, MemoryBlocks } from './setup.ts'

/** The root of what is added. */
async function rootOf(sources: Iterable<AddSource>, options?: AddOptions): Promise<string> {
  return (await collect(add(sources, new MemoryBlocks(), options))).at(-1)?.cid.toString() ?? ''
}

/** `file-0.txt` to `file-N.txt`, each holding its number in decimal. */
function* numbered(count: number): Generator<AddSource> {
  for (let i = 0; i < count; i++) yield { path: `dir/file-${i}.txt`, content: new TextEncoder().encode(String(i)) }
}

describe('directories have the CIDs that Kubo 0.42 gives', () => {
  // ipfs add -n -Q -r [--cid-version=1] dir
  it.each([
    [1000, 0, 'QmXGjmYbQs2cYhtLHbxAqxxWnejvZ4hQ374iimmgvFwZPp'],
    [1000, 1, 'bafybeifb3jxcgjuuiu4nzdrgmyxg4jzvnnlalc4mbkrvldmnd5uwkyqpzm'],
    [20_000, 0, 'QmWHXPXgG6w1A2LAgV3qyxkneWrQd2aoyuQSsTYJng1WQt'],
    [20_000, 1, 'bafybeidtkfl6siudo7y4lzdt2ktdbd6i77fkvik32bss5myubzzj3rljrq']
  ] as const)('%i names, CID version %i', async (count, cidVersion, root) => {
    expect(await rootOf(numbered(count), { cidVersion })).toBe(root)
  })
})

describe('what add takes', () => {
  it('names a file without a path by its CID', async () => {
    const [added] = await collect(add([{ path: '', content: new TextEncoder().encode('abc') }], new MemoryBlocks()))
    expect(added?.path).toBe('QmQpeUrxtQE5N2SVog1ZCxd7c7RN4fBNQu5aLwkk5RY9ER')
  })

  it('wraps in a directory', async () => {
    const blocks = new MemoryBlocks()
    // printf abc | ipfs add -n -w
    const added = await collect(add([{ path: '', content: new TextEncoder().encode('abc') }], blocks, { wrapWithDirectory: true }))
    expect(added.at(-1)).toMatchObject({ path: '' })
    expect(added.at(-1)?.cid.toString()).toBe('QmQ9DwXSaJVVm4HvxJEcDHyaKyVGddsapCzk826R1W5uqL')
    expect((await collect(ls(blocks, added.at(-1)?.cid.toString() ?? ''))).map((entry) => entry.name)).toEqual([added[0]?.path])
    expect(await bytesOf(cat(blocks, `${added.at(-1)?.cid.toString()}/${added[0]?.path}`))).toEqual(Buffer.from('abc'))
  })
})
