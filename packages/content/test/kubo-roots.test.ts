import * as dagPb from '@ipld/dag-pb'
import { Node } from 'ipfs-unixfs'
import { describe, expect, it } from 'vitest'
import { add, type AddOptions, type AddSource, tree } from '../src/index.ts'
import { encodeData } from '../src/write/data.ts'
import { collect, fixtureLines, loadCar, MemoryBlocks } from './setup.ts'

/** What is added, the blocks of it, and the root. */
async function addAll(sources: Iterable<AddSource>, options?: AddOptions): Promise<{ root: string; size: bigint; blocks: MemoryBlocks }> {
  const blocks = new MemoryBlocks()
  const root = (await collect(add(sources, blocks, options))).at(-1)
  return { root: root?.cid.toString() ?? '', size: root?.size ?? 0n, blocks }
}

function textFile(path: string, text: string, attributes: Pick<AddSource, 'mode' | 'mtime'> = {}): AddSource {
  return { path, content: new TextEncoder().encode(text), ...attributes }
}

/** The numbers from 0 on, in four bytes each, the greatest first. */
function counter(count: number): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(count * 4))
  for (let i = 0; i < count; i++) bytes.setUint32(i * 4, i)
  return new Uint8Array(bytes.buffer)
}

/** Each root here is what `ipfs add -n -Q` of Kubo 0.42 printed for the same bytes and options. */
describe('files have the CIDs that Kubo gives', () => {
  it.each([
    [0, {}, 'bafybeif7ztnhq65lumvvtr4ekcwd2ifwgm3awq4zfr3srh462rwyinlb4y'],
    [1, {}, 'bafybeic3soyc53fhdgsmu667vuyutfh3ubumwaccz2dv2wilpmscdyjl6i'],
    [871, {}, 'bafybeihyn73etbo3lcpbts5i6su5fhh4yxwrlj63sq5yapoyhmhjbjgdpq'],
    [5220, {}, 'bafybeifq77as2b5fo53yokzro6nps7b6c4ejpz5bqhqltjospu7kp7dskq'],
    [21_933, {}, 'bafybeifh64nwvdkn4rfrwsbjocp5bvxl7ws75purp7brbpybdmxzu3nbpi'],
    [
      21_933,
      { hash: 'sha2-512' },
      'bafybgqdgn3lfnepxfqgczs2wc5eri3zvqm45drtssdgtxseef5gkf3sdzgj46yns6vqm4mshvv76vfhid7yylq6gymtxtt37alxmlhee5aay2'
    ]
  ] as const)('a trickle of %i leaves with %o', async (leaves, options, expected) => {
    const trickle = { cidVersion: 1, trickle: true, chunker: 'size-4', ...options } as const
    expect((await addAll([{ path: 'f', content: counter(leaves) }], trickle)).root).toBe(expected)
  })

  it.each([
    [
      { hash: 'sha2-512' },
      'bafybgqamss6273funzctlep6ilm5sgtdgz6oxw372d6yexxtdwkq6kqou2sb7msgdnh5szarjdcvm3djvakhhnlzhyvuuresqanly6tvaf6xi'
    ],
    [{ hash: 'blake3', trickle: true }, 'bafyb4ihkyazp263qsu4d2xbwzqtxl3ycqccy4sikqaijldzr5rtbzkznda'],
    [{ hash: 'sha3-256', rawLeaves: false }, 'bafybmib4lngbzka6zepzakvd7ueawsmytmio32z6bin4qd6c77wqmdypvy']
  ] as const)('the same block in many places, with %o', async (options, expected) => {
    const { root, size, blocks } = await addAll([{ path: 'f', content: new Uint8Array(2_000_000) }], { chunker: 'size-1024', ...options })
    expect(root).toBe(expected)
    expect(size).toBeGreaterThan(2_000_000n)
    expect(blocks.blocks.size).toBeLessThan(20)
  })
})

describe('numbers of 32 bits, which the library writes wrong', () => {
  it.each([
    0n,
    127n,
    128n,
    2n ** 31n - 1n,
    2n ** 31n,
    2_208_988_800n,
    2n ** 32n - 1n,
    2n ** 32n,
    2n ** 53n - 1n,
    -2n,
    -(2n ** 31n),
    -(2n ** 33n)
  ])('%i is read as it was written', (number) => {
    const size = number < 0n ? -number : number
    const data = { type: 'FILE', blockSizes: [size, 1n], fileSize: size, mtime: { seconds: number, fractionalNanoseconds: 7 } }
    const node = dagPb.encode({ Data: encodeData(data), Links: [] })
    expect(Node.decode(node).data).toMatchObject(data)
  })

  it('a file of more than 2 GiB', { timeout: 300_000 }, async () => {
    const part = new Uint8Array(2_096_896)
    const content = (function* () {
      for (let i = 0; i < 1100; i++) yield part
    })()
    const { root } = await addAll([{ path: 'f', content }], { cidVersion: 1, chunker: 'size-2096896' })
    expect(root).toBe('bafybeibvejqqd6jmptko4kbae7y2dv45obifhwt6f2pxfeprvgefanz3ba')
  })
})

const mtime = { secs: 981_173_106n, nsecs: 789_000_000 }

