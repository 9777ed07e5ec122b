/** How long a reader waits for a block is its caller's to say, also where the caller gives a signal. */
import type { BlockSource, GetBlockOptions } from '@shardswap/interface'
import { beforeAll, expect, test } from 'vitest'
import { add, cat, dagStat, exportCar, ls, refs, resolve, resolveNode, tree } from '../src/index.ts'
import { parsePath } from '../src/disk.ts'
import { collect, keyStream, MemoryBlocks } from './setup.ts'

const blocks = new MemoryBlocks()
let folder = ''

beforeAll(async () => {
  folder = (await collect(add([{ path: 'd/f', content: keyStream(1024 * 1024) }], blocks))).at(-1)?.cid.toString() ?? ''
})

/** Each way to read, to its end. */
const readers: [string, (source: BlockSource, options: GetBlockOptions) => Promise<unknown>][] = [
  ['cat', async (source, options) => await collect(cat(source, `${folder}/f`, options))],
  ['ls', async (source, options) => await collect(ls(source, folder, options))],
  ['resolve', async (source, options) => await resolve(source, `${folder}/f`, options)],
  ['resolveNode', async (source, options) => await resolveNode(source, `${folder}/f`, options)],
  ['exportCar', async (source, options) => await collect(exportCar(source, parsePath(folder).root, options))],
  ['refs', async (source, options) => await collect(refs(source, [folder], { ...options, recursive: true }))],
  ['dagStat', async (source, options) => await dagStat(source, [folder], options)],
  [
    'tree',
    async (source, options) => {
      for await (const entry of tree(source, folder, options)) if (entry.content !== undefined) await collect(entry.content())
    }
  ]
]

/** What a source is told of waiting by a reader. */
async function told(read: (typeof readers)[number][1], options: GetBlockOptions): Promise<Set<boolean>> {
  const seen = new Set<boolean>()
  await read(
    {
      get: async (cid, { patient, signal } = {}) => {
        seen.add(patient ?? signal !== undefined)
        return await blocks.get(cid)
      }
    },
    options
  )
  return seen
}

test.each(readers)('%s is patient where its caller says so, and else where it gives a signal', async (_name, read) => {
  const { signal } = new AbortController()
  expect(await told(read, {})).toEqual(new Set([false]))
  expect(await told(read, { signal })).toEqual(new Set([true]))
  expect(await told(read, { signal, patient: false })).toEqual(new Set([false]))
  expect(await told(read, { patient: true })).toEqual(new Set([true]))
})
