/** Nodes of any codec, paths through them, links and sizes. CIDs and texts are those that Kubo 0.42 gave for the same input. */
import { decode as decodeCbor } from '@ipld/dag-cbor'
import { CID } from '@shardswap/interface'
import { sha256 } from 'multiformats/hashes/sha2'
import { expect, test } from 'vitest'
import { add, dagStat, decodeValue, encodeValue, nodeCodecNames, refs, resolveNode } from '../src/index.ts'
import { collect, MemoryBlocks } from './setup.ts'

const codes: Record<string, number> = { raw: 0x55, 'dag-pb': 0x70, 'dag-cbor': 0x71, 'dag-json': 0x0129, cbor: 0x51, json: 0x0200 }
const text = (words: string): Uint8Array => new TextEncoder().encode(words)
const words = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

async function put(blocks: MemoryBlocks, codec: string, value: unknown): Promise<CID> {
  const bytes = encodeValue(codes[codec] ?? 0, value)
  const cid = CID.createV1(codes[codec] ?? 0, await sha256.digest(bytes))
  await blocks.put(cid, bytes)
  return cid
}

test('a node has the same CID as in Kubo, whichever codec it comes in and is stored in', async () => {
  const json = '{"z":1.0,"a":[1,"x",{"b":{}},[],null,true,1e30,0.1],"é":"\\u0001<>&/"}'
  const value = decodeValue(codes['json'] ?? 0, text(json))
  const blocks = new MemoryBlocks()
  for (const [codec, cid] of [
    ['json', 'bagaaieras3xfhiehvmmbq4cz5doq3alvrygyouuyagxuwvt5gbtsyv3cnfgq'],
    ['cbor', 'bafireihw33xkovbw5dakzwrxqoeuo7yqerzke4rz2rgcq4wm7cfycupzom'],
    ['dag-json', 'baguqeera5bwqjsmk7py4b7mp2dyqoyjlpa3bfmaybwln2ov54orplgdxz63a'],
    ['dag-cbor', 'bafyreigroxdcj5jjriaqbiok2jhhxhdoo7gebedbaqeunkk443wmuitwfi']
  ] as const) {
    expect((await put(blocks, codec, value)).toString()).toBe(cid)
    const again = decodeValue(codes[codec] ?? 0, blocks.blocks.values().toArray().at(-1) ?? text(''))
    // JSON writes 1.0 as 1, which reads as an integer: in Kubo too.
    const asCbor = Buffer.from(encodeValue(codes['dag-cbor'] ?? 0, again)).toString('hex')
    expect(asCbor.includes('617afb3ff0000000000000')).toBe(codec.endsWith('cbor'))
  }
})

test('a float without a fraction stays one, from JSON to CBOR and through CBOR', async () => {
  const dagJson = text('{"a":[1,-0.0,1e21,1e-7,{"/":{"bytes":"AQI"}}],"b":1.0,"c":9223372036854775807}')
  const value = decodeValue(codes['dag-json'] ?? 0, dagJson)
  const cbor = encodeValue(codes['dag-cbor'] ?? 0, value)
  expect(Buffer.from(cbor).toString('hex')).toContain('fb3ff0000000000000')
  expect(decodeCbor(cbor)).toEqual({ a: [1, -0, 1e21, 1e-7, Uint8Array.of(1, 2)], b: 1, c: 9_223_372_036_854_775_807n })
  const again = encodeValue(codes['dag-cbor'] ?? 0, decodeValue(codes['dag-cbor'] ?? 0, cbor))
  expect(again).toEqual(cbor)
  expect(words(encodeValue(codes['dag-json'] ?? 0, value))).toBe(
    '{"a":[1,0,1e+21,1e-7,{"/":{"bytes":"AQI"}}],"b":1,"c":9223372036854775807}'
  )
})

test('what a codec cannot hold or does not allow is refused, and the message says which codec', () => {
  const link = CID.parse('bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy')
  const refused: [codec: string, value: unknown][] = [
    ['json', { a: link }],
    ['json', Uint8Array.of(1)],
    ['cbor', { a: link }],
    ['raw', 'text'],
    ['dag-pb', {}],
    ['dag-pb', { Links: [{ Hash: 'text' }] }],
    ['dag-cbor', { a: Number.NaN }]
  ]
  for (const [codec, value] of refused) {
    expect(() => encodeValue(codes[codec] ?? 0, value)).toThrow(expect.objectContaining({ code: 'ERR_MALFORMED' }))
    expect(() => encodeValue(codes[codec] ?? 0, value)).toThrow(codec)
  }
  for (const json of [
    '{"a":',
    '{"a":1}x',
    '{"a":1,"a":2}',
    '{"/":"frob"}',
    `{"/":"${link.toString()}","a":1}`,
    '{"/":{"bytes":"AQI","a":1}}',
    '['.repeat(200_000)
  ]) {
    expect(() => decodeValue(codes['dag-json'] ?? 0, text(json))).toThrow(expect.objectContaining({ code: 'ERR_MALFORMED' }))
  }
  expect(decodeValue(codes['dag-json'] ?? 0, text('{"/":5}'))).toEqual({ '/': 5 })
  expect(nodeCodecNames()).toEqual(['raw', 'dag-pb', 'dag-cbor', 'dag-json', 'cbor', 'json'])
})

