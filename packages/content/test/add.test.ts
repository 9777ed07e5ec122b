import { CID } from '@shardswap/interface'
import * as dagPb from '@ipld/dag-pb'
import { describe, expect, it } from 'vitest'
import { add, type AddOptions, type AddSource, type UnixTime, cat, ls, tree } from '../src/index.ts'
import { bytesOf, collect, errorOf, keyStream, loadCar, MemoryBlocks } from './setup.ts'

function text(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** The CIDs of what is added, by path. */
async function cidsOf(sources: Iterable<AddSource>, options?: AddOptions): Promise<Record<string, string>> {
  const added = await collect(add(sources, new MemoryBlocks(), options))
  return Object.fromEntries(added.map(({ path, cid }) => [path, cid.toString()]))
}

/** `file-0.txt` to `file-N.txt`, each holding its number in decimal. */
function* numbered(count: number): Generator<AddSource> {
  for (let i = 0; i < count; i++) yield { path: `dir/file-${i}.txt`, content: text(String(i)) }
}

/** 1,000 empty files whose names and CIDs together take `262144 + extra` bytes. */
function* aroundTheBound(extra: number): Generator<AddSource> {
  for (let i = 0; i < 1000; i++) {
    const length = 228 + (i < 144 ? 1 : 0) + (i === 999 ? extra : 0)
    yield { path: `dir/${String(i).padStart(length, 'n')}`, content: new Uint8Array(0) }
  }
}

describe('directories have the CIDs that Kubo 0.42 gives', () => {
  // ipfs add -n -Q -r [--cid-version=1] [--hash=blake3] dir
  it.each([
    ['1,000 names', [...numbered(1000)], {}, 'QmXGjmYbQs2cYhtLHbxAqxxWnejvZ4hQ374iimmgvFwZPp'],
    ['1,000 names, v1', [...numbered(1000)], { cidVersion: 1 }, 'bafybeifb3jxcgjuuiu4nzdrgmyxg4jzvnnlalc4mbkrvldmnd5uwkyqpzm'],
    ['1,000 names, blake3', [...numbered(1000)], { hash: 'blake3' }, 'bafyb4iaus7t6bggltgysp54c4n7j3qn7agpcsppjm6rlfxkdwnpsfix22a'],
    ['20,000 names', [...numbered(20_000)], {}, 'QmWHXPXgG6w1A2LAgV3qyxkneWrQd2aoyuQSsTYJng1WQt'],
    ['20,000 names, v1', [...numbered(20_000)], { cidVersion: 1 }, 'bafybeidtkfl6siudo7y4lzdt2ktdbd6i77fkvik32bss5myubzzj3rljrq'],
    ['names and CIDs of exactly 256 KiB', [...aroundTheBound(0)], {}, 'QmbcdZYBUisgwucZw2b7gxRLRzT9NmitfJ2NSK3JD7q4eW'],
    ['names and CIDs of 256 KiB and a byte', [...aroundTheBound(1)], {}, 'QmTBSDWSJ9bV8a45EbpPBSdT2kq4mqUoKFfRMV6td5DK73'],
    [
      '5,000 empty directories',
      Array.from({ length: 5000 }, (_, i) => ({ path: `dir/folder-number-${i}` })),
      {},
      'QmcQqt8mcmHSLaEnxuMfLBTEU4RZD5YWBFcXWtz428si1p'
    ]
  ] as [string, AddSource[], AddOptions, string][])('%s', async (_, sources, options, root) => {
    expect((await cidsOf(sources, options))['dir']).toBe(root)
  })

  it('the directory of an archive, from what is in it', async () => {
    const sources: AddSource[] = []
    for await (const entry of tree(await loadCar('dir.car'), 'bafybeiaasiumvcklrndldw6tmi6szaqx3dab4zuhbr73ilrlbywosveicq')) {
      const content = entry.content === undefined ? {} : { content: await bytesOf(entry.content()) }
      const symlink = entry.symlinkTarget === undefined ? {} : { symlinkTarget: entry.symlinkTarget }
      sources.push({ path: entry.path === '' ? 'root' : `root/${entry.path}`, ...content, ...symlink })
    }
    const cids = await cidsOf(sources, { cidVersion: 1, chunker: 'size-16384' })
    expect(cids['root']).toBe('bafybeiaasiumvcklrndldw6tmi6szaqx3dab4zuhbr73ilrlbywosveicq')
  })
})

describe('files have the CIDs that Kubo 0.42 gives', () => {
  // openssl enc -aes-128-ctr -K 0…0 -iv 0…0 -in /dev/zero | head -c 3000000 > f; ipfs add -n -Q [options] f
  it.each([
    [{ chunker: 'size-512', trickle: true }, 'QmZtynUoxvEpi7NQqALugjp2vXQpCb6yFSGwzLbE2p1zwY'],
    [{ chunker: 'size-512' }, 'Qme3PDXFFGerdFp2drdQVzw3pprmZxPmWWngdXhq36xXL9'],
    [{ chunker: 'size-96', trickle: true, cidVersion: 1 }, 'bafybeigtroren22ycgacs3dic32q3auljw7257lghdzjlxk4ookrfkd7wq'],
    [{ chunker: 'size-64' }, 'QmcojAAphr3hMMSu3cCyab3mQZZZ8kAgHnE9w7WBDjhcz4'],
    [{ chunker: 'size-64', rawLeaves: true }, 'QmciqkFHBXy73DhVH5zuPpcB3fBpubakMihKMyAUdctasV']
  ] as [AddOptions, string][])('3,000,000 bytes with %o', async (options, root) => {
    expect((await cidsOf([{ path: 'f', content: keyStream(3_000_000) }], options))['f']).toBe(root)
  })

  // printf x | ipfs add -n -Q -t [--cid-version=1]; printf '' | …
  it.each([
    ['x', 0, 'QmRk1rz6JkatqRNAPhKJtcVpiSiEQyBZUEnAYUfnC8mzbJ'],
    ['', 0, 'QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH'],
    ['', 1, 'bafybeif7ztnhq65lumvvtr4ekcwd2ifwgm3awq4zfr3srh462rwyinlb4y'],
    ['x', 1, 'bafybeifllvoksoremiq4fdx7qmaihxzt25pvyfl4xwh7c5kuw3rgamgm3a']
  ] as const)('a trickle of "%s", CID version %i', async (content, cidVersion, root) => {
    expect((await cidsOf([{ path: 'f', content: text(content) }], { cidVersion, trickle: true }))['f']).toBe(root)
  })

  it('is the same however the bytes come in', async () => {
    const whole = keyStream(100_000)
    const parts = Array.from({ length: 100_000 / 40 }, (_, i) => whole.subarray(i * 40, i * 40 + 40))
    const options = { chunker: 'size-1000' }
    const lone = await cidsOf([{ path: 'f', content: whole }], options)
    expect(await cidsOf([{ path: 'f', content: parts }], options)).toEqual(lone)
    expect(await cidsOf([{ path: 'f', content: [new Uint8Array(0), whole, new Uint8Array(0)] }], options)).toEqual(lone)
  })
})

function at(secs: bigint, nsecs?: number): UnixTime {
  return nsecs === undefined ? { secs } : { secs, nsecs }
}

function omit(source: AddSource, key: 'mode' | 'mtime'): AddSource {
  return Object.fromEntries(Object.entries(source).filter(([name]) => name !== key)) as unknown as AddSource
}

async function* torn(): AsyncGenerator<Uint8Array> {
  yield text('a')
  throw new Error('torn')
}

describe('[F58] mode and modification time as Kubo keeps them', () => {
  const zeros = new Uint8Array(600_000)
  const whole: AddSource[] = [
    { path: 'm', mode: 0o755, mtime: at(5n) },
    { path: 'm/big', content: zeros, mode: 0o4755, mtime: at(-6n, 750_000_000) },
    { path: 'm/empty', content: [], mode: 0o755, mtime: at(1_000_000_000n, 500_000_000) },
    { path: 'm/link', symlinkTarget: 'one', mode: 0o777, mtime: at(77n, 1) },
    { path: 'm/one', content: text('a'), mode: 0o755, mtime: at(1_000_000_000n, 500_000_000) },
    { path: 'm/sub', mode: 0o700, mtime: at(3n) }
  ]
  const modes = whole.map((source) => omit(source, 'mtime'))
  const times = whole.map((source) => omit(source, 'mode'))

  // ipfs add --pin=false -r --preserve-mode m
  it('mode alone', async () => {
    expect(await cidsOf(modes)).toMatchObject({
      'm/big': 'QmSU39nj6Ya656z3rveaTJwzkvt7kMjBkzyv17SsBqEHps',
      'm/empty': 'QmeQ5wQXFNbiVjEwaKqbHdtHksDJ5GLa3koN7Q7j1bnaSb',
      'm/link': 'QmbFwwKYBgE5GisEfQ8gevJLykoKcncdkR1C8znQ2Z7Zh6',
      'm/one': 'QmPf1HQawajHGRgzBWkLCtJHF4mNu1XG5PNpqhjwuYgZwy',
      'm/sub': 'QmaCBXs5F3zw82K2RM82EMYKPSdYkbkUdJt1szFtjF2bKr',
      m: 'QmVEenvRKVZRdrjwvehvk5AdWYs1LAdjDzFoEGSuy1sPvL'
    })
  })

  // ipfs add --pin=false -r --preserve-mtime m
  it('time alone', async () => {
    expect(await cidsOf(times)).toMatchObject({
      'm/big': 'QmYDG2sy8KXXa4m9jBZMyhBQJtQ74v1bNiJaCQLkmuheWp',
      'm/empty': 'QmPev45nCdRkqb2h91bQcZSn5Riame7Q449RnDvGwdijeL',
      'm/link': 'QmbZtpt2mkYJUNK3QVHaJz2ZiV15r3MV451JinQwQtPkVv',
      'm/one': 'QmezTuakYKhyE77Vzfw5ZZGMSLwn6dkvxDMDJYpdyXYYLV',
      'm/sub': 'Qmes9j6YEsrEKtvczecYRQ4zFkDhvKEP5JfiWnpVV8py6k',
      m: 'QmW7XCg2QjFrzmp3bRyv1NpKziZ1kTZ4dPTBmHKr5jYuw8'
    })
  })

  // ipfs add --pin=false -r --preserve-mode --preserve-mtime --cid-version=1 m
  it('both, where CID version 1 would give raw leaves', async () => {
    expect(await cidsOf(whole, { cidVersion: 1 })).toMatchObject({
      'm/big': 'bafybeiapopnxtfo47g3z7q2bjjwuzdchjawo6ps6htxglr6dlzi2y3uybq',
      'm/empty': 'bafybeihkjct6htqupvyr6n7kdaroalda23ynz6sptqwilszltxyqxsh4ey',
      'm/link': 'bafybeigerryulmiryue3qx6ypjcfmm2atwlqxbt5dkfwduq6xtkbsekete',
      'm/one': 'bafybeigoi2nd7nwwutnqrijq5ug3xszkw4duk5kguiecik2ejrygnqelru',
      'm/sub': 'bafybeighmn53yqpmkopeiez4emybzb3bsuhaouwqrbvdjz6kd6hzwfvgha',
      m: 'bafybeihxyjlqx3uf3pcytza5eo3k4jo2qengobvzspjhcycqewhc4tk7kq'
    })
  })

  // ipfs add -n -Q --preserve-mode -t m/big
  it('in a trickle', async () => {
    const cids = await cidsOf(modes, { trickle: true })
    expect(cids).toMatchObject({
      'm/big': 'QmcrgQBe1vAttmmsPZgspDAh7u1tZkGBjzQmC5xSChDoUQ',
      'm/one': 'QmSKu7q3WRksG1q2fRj2sL4ze8qPYYALVmvWNxKehLQgGa',
      'm/empty': 'QmeQ5wQXFNbiVjEwaKqbHdtHksDJ5GLa3koN7Q7j1bnaSb'
    })
  })

  it('reads them again from an archive of Kubo', async () => {
    const entries = await collect(tree(await loadCar('dir-mode-mtime.car'), 'bafybeiblrmx46enmqanupqp3cl372ekksxlvzn4fxsgqlgz3isfjvdfi3i'))
    const byPath = Object.fromEntries(entries.map((entry) => [entry.path, entry]))
    expect(byPath['hello.txt']).toMatchObject({ mode: 0o400, mtime: { secs: 981_173_106n, nsecs: 789_000_000 } })
    expect(byPath['sub']).toMatchObject({ mode: 0o750, mtime: { secs: 2_208_988_800n } })
    expect(byPath['sub/data.bin']?.mtime).toEqual({ secs: -2n })
  })

  it('refuses raw leaves that were asked for, as Kubo does', async () => {
    const error = await errorOf(cidsOf([{ path: 'f', content: text('a'), mode: 0o644 }], { rawLeaves: true }))
    expect(error.name).toBe('InvalidParametersError')
  })
})

describe('what add takes', () => {
  it('names a file without a path by its CID', async () => {
    expect(await cidsOf([{ path: '', content: text('abc') }])).toHaveProperty('QmQpeUrxtQE5N2SVog1ZCxd7c7RN4fBNQu5aLwkk5RY9ER')
  })

  it('wraps in a directory', async () => {
    const blocks = new MemoryBlocks()
    // printf abc | ipfs add -n -w
    const added = await collect(add([{ path: '', content: text('abc') }], blocks, { wrapWithDirectory: true }))
    const root = added.at(-1)?.cid.toString() ?? ''
    expect(added.at(-1)?.path).toBe('')
    expect(root).toBe('QmQ9DwXSaJVVm4HvxJEcDHyaKyVGddsapCzk826R1W5uqL')
    expect((await collect(ls(blocks, root))).map((entry) => entry.name)).toEqual([added[0]?.path])
    expect(await bytesOf(cat(blocks, `${root}/${added[0]?.path}`))).toEqual(Buffer.from('abc'))
  })

  it('gives each first name a root of its own, the root after what is in it', async () => {
    const sources = ['a/x', 'b', 'a/y/z'].map((path) => ({ path, content: text(path) }))
    expect(Object.keys(await cidsOf(sources))).toEqual(['a/x', 'b', 'a/y/z', 'a/y', 'a'])
  })

  it('states cumulative sizes', async () => {
    const blocks = new MemoryBlocks()
    const added = await collect(add([...numbered(10)], blocks))
    const stored = [...blocks.blocks.values()].reduce((sum, bytes) => sum + bytes.byteLength, 0)
    expect(added.at(-1)?.size).toBe(BigInt(stored))
  })

  it.each([
    ['a path out of its root', [{ path: '../a', content: text('a') }], {}],
    ['an empty name', [{ path: 'a//b', content: text('a') }], {}],
    [
      'two things of one name',
      [
        { path: 'a', content: text('a') },
        { path: 'a', content: text('b') }
      ],
      {}
    ],
    [
      'a file that is a directory too',
      [
        { path: 'a', content: text('a') },
        { path: 'a/b', content: text('b') }
      ],
      {}
    ],
    ['an unknown hash', [], { hash: 'md4' }],
    ['an unknown chunker', [], { chunker: 'rabin' }],
    ['a chunk of nothing', [], { chunker: 'size-0' }],
    ['a chunk beyond any block', [], { chunker: 'size-4194304' }],
    ['version 0 with another hash', [], { cidVersion: 0, hash: 'sha2-512' }]
  ] as [string, AddSource[], AddOptions][])('refuses %s', async (_, sources, options) => {
    expect((await errorOf(cidsOf(sources, options))).name).toBe('InvalidParametersError')
  })

  it('ends with the error of the sink, and with that of the content', async () => {
    const full = {
      put: async (): Promise<void> => {
        throw new Error('disk full')
      }
    }
    expect((await errorOf(collect(add(numbered(10), full)))).message).toBe('disk full')
    expect((await errorOf(cidsOf([{ path: 'a', content: torn() }]))).message).toBe('torn')
  })

  it('stops when the signal says so, and tells progress until then', async () => {
    const abort = new AbortController()
    let seen = 0
    const onProgress = (bytes: number): void => {
      seen = bytes
      if (bytes >= 1_000_000) abort.abort()
    }
    const content = Array.from({ length: 100 }, () => new Uint8Array(100_000))
    const error = await errorOf(cidsOf([{ path: 'f', content }], { signal: abort.signal, onProgress }))
    expect(error.name).toBe('AbortError')
    expect(seen).toBeLessThan(2_000_000)
  })

  it('writes the children of a directory in the order of their names', async () => {
    const blocks = new MemoryBlocks()
    const added = await collect(
      add(
        ['b', 'a', 'C'].map((name) => ({ path: `d/${name}`, content: text(name) })),
        blocks
      )
    )
    const root = CID.parse(added.at(-1)?.cid.toString() ?? '')
    expect(dagPb.decode(await blocks.get(root)).Links.map((link) => link.Name)).toEqual(['C', 'a', 'b'])
  })
})

it('a tree of more entries than are held is refused, directories count, and as many as that are taken', async () => {
  const sources = ['a/b/one', 'a/b/two', 'c'].map((path) => ({ path, content: text(path) }))
  expect(Object.keys(await cidsOf(sources, { treeEntriesMax: 5 }))).toContain('a/b/two')
  expect(await errorOf(cidsOf(sources, { treeEntriesMax: 4 }))).toMatchObject({ name: 'TooLargeError', code: 'ERR_TOO_LARGE' })
})
