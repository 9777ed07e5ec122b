import * as dagCbor from '@ipld/dag-cbor'
import * as dagJson from '@ipld/dag-json'
import * as dagPb from '@ipld/dag-pb'
import { multihashOf } from '@shardswap/hashes'
import { CID } from '@shardswap/interface'
import { create as createDigest } from 'multiformats/hashes/digest'
import { describe, expect, it } from 'vitest'
import { add, cat, exportCar, importCar, linksOf } from '../src/index.ts'
import { carHeader } from '../src/car/export.ts'
import { bytesOf, collect, errorOf, fixture, fixtureLines, keyStream, loadCar, MemoryBlocks } from './setup.ts'

const smallRoot = 'QmReRTvohDK1pcGQxmyVupzFgUpAAMmYTskGx8ZrisYBeY'

function raw(text: string): { cid: CID; bytes: Uint8Array } {
  return block(0x55, new TextEncoder().encode(text))
}

function block(code: number, bytes: Uint8Array): { cid: CID; bytes: Uint8Array } {
  const digest = multihashOf(0x12, 32, bytes)
  if (digest === undefined) throw new Error('sha2-256 is known')
  return { cid: CID.createV1(code, digest), bytes }
}

/** A section whose length fits into one or two bytes. */
function section({ cid, bytes }: { cid: CID; bytes: Uint8Array }): Buffer {
  const length = cid.byteLength + bytes.byteLength
  const prefix = length < 128 ? [length] : [(length & 0x7f) | 0x80, length >> 7]
  return Buffer.concat([Uint8Array.from(prefix), cid.bytes, bytes])
}

function archive(roots: CID[], blocks: { cid: CID; bytes: Uint8Array }[]): Buffer {
  return Buffer.concat([carHeader(roots), ...blocks.map(section)])
}

/** The offsets at which sections of a CAR v1 begin, and its end. */
function borders(car: Uint8Array): number[] {
  const found: number[] = []
  let at = 0
  while (at < car.byteLength) {
    let length = 0
    let shift = 0
    for (;;) {
      const byte = car[at++] ?? 0
      length += (byte & 0x7f) * 2 ** shift
      shift += 7
      if (byte < 0x80) break
    }
    at += length
    found.push(at)
  }
  return found
}

/** The CIDs of an archive's blocks, in order. */
async function cidsIn(car: Uint8Array): Promise<string[]> {
  const cids: string[] = []
  await importCar([car], {
    put: async (cid) => {
      cids.push(cid.toString())
    }
  })
  return cids
}

/** A version 2 around `data`. */
function v2(offset: number, size: number, data: Uint8Array, tail = new Uint8Array(0)): Buffer {
  const head = Buffer.alloc(51 + Math.max(0, offset - 51))
  head.set([0x0a, 0xa1, 0x67, 0x76, 0x65, 0x72, 0x73, 0x69, 0x6f, 0x6e, 0x02])
  head.writeBigUInt64LE(BigInt(offset), 27)
  head.writeBigUInt64LE(BigInt(size), 35)
  head.writeBigUInt64LE(BigInt(offset + size), 43)
  return Buffer.concat([head, data, tail])
}

/** The bytes in parts of `size`. */
function* inParts(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size)
}

