import { CID } from '@shardswap/interface'
import { describe, expect, it } from 'vitest'
import { add, type AddOptions, cat, exportCar, importCar, ls } from '../src/index.ts'
import { bytesOf, collect, errorOf, fixture, fixtureLines, loadCar, MemoryBlocks, sha256 } from './setup.ts'

const lines = fixtureLines()
const files = lines.filter((line) => line.sha256 !== '-')
const archives = [...new Set(lines.filter((line) => !line.car.startsWith('bad-') && line.car !== '(none)').map((line) => line.car))]
/** Archives that are not what `ipfs dag export` writes, or not whole. */
const odd = new Set([
  'carv2.car',
  'carv2-padded.car',
  'missing-block.car',
  'no-root-block.car',
  'duplicate-blocks.car',
  'reversed.car',
  'file-inline.car'
])

describe('reading what Kubo wrote', () => {
  it.each(files)('$car $path has the bytes of its line', async ({ car, root, path, bytes, sha256: expected }) => {
    const blocks = await loadCar(car)
    const content = await bytesOf(cat(blocks, path === '-' ? root : `/ipfs/${root}/${path}`))
    expect(content.byteLength).toBe(Number(bytes))
    expect(sha256(content)).toBe(expected)
  })

  it.each(archives.filter((car) => !odd.has(car)))('exports %s byte for byte as Kubo did', async (car) => {
    const root = lines.find((line) => line.car === car)?.root ?? ''
    const exported = await bytesOf(exportCar(await loadCar(car), CID.parse(root)))
    expect(sha256(exported)).toBe(sha256(fixture(car)))
  })

  it.each(archives.filter((car) => car !== 'no-root-block.car'))('lists the root of %s', async (car) => {
    const root = lines.find((line) => line.car === car)?.root ?? ''
    expect((await collect(ls(await loadCar(car), root))).length).toBeGreaterThan(0)
  })
})

/** The options of `ipfs add` in a line's note, or undefined where they are none of ours. */
function optionsOf(note: string): AddOptions | undefined {
  const words = /ipfs add (.*)$/.exec(note)?.[1]?.split(' ') ?? ['?']
  const options: { -readonly [K in keyof AddOptions]: AddOptions[K] } = {}
  for (const word of words.filter((word) => word !== '')) {
    const [name, value = ''] = word.split('=')
    if (name === '--cid-version') options.cidVersion = value === '1' ? 1 : 0
    else if (name === '--chunker' && value.startsWith('size-')) options.chunker = value
    else if (name === '--raw-leaves') options.rawLeaves = value !== 'false'
    else if (name === '--trickle') options.trickle = true
    else if (name === '--hash') options.hash = value
    else return undefined
  }
  return options
}

describe('adding what Kubo added', () => {
  const ours = files.map((line) => ({ ...line, options: optionsOf(line.note) })).filter((line) => line.options !== undefined)

  it('offers the options of all lines but the content-defined chunkers and inlining', () => {
    const others = files.filter((line) => line.note.includes('ipfs add') && optionsOf(line.note) === undefined).map((line) => line.car)
    expect(others).toEqual(['file-rabin.car', 'file-buzhash.car', 'file-inline.car'])
  })

  it.each(ours)('$car: $note', async ({ car, root, options }) => {
    const content = await bytesOf(cat(await loadCar(car), root))
    const [added] = await collect(add([{ path: 'file', content }], new MemoryBlocks(), options))
    expect(added?.cid.toString()).toBe(root)
  })
})

describe('archives as a whole', () => {
  it.each([
    ['missing-block.car', 15],
    ['no-root-block.car', 15],
    ['duplicate-blocks.car', 21],
    ['reversed.car', 16],
    ['carv2.car', 16],
    ['carv2-padded.car', 16]
  ])('%s imports %i blocks, as Kubo counts', async (car, count) => {
    const result = await importCar([fixture(car)], new MemoryBlocks())
    expect(result.blocks).toBe(count)
    expect(result.roots.map(String)).toEqual(['QmReRTvohDK1pcGQxmyVupzFgUpAAMmYTskGx8ZrisYBeY'])
    expect(result.missingRoots.map(String)).toEqual(car === 'no-root-block.car' ? ['QmReRTvohDK1pcGQxmyVupzFgUpAAMmYTskGx8ZrisYBeY'] : [])
  })

  it.each(['carv2.car', 'carv2-padded.car', 'duplicate-blocks.car', 'reversed.car'])('%s holds the file', async (car) => {
    const content = await bytesOf(cat(await loadCar(car), 'QmReRTvohDK1pcGQxmyVupzFgUpAAMmYTskGx8ZrisYBeY'))
    expect(sha256(content)).toBe('e935b4f183acc5dd9f462ba2c8c531c5dcd6d596b30901b5adc2bf38e024678d')
  })

  it('missing-block.car imports, and reading its file fails', async () => {
    const error = await errorOf(bytesOf(cat(await loadCar('missing-block.car'), 'QmReRTvohDK1pcGQxmyVupzFgUpAAMmYTskGx8ZrisYBeY')))
    expect(error.name).toBe('NotFoundError')
  })

  it.each([
    ['bad-flipped-byte.car', 'HashMismatchError', /Qm\w+.*offset|offset \d+.*Qm\w+/, 3],
    ['bad-truncated.car', 'MalformedError', /byte offset \d+/, 8],
    ['bad-length.car', 'TooLargeError', /1099511627776 bytes at byte offset \d+/, 1],
    ['bad-header.car', 'MalformedError', /byte offset 0/, 0]
  ])('%s is refused with %s, and what came before it stays', async (car, name, message, kept) => {
    const blocks = new MemoryBlocks()
    const error = await errorOf(importCar([fixture(car)], blocks))
    expect(error.name).toBe(name)
    expect(error.message).toMatch(message)
    expect(blocks.blocks.size).toBe(kept)
  })
})