describe('[F58] mode and time have the CIDs that Kubo gives', () => {
  it.each([
    ['mode', { mode: 0o644 }, {}, 'QmTqMooMw7ghut46iX4E8FbDTyPd5RxRPGwQrS2jSkyJRv'],
    ['mode', { mode: 0o644 }, { cidVersion: 1 }, 'bafybeicruuvmrza774bmow6nhumlm6me5ufhar3ju4wwqcgu2qtyddcmde'],
    ['mode and time', { mode: 0o644, mtime }, {}, 'QmXr2cQ4VTbqDzDB8j5iaXqZt1yaKwckaGMhVRVU7THRyv'],
    ['mode and time', { mode: 0o644, mtime }, { cidVersion: 1 }, 'bafybeienh7fd2u2ek2tbd5utahdfmpzqspk6tsxsor6gyuka4bjkzglo4u'],
    [
      'mode and time',
      { mode: 0o644, mtime },
      { hash: 'sha2-512' },
      'bafybgqgnkjxgccxm7mxtmxrabksdzzskgozblglfwmu536ypyeh72urlfka4htk6sai6jfmirzixwf2vhapzljjnteefc6q35tq6rzfzhcyng'
    ]
  ] as const)('a file of one block with %s and %o', async (_, attributes, options, expected) => {
    const { root, blocks } = await addAll([textFile('f', 'abc', attributes)], options)
    expect(root).toBe(expected)
    expect(blocks.blocks.size).toBe(1)
  })

  it('an empty file with a mode', async () => {
    expect((await addAll([textFile('f', '', { mode: 0o644 })])).root).toBe('QmVbxMPBZnYu7HqqMp9sHQqbY3tBvp5LhaXXmyiYxB2k2f')
  })

  it.each([
    [{}, 'QmVpWHdwY47nQGmCAN9inr9h42FP4GFyk5fTgUaQXvNJN7'],
    [{ cidVersion: 1 }, 'bafybeiaqlfsjogspgolr7ismgbvswbcma2b6fqos2dch3wlvobjsf23mxq'],
    [
      { hash: 'sha2-512', trickle: true },
      'bafybgqgcocvv3o5sphcvle7og4rsdjlogskjo3gwwg7kvdunfvzpfix23676fqznwqu4dmvl2k3oguzsthnjk2nkikeip2fszhg36prljjid2'
    ]
  ] as const)('a file of many blocks with a mode and %o', async (options, expected) => {
    const source = { path: 'f', content: new Uint8Array(60_000), mode: 0o600 }
    expect((await addAll([source], { chunker: 'size-4096', ...options })).root).toBe(expected)
  })

  it('a directory named before what is in it, and after', async () => {
    const folder = { path: 'd', mode: 0o755, mtime }
    const file = textFile('d/a', 'x', { mode: 0o644, mtime: { secs: 1_795_998_840n, nsecs: 535_676_242 } })
    const roots = [(await addAll([folder, file])).root, (await addAll([file, folder])).root]
    expect(roots).toEqual(Array(2).fill('QmXfBvp2rJSic3SoEYQka1aAEwCPAU8KocWzxPbdt1P3rB'))
  })

  it('what was read of dir-mode-mtime.car', async () => {
    const root = fixtureLines().find((line) => line.car === 'dir-mode-mtime.car')?.root ?? ''
    const sources: AddSource[] = []
    for await (const entry of tree(await loadCar('dir-mode-mtime.car'), root)) {
      const { mode, mtime, symlinkTarget } = entry
      const what = entry.content !== undefined ? { content: entry.content() } : symlinkTarget !== undefined ? { symlinkTarget } : {}
      const when = { ...(mode === undefined ? {} : { mode }), ...(mtime === undefined ? {} : { mtime }) }
      sources.push({ path: entry.path === '' ? 'd' : `d/${entry.path}`, ...what, ...when })
    }
    expect((await addAll(sources, { cidVersion: 1, chunker: 'size-16384' })).root).toBe(root)
  })
})

function* numbered(count: number, mode?: number): Generator<AddSource> {
  if (mode !== undefined) yield { path: 'dir', mode: mode | 0o111 }
  for (let i = 0; i < count; i++) yield textFile(`dir/file-${i}.txt`, String(i), mode === undefined ? {} : { mode })
}

describe('directories have the CIDs that Kubo gives', () => {
  it.each([
    [0, 'QmPdJJfRg7BV1b1SrsFbm4ZbKUoy81MWjPqKFzGuPzuAYp'],
    [1, 'bafybeig36tukgqyqt5toveg5vggbdf3bosi3odkm2j2gkqxonokhuhy7yu']
  ] as const)('6,000 directories in one that is sharded for them, CID version %i', async (cidVersion, expected) => {
    const sources = Array.from({ length: 6000 }, (_, i) => textFile(`subs/directory-${String(i).padStart(5, '0')}/f`, 'x'))
    expect((await addAll(sources, { cidVersion })).root).toBe(expected)
  })

  it.each([
    [undefined, { cidVersion: 1 }, 'bafybeiggzgs4zodwsao7bxwp2u3nrk5neweq4rl55iaszjj66oilpltbxa'],
    [
      undefined,
      { hash: 'sha2-512' },
      'bafybgqe6uxnd55swgwwv6ew6tzfk7zo6gee2cn5s3vvflcizzpjabmryul75ecnclqdxzm35l3w7hon6lbiyio5hymfdkciqoe2k62pmdlwe6'
    ],
    [
      0o644,
      { hash: 'sha2-512' },
      'bafybgqewh5h3nu6ayeaz6cofjykqxekndmsxnma76fnbyefpwu4nzdmzdmnybeoe7iu4ipgd7d7icylescg4d2xcllujoj6s4kjigc4igsu7a'
    ]
  ] as const)('4,000 names of mode %s with %o', async (mode, options, expected) => {
    expect((await addAll(numbered(4000, mode), options)).root).toBe(expected)
  })

  it('names that end in a backslash', async () => {
    expect((await addAll([textFile('bs/a\\/b', 'x')])).root).toBe('QmexMZCmK2hf6ZsXQWZzEXsvr4mWyDpLnuTweMtRwNkE6B')
  })
})
