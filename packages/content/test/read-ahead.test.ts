import { CID, StoppedError } from '@shardswap/interface'
import { beforeAll, describe, expect, it } from 'vitest'
import { add, cat, exportCar, ls, tree } from '../src/index.ts'
import { putDirectory } from '../src/write/directory.ts'
import { formatOf } from '../src/write/format.ts'
import { BoundedSink } from '../src/write/sink.ts'
import { bytesOf, collect, errorOf, keyStream, MemoryBlocks, RoundSource, sha256 } from './setup.ts'

const MiB = 1024 * 1024
const blocks = new MemoryBlocks()
const content = keyStream(64 * MiB)
let file = ''
let trickle = ''
let folder = ''

beforeAll(async () => {
  const roots = await collect(add([{ path: 'f', content }], blocks, { cidVersion: 1 }))
  file = roots[0]?.cid.toString() ?? ''
  trickle = (await collect(add([{ path: 'f', content }], blocks, { cidVersion: 1, trickle: true })))[0]?.cid.toString() ?? ''
  const small = Array.from({ length: 20_000 }, (_, i) => ({ path: `d/${i % 100}/${i}`, content: new Uint8Array([i, i >> 8]) }))
  folder = (await collect(add(small, blocks))).at(-1)?.cid.toString() ?? ''
})

describe('[F52] blocks are asked for ahead of the reader', () => {
  it('a file of 64 MiB comes in few round trips, at any layout', async () => {
    for (const root of [file, trickle]) {
      const source = new RoundSource(blocks)
      expect(sha256(await bytesOf(cat(source, root)))).toBe(sha256(content))
      // One block after another would be 259 of them.
      expect(source.rounds).toBeLessThanOrEqual(8)
      expect(source.gets).toBeLessThanOrEqual(262)
    }
  })

  it('no border between subtrees costs a round trip when the reader is slow', async () => {
    const source = new RoundSource(blocks)
    const reader = cat(source, file, { readAheadBytesMax: 16 * MiB })
    let waits = 0
    for (let parts = 0; ; parts++) {
      // Everything that the window allows has arrived: a part that is not there now had no request yet.
      await source.idle()
      const before = source.rounds
      if ((await reader.next()).done === true) break
      if (parts > 0 && source.rounds > before) waits++
    }
    expect(waits).toBe(0)
  })

  it('never holds more than its window for a reader that stands still', async () => {
    const source = new RoundSource(blocks)
    const reader = cat(source, file, { readAheadBytesMax: 4 * MiB })
    await reader.next()
    await source.idle()
    expect(source.bytes).toBeGreaterThan(3.5 * MiB)
    expect(source.bytes).toBeLessThanOrEqual(4 * MiB + 2 * 262_144)
    const asked = source.gets
    await reader.next()
    await source.idle()
    expect(source.gets).toBe(asked + 1)
    await reader.return()
  })

  it('a window of nothing still reads, block by block', async () => {
    const source = new RoundSource(blocks)
    const part = await bytesOf(cat(source, file, { readAheadBytesMax: 0, length: MiB }))
    expect(part.byteLength).toBe(MiB)
    expect(source.inFlightMax).toBe(1)
  })

  it('a range asks for what covers it and nothing else', async () => {
    const source = new RoundSource(blocks)
    const range = await bytesOf(cat(source, file, { offset: 10 * MiB + 5, length: MiB }))
    expect(Buffer.compare(range, content.subarray(10 * MiB + 5, 11 * MiB + 5))).toBe(0)
    // The root, one inner node, five leaves.
    expect(source.gets).toBe(7)
  })

  it('a reader that stops cancels what it asked for', async () => {
    const source = new RoundSource(blocks)
    for await (const _ of cat(source, file, { readAheadBytesMax: 8 * MiB })) {
      await new Promise((resolve) => setImmediate(resolve))
      break
    }
    await source.idle()
    expect(source.inFlight).toBe(0)
    expect(source.aborted).toBeGreaterThan(0)
    expect(source.gets).toBeLessThan(80)
  })

  it('an abort ends the read at once, and leaves nothing on the signal', async () => {
    const abort = new AbortController()
    const reader = cat({ get: (cid, options) => (cid.toString() === file ? blocks.get(cid) : hang(options?.signal)) }, file, {
      signal: abort.signal
    })
    const reading = errorOf(bytesOf(reader))
    setTimeout(() => abort.abort(), 5)
    expect((await reading).name).toBe('AbortError')
    expect((await errorOf(bytesOf(cat(blocks, file, { signal: abort.signal })))).name).toBe('AbortError')
  })

  it('a deadline that passed is a TimeoutError, and an error of ours comes as it is', async () => {
    const deadline = AbortSignal.timeout(1)
    await new Promise((resolve) => deadline.addEventListener('abort', resolve, { once: true }))
    expect((await errorOf(bytesOf(cat(blocks, file, { signal: deadline })))).name).toBe('TimeoutError')
    const reason = new StoppedError('the node was stopped')
    expect(await errorOf(bytesOf(cat(blocks, file, { signal: AbortSignal.abort(reason) })))).toBe(reason)
  })

  it('files of very small blocks keep a bounded number of requests in flight', async () => {
    const [added] = await collect(
      add([{ path: 'f', content: content.subarray(0, 6 * MiB) }], blocks, { cidVersion: 1, chunker: 'size-256' })
    )
    const source = new RoundSource(blocks)
    expect((await bytesOf(cat(source, added?.cid.toString() ?? ''))).byteLength).toBe(6 * MiB)
    expect(source.inFlightMax).toBeGreaterThan(2000)
    expect(source.inFlightMax).toBeLessThanOrEqual(4096)
    expect(source.rounds).toBeLessThan(24_576 / 1000)
  })

  it('asks once for a block that a file holds many times', async () => {
    const [added] = await collect(add([{ path: 'f', content: new Uint8Array(16 * MiB) }], blocks))
    const source = new RoundSource(blocks)
    await bytesOf(cat(source, added?.cid.toString() ?? ''))
    expect(source.gets).toBe(2)
  })

  it('a tree of 20,000 files comes in few round trips', async () => {
    const source = new RoundSource(blocks)
    expect((await collect(tree(source, folder))).length).toBe(20_101)
    expect(source.rounds).toBeLessThanOrEqual(12)
  })

  it('a sharded directory of 100,000 names is listed in few round trips', async () => {
    const format = formatOf({ cidVersion: 1 })
    const leaf = CID.parse('bafkreiaij7wqrolyv5gx2glkordkq22yacpgg23bdwyweenwlknk37zjyu')
    const names = Array.from({ length: 100_000 }, (_, i) => ({ name: `entry ${i}`, cid: leaf, dagBytes: 1 }))
    const sink = new BoundedSink(blocks)
    const root = await putDirectory(sink, format, names, {})
    await sink.drain()
    const source = new RoundSource(blocks)
    expect((await collect(ls(source, root.cid.toString()))).length).toBe(100_000)
    expect(source.gets).toBeGreaterThan(20_000)
    expect(source.rounds).toBeLessThan(source.gets / 1000)
  }, 120_000)

  it('an archive is exported in few round trips', async () => {
    const source = new RoundSource(blocks)
    await bytesOf(exportCar(source, CID.parse(file)))
    expect(source.rounds).toBeLessThanOrEqual(8)
  })
})

function hang(signal: AbortSignal | undefined): Promise<Uint8Array> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(new Error('cancelled')), { once: true })
  })
}