describe('[F71] archives that are cut or lie about lengths', () => {
  const car = fixture('file-small-v0.car')
  const ends = borders(car)

  it('an error of the stream comes out as it is, wherever it comes', async () => {
    const failure = new Error('the disk is gone')
    for (const cut of [0, 5, ends.at(-4) ?? 0, car.byteLength - 1]) {
      const stream = async function* (): AsyncGenerator<Uint8Array> {
        yield car.subarray(0, cut)
        throw failure
      }
      expect(await errorOf(importCar(stream(), new MemoryBlocks()))).toBe(failure)
    }
  })

  it('every cut that is not on a border is an error with its offset, and what came before stays', async () => {
    const from = ends.at(-4) ?? 0
    for (let cut = from; cut < car.byteLength; cut++) {
      const blocks = new MemoryBlocks()
      const whole = ends.filter((end) => end <= cut).length - 1
      const run = importCar([car.subarray(0, cut)], blocks)
      if (ends.includes(cut)) await run
      else {
        const error = await errorOf(run)
        if (error.name !== 'MalformedError' || !error.message.includes(`byte offset ${cut}`))
          throw new Error(`cut at ${cut}: ${error.message}`)
      }
      if (blocks.blocks.size !== whole) throw new Error(`cut at ${cut}: ${blocks.blocks.size} blocks of ${whole}`)
    }
    expect(car.byteLength - from).toBeGreaterThan(8000)
  })

  it('every cut of the header too', async () => {
    for (let cut = 0; cut < (ends[0] ?? 0); cut++) {
      expect((await errorOf(importCar([car.subarray(0, cut)], new MemoryBlocks()))).name).toBe('MalformedError')
    }
  })

  it.each([
    ['a section of no length', Uint8Array.of(0), 'MalformedError', /empty section at byte offset 61496/],
    ['padding with zeros', new Uint8Array(512), 'MalformedError', /empty section at byte offset 61496/],
    ['trailing junk', Uint8Array.from([5, 0xff, 0xff, 0xff, 0xff, 0xff]), 'MalformedError', /byte offset 61496/],
    ['a section shorter than its CID', Uint8Array.from([3, 1, 0x55, 0x12]), 'MalformedError', /byte offset 61496/],
    [
      'a length of 2^40',
      Uint8Array.from([0x80, 0x80, 0x80, 0x80, 0x80, 0x20]),
      'TooLargeError',
      /1099511627776 bytes at byte offset 61502/
    ],
    ['a length of ten bytes', new Uint8Array(10).fill(0xff), 'TooLargeError', /byte offset 61496/]
  ] as const)('%s is refused', async (_, tail, name, message) => {
    const blocks = new MemoryBlocks()
    const error = await errorOf(importCar([car, tail], blocks))
    expect(error.name).toBe(name)
    expect(error.message).toMatch(message)
    expect(blocks.blocks.size).toBe(16)
  })

  it('refuses a header and a section beyond the bounds that are asked for', async () => {
    expect((await errorOf(importCar([car], new MemoryBlocks(), { carSectionBytesMax: 4000 }))).name).toBe('TooLargeError')
    expect((await errorOf(importCar([car], new MemoryBlocks(), { carHeaderBytesMax: 50 }))).name).toBe('TooLargeError')
  })

  it('reads the same from parts of any size', async () => {
    for (const name of ['file-small-v0.car', 'carv2-padded.car', 'dir.car']) {
      const bytes = fixture(name)
      const expected = await importCar([bytes], new MemoryBlocks())
      for (const size of [1, 7, 4096, 65_536]) {
        expect(await importCar(inParts(bytes, size), new MemoryBlocks())).toEqual(expected)
      }
    }
  }, 60_000)

  it('keeps no more of the stream than it needs', async () => {
    const { cid, bytes } = block(0x55, keyStream(1000))
    let put = 0
    let ahead = 0
    const parts = async function* (): AsyncGenerator<Uint8Array> {
      yield carHeader([cid])
      for (let given = 0; given < 2000; given++) {
        ahead = Math.max(ahead, given - put)
        yield section({ cid, bytes })
      }
    }
    await importCar(parts(), { put: async () => void (await new Promise((resolve) => setImmediate(resolve)), put++) })
    expect(put).toBe(2000)
    expect(ahead).toBeLessThanOrEqual(66)
  })
})

