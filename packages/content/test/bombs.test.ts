import * as dagPb from '@ipld/dag-pb'
import { CID } from '@shardswap/interface'
import { UnixFS } from 'ipfs-unixfs'
import { sha256 } from 'multiformats/hashes/sha2'
import { expect, test } from 'vitest'
import { cat, exportCar, tree } from '../src/index.ts'

const store = new Map<string, Uint8Array>()
/** All in memory: nothing here waits for anything but promises. */
const source = {
  get: async (cid: CID): Promise<Uint8Array> => {
    const bytes = store.get(cid.toString())
    if (bytes === undefined) throw new Error('every block is here')
    return bytes
  }
}

async function put(node: dagPb.PBNode): Promise<CID> {
  const bytes = dagPb.encode(node)
  const cid = CID.createV1(dagPb.code, await sha256.digest(bytes))
  store.set(cid.toString(), bytes)
  return cid
}

/** A DAG of `levels` blocks and `width ** levels` ways through it, none of which holds a byte. */
async function bomb(type: 'file' | 'directory', levels: number, width: number): Promise<CID> {
  let below = await put({ Data: new UnixFS({ type: 'file', data: new Uint8Array(0) }).marshal(), Links: [] })
  for (let level = 0; level < levels; level++) {
    const unixfs = new UnixFS({ type })
    const Links = Array.from({ length: width }, (_, i) => ({ Hash: below, Tsize: 0, Name: type === 'file' ? '' : `n${10_000 + i}` }))
    if (type === 'file') for (let i = 0; i < width; i++) unixfs.addBlockSize(0n)
    below = await put({ Data: unixfs.marshal(), Links })
  }
  return below
}

test.each(['cat', 'tree', 'export'] as const)(
  '%s of a DAG with more ways through it than anybody can walk can be given up',
  async (what) => {
    const root = await bomb(what === 'tree' ? 'directory' : 'file', 40, 20)
    const abort = new AbortController()
    const walk = {
      cat: () => cat(source, root.toString(), { signal: abort.signal }),
      tree: () => tree(source, root.toString(), { signal: abort.signal }),
      export: () => exportCar(source, root, { signal: abort.signal, duplicates: true })
    }[what]()
    // A timer, which fires only where the walk lets others have their turn.
    setTimeout(() => abort.abort(), 100)
    const all = async (): Promise<void> => {
      for await (const _ of walk) if (abort.signal.aborted) continue
    }
    await expect(all()).rejects.toMatchObject({ name: 'AbortError' })
  }
)

test('a reader that stands still has only so many nodes waiting for it, however wide a DAG is', async () => {
  const root = await bomb('file', 12, 1000)
  let asked = 0
  const counting = {
    get: async (cid: CID): Promise<Uint8Array> => {
      asked++
      // Never within the same turn, so that requests are told from each other.
      await new Promise((resolve) => setImmediate(resolve))
      return await source.get(cid)
    }
  }
  const reading = exportCar(counting, root, { duplicates: true })
  await reading.next()
  await reading.next()
  for (let turn = 0; turn < 3000; turn++) await new Promise((resolve) => setImmediate(resolve))
  // 65,536 nodes wait after 66 blocks of a thousand links; few more are under way by then.
  expect(asked).toBeLessThan(150)
  await reading.return(undefined)
})