test('a path leads through keys, names of directories and links of dag-pb, and stops where no block follows', async () => {
  const blocks = new MemoryBlocks()
  const added = await collect(add([{ path: 'sub/file.txt', content: text('abc') }], blocks, { wrapWithDirectory: true, cidVersion: 1 }))
  const directory = added.at(-1)?.cid as CID
  const plain = await put(blocks, 'dag-pb', { Links: [{ Name: 'way', Hash: directory, Tsize: 3 }] })
  const root = await put(blocks, 'dag-cbor', { a: { b: [1, directory] }, '0': 'zero', p: plain })
  const at = async (path: string): Promise<[string, string, unknown]> => {
    const { cid, rest, value } = await resolveNode(blocks, path)
    return [cid.toString(), rest.join('/'), value()]
  }
  expect(await at(`${root.toString()}/a/b/0`)).toEqual([root.toString(), 'a/b/0', 1])
  expect(await at(`/ipfs/${root.toString()}/0`)).toEqual([root.toString(), '0', 'zero'])
  const [file, rest, value] = await at(`${root.toString()}/a/b/1/sub/file.txt`)
  expect([rest, value]).toEqual(['', text('abc')])
  expect((await at(`${root.toString()}/p/way/sub/file.txt`))[0]).toBe(file)
  expect(await at(`/ipld/${directory.toString()}/Links/0/Name`)).toEqual([directory.toString(), 'Links/0/Name', 'sub'])
  expect((await at(`/ipld/${directory.toString()}/Links/0/Hash/Links/0/Name`))[2]).toBe('file.txt')
  for (const wrong of ['nope', 'a/nope', 'a/b/2', 'a/b/length', 'a/b/0/x', '0/x', 'a/b/1/nope', 'a/toString', 'p/nope', 'a/b/1/Links']) {
    await expect(resolveNode(blocks, `${root.toString()}/${wrong}`)).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
  }
  await expect(resolveNode(blocks, `${file}/x`)).rejects.toMatchObject({ code: 'ERR_NOT_A_DIRECTORY' })
})

interface Diamond {
  readonly blocks: MemoryBlocks
  readonly root: string
  readonly name: (cid: CID) => string
}

/** root → left → bottom → leaf, root → bottom, root → left again. */
async function diamond(): Promise<Diamond> {
  const blocks = new MemoryBlocks()
  const leaf = await put(blocks, 'raw', text('leaf'))
  const bottom = await put(blocks, 'dag-cbor', { leaf })
  const left = await put(blocks, 'dag-cbor', [bottom])
  const root = await put(blocks, 'dag-cbor', { a: left, b: bottom, c: left })
  const names = new Map([leaf, bottom, left, root].map((cid, i) => [cid.toString(), ['leaf', 'bottom', 'left', 'root'][i] ?? '']))
  return { blocks, root: root.toString(), name: (cid) => names.get(cid.toString()) ?? '?' }
}

test('refs come depth first, each before those below it, once or as often as they are there, as deep as asked', async () => {
  const { blocks, root, name } = await diamond()
  const found = async (options: object, path = root): Promise<string[]> =>
    (await collect(refs(blocks, [path], options))).map(({ from, to }) => `${name(from)}>${name(to)}`)
  const left = ['root>left', 'left>bottom', 'bottom>leaf']
  expect(await found({})).toEqual(['root>left', 'root>bottom', 'root>left'])
  expect(await found({ unique: true })).toEqual(['root>left', 'root>bottom'])
  expect(await found({ recursive: true })).toEqual([...left, 'root>bottom', 'bottom>leaf', ...left])
  expect(await found({ recursive: true, unique: true })).toEqual(left)
  expect(await found({ recursive: true, maxDepth: 0 })).toEqual([])
  expect(await found({ recursive: true, maxDepth: 2 })).toEqual([
    'root>left',
    'left>bottom',
    'root>bottom',
    'bottom>leaf',
    'root>left',
    'left>bottom'
  ])
  // Met two links down its child is out of bounds; met again one link down it is within.
  expect(await found({ recursive: true, unique: true, maxDepth: 2 })).toEqual(['root>left', 'left>bottom', 'bottom>leaf'])
  expect(await found({}, `${root}/a`)).toEqual(['left>bottom'])
  // Once over all paths, in their order.
  const both = await collect(refs(blocks, [`${root}/a`, root], { recursive: true, unique: true }))
  expect(both.map(({ from, to }) => `${name(from)}>${name(to)}`)).toEqual(['left>bottom', 'bottom>leaf', 'root>left'])
  blocks.asked.length = 0
  await found({ recursive: true, maxDepth: 1 })
  expect(blocks.asked.map(name)).toEqual(['root'])
})

test('links of dag-pb have names', async () => {
  const blocks = new MemoryBlocks()
  const added = await collect(add([{ path: 'sub/file.txt', content: text('abc') }], blocks, { wrapWithDirectory: true }))
  expect((await collect(refs(blocks, [added.at(-1)?.cid.toString() ?? ''], { recursive: true }))).map(({ name }) => name)).toEqual([
    'sub',
    'file.txt'
  ])
})

test('the size of a DAG counts each of its blocks once, and of several what they share', async () => {
  const { blocks, root } = await diamond()
  const bytes = [...blocks.blocks.values()].reduce((sum, block) => sum + block.byteLength, 0)
  const seen: number[] = []
  const one = await dagStat(blocks, [root], { onProgress: (sizes) => seen.push(sizes.blocks) })
  expect(one).toMatchObject({ blocks: 4, bytes, dags: [{ blocks: 4, bytes }] })
  expect(seen).toEqual([1, 2, 3, 4])
  const two = await dagStat(blocks, [root, `${root}/b`])
  expect(two).toMatchObject({ blocks: 4, bytes, dags: [{ blocks: 4, bytes }, { blocks: 2 }] })
  await expect(dagStat(blocks, [root, `${root}/x`])).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
})