describe('CAR version 2', () => {
  const v1 = fixture('file-small-v0.car')
  it('is read at any offset, and its index is left alone', async () => {
    for (const offset of [51, 52, 5000, 200_000]) {
      const car = v2(offset, v1.byteLength, v1, Uint8Array.from([0x81, 0x08, 1, 2, 3]))
      for (const size of [100, car.byteLength]) {
        expect(await importCar(inParts(car, size), new MemoryBlocks())).toMatchObject({ blocks: 16, missingRoots: [] })
      }
    }
  })

  it.each([
    ['cut on a border of its data', v2(51, v1.byteLength, v1.subarray(0, borders(v1).at(-2))), /header states data up to/],
    ['cut before its data', v2(5000, 1000, new Uint8Array(0)).subarray(0, 3000), /ends \d+ bytes before/],
    ['with data that ends within a section', v2(51, v1.byteLength - 10, v1), /beyond the data's end/],
    ['with data before its header', v2(11, v1.byteLength, v1), /points back into itself/],
    ['with data of no length', v2(51, 0, v1), /less than the header/]
  ] as const)('%s is refused', async (_, car, message) => {
    const error = await errorOf(importCar([car], new MemoryBlocks()))
    expect(error.name).toBe('MalformedError')
    expect(error.message).toMatch(message)
  })
})

describe('[F72] roots, present and absent', () => {
  const a = raw('a')
  const b = raw('b')

  it.each([
    ['no roots', [], [a, b], 2, []],
    ['three roots', [a, b, raw('c')], [a, b, raw('c')], 3, []],
    ['one root twice', [a, a], [a], 1, []],
    ['an absent root', [a, b], [b], 1, [a]],
    ['a block twice, and others', [a], [a, b, a, raw('c')], 4, []],
    ['a header alone', [a], [], 0, [a]],
    ['a header alone without roots', [], [], 0, []]
  ] as [string, { cid: CID; bytes: Uint8Array }[], { cid: CID; bytes: Uint8Array }[], number, { cid: CID }[]][])(
    '%s',
    async (_, roots, contents, count, missing) => {
      const blocks = new MemoryBlocks()
      const cids = roots.map(({ cid }) => cid)
      const result = await importCar([archive(cids, contents)], blocks)
      expect(result.blocks).toBe(count)
      expect(result.roots.map(String)).toEqual(cids.map(String))
      expect(result.missingRoots.map(String)).toEqual(missing.map(({ cid }) => cid.toString()))
      for (const { cid } of contents) expect(blocks.has(cid)).toBe(true)
    }
  )

  it('a root that the sink has already is not missing, nor one that is its own block', async () => {
    const blocks = new MemoryBlocks()
    await blocks.put(a.cid, a.bytes)
    const roots = [a.cid, CID.parse('bafkqaaa')]
    const result = await importCar([archive(roots, [])], blocks, { has: (cid) => blocks.has(cid) })
    expect(result.missingRoots).toEqual([])
  })
})

describe('[F68] blocks are stored under no CID but their own', () => {
  it('a swapped block is refused, naming the CID and the place', async () => {
    const [a, b] = [raw('a'), raw('b')]
    const blocks = new MemoryBlocks()
    const car = archive([a.cid], [b, { cid: a.cid, bytes: b.bytes }, raw('c')])
    const error = await errorOf(importCar([car], blocks))
    expect(error.name).toBe('HashMismatchError')
    expect(error.message).toContain(a.cid.toString())
    expect(error.message).toMatch(/block 2 of the archive, at byte offset \d+/)
    expect([...blocks.blocks.values()]).toEqual([Buffer.from('b')])
  })

  it('any flipped bit of a block is refused', async () => {
    const a = raw('some text')
    const car = archive([], [a])
    for (let bit = 0; bit < a.bytes.byteLength * 8; bit++) {
      const flipped = Buffer.from(car)
      const at = car.byteLength - a.bytes.byteLength + (bit >> 3)
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (bit & 7))
      expect((await errorOf(importCar([flipped], new MemoryBlocks()))).name).toBe('HashMismatchError')
    }
  })

  it('an unknown hash is an error of its own, with the place', async () => {
    const cid = CID.createV1(0x55, createDigest(0xd5, new Uint8Array(16)))
    const error = await errorOf(importCar([archive([], [{ cid, bytes: new Uint8Array(5) }])], new MemoryBlocks()))
    expect(error.name).toBe('UnknownHashError')
    expect(error.message).toMatch(/0xd5.*byte offset/)
  })

  it('identity blocks are verified, counted and not stored', async () => {
    const cid = CID.parse('bafyqacnbmrqxgzdgdeaui')
    const blocks = new MemoryBlocks()
    expect(await importCar([archive([cid], [{ cid, bytes: cid.multihash.digest }])], blocks)).toMatchObject({ blocks: 1, missingRoots: [] })
    expect(blocks.blocks.size).toBe(0)
    expect((await errorOf(importCar([archive([cid], [{ cid, bytes: new Uint8Array(8) }])], blocks))).name).toBe('HashMismatchError')
    const long = CID.createV1(0x55, createDigest(0, new Uint8Array(200)))
    expect((await errorOf(importCar([archive([], [{ cid: long, bytes: new Uint8Array(200) }])], blocks))).name).toBe('TooLargeError')
  })

  it('ends with the error of the sink, or the abort, and closes the stream', async () => {
    let closed = 0
    const parts = async function* (): AsyncGenerator<Uint8Array> {
      try {
        yield carHeader([])
        for (;;) yield section(raw('a'))
      } finally {
        closed++
      }
    }
    const full = { put: () => Promise.reject(new Error('disk full')) }
    expect((await errorOf(importCar(parts(), full))).message).toBe('disk full')
    const abort = new AbortController()
    const onProgress = (blocks: number): void => {
      if (blocks === 1000) abort.abort()
    }
    expect((await errorOf(importCar(parts(), new MemoryBlocks(), { signal: abort.signal, onProgress }))).name).toBe('AbortError')
    expect(closed).toBe(2)
  })
})

describe('[F74] export: each block once, or at each visit', () => {
  // Pending: the blocks of a path's way first, which a gateway asks for.
  it('a lone block comes once', async () => {
    const blocks = await loadCar('file-1.car')
    const root = CID.parse('bafkreiaij7wqrolyv5gx2glkordkq22yacpgg23bdwyweenwlknk37zjyu')
    for (const duplicates of [false, true]) {
      expect(await cidsIn(await bytesOf(exportCar(blocks, root, { duplicates })))).toEqual([root.toString()])
    }
  })

  it('a file of 31 links to two blocks gives three blocks, or 32', async () => {
    const blocks = await loadCar('file-zeros.car')
    const root = CID.parse('bafybeia645k36hmuznfz5g62khbek5kxhdzza7pv5lten7bxoef3gre4cy')
    const once = await cidsIn(await bytesOf(exportCar(blocks, root)))
    expect([once.length, new Set(once).size]).toEqual([3, 3])
    const each = await cidsIn(await bytesOf(exportCar(blocks, root, { duplicates: true })))
    const links = linksOf(root, await blocks.get(root)).map(({ cid }) => cid.toString())
    expect(each).toEqual([root.toString(), ...links])
  })

  it('a sub-DAG that was written is not walked again', async () => {
    const blocks = new MemoryBlocks()
    const content = keyStream(100_000)
    const sources = ['a', 'b', 'c'].map((name) => ({ path: `d/${name}`, content }))
    const root = (await collect(add(sources, blocks, { chunker: 'size-1000' }))).at(-1)?.cid ?? CID.parse('bafkqaaa')
    const asked = blocks.asked.length
    expect((await cidsIn(await bytesOf(exportCar(blocks, root)))).length).toBe(102)
    expect(blocks.asked.length - asked).toBeLessThanOrEqual(104)
    expect((await cidsIn(await bytesOf(exportCar(blocks, root, { duplicates: true })))).length).toBe(304)
  })

  it('identity blocks are walked and not written; the rest is what Kubo writes', async () => {
    const line = fixtureLines().find(({ car }) => car === 'file-inline.car')
    const root = CID.parse(line?.root ?? '')
    const car = fixture('file-inline.car')
    const ends = borders(car)
    const kept = ends.slice(0, -1).flatMap((from, i) => {
      const part = car.subarray(from, ends[i + 1])
      // An identity CID begins with 1, its codec, 0.
      const at = part.findIndex((byte) => byte < 0x80) + 1
      return part[at] === 1 && part[at + 2] === 0 ? [] : [part]
    })
    const expected = Buffer.concat([car.subarray(0, ends[0]), ...kept])
    expect(expected.byteLength).toBeLessThan(car.byteLength)
    const exported = await bytesOf(exportCar(await loadCar('file-inline.car'), root))
    expect(Buffer.compare(exported, expected)).toBe(0)
    const again = new MemoryBlocks()
    await importCar([exported], again)
    expect((await bytesOf(cat(again, root.toString()))).byteLength).toBe(5000)
  })

  it('links of dag-cbor and dag-json come in the order of their block, numbers as keys included', () => {
    const [a, b, c] = [raw('a').cid, raw('b').cid, raw('c').cid]
    const value = { 10: a, 2: b, a: { b: [c, { c: a }] } }
    const cbor = block(dagCbor.code, dagCbor.encode(value))
    // Shorter keys first: 2, a, 10.
    expect(linksOf(cbor.cid, cbor.bytes).map(({ cid }) => cid.toString())).toEqual([b, c, a, a].map(String))
    const json = block(dagJson.code, dagJson.encode(value))
    // Keys by their bytes: 10, 2, a.
    expect(linksOf(json.cid, json.bytes).map(({ cid }) => cid.toString())).toEqual([a, b, c, a].map(String))
  })

  it('ends in an error after the blocks before it: missing, malformed, of an unknown codec', async () => {
    const unknown = block(0x90, Uint8Array.of(1))
    const broken = block(dagCbor.code, Uint8Array.of(0xff))
    const missing = raw('nowhere')
    for (const [child, name] of [
      [unknown, 'UnsupportedCodecError'],
      [broken, 'MalformedError'],
      [missing, 'NotFoundError']
    ] as const) {
      const blocks = new MemoryBlocks()
      const root = block(dagPb.code, dagPb.encode({ Links: [raw('a').cid, child.cid].map((cid) => ({ Hash: cid, Name: '', Tsize: 1 })) }))
      for (const { cid, bytes } of [root, raw('a'), unknown, broken]) await blocks.put(cid, bytes)
      const parts: Uint8Array[] = []
      const read = async (): Promise<void> => {
        for await (const part of exportCar(blocks, root.cid)) parts.push(part)
      }
      const error = await errorOf(read())
      expect(error.name).toBe(name)
      expect(error.message).toContain(child.cid.toString())
      expect((await cidsIn(Buffer.concat(parts))).slice(0, 2)).toEqual([root.cid.toString(), raw('a').cid.toString()])
    }
  })

  it('goes back in as it came out', async () => {
    const blocks = await loadCar('file-small-v0.car')
    const car = await bytesOf(exportCar(blocks, CID.parse(smallRoot)))
    const again = new MemoryBlocks()
    expect((await importCar([car], again)).roots.map(String)).toEqual([smallRoot])
    expect(new Set(again.blocks.keys())).toEqual(new Set(blocks.blocks.keys()))
  })
})
