/**
 * `node packages/content/bench/throughput.ts [--mib 128] [--rounds 5]`
 * Adds a file to memory and reads it from there, by the package and by
 * ipfs-unixfs-exporter; in turns. Medians with minimum and maximum: MB in each
 * second, and in each second of processor time, which a busy machine leaves alone.
 */
import { parseArgs } from 'node:util'
import { add, cat } from '../src/index.ts'
import { collect, MemoryBlocks } from '../test/setup.ts'
import { cat as catByExporter } from './by-exporter.ts'

const { values } = parseArgs({ options: { mib: { type: 'string', default: '128' }, rounds: { type: 'string', default: '5' } } })
const bytes = Number(values.mib) * 1024 * 1024

const content = new Uint8Array(bytes)
for (let at = 0; at < bytes; at += 4096) content[at] = at / 4096

interface Rate {
  readonly wall: number
  readonly processor: number
}

async function rateOf(run: () => Promise<number>): Promise<Rate> {
  const start = performance.now()
  const before = process.cpuUsage()
  const done = await run()
  const { user, system } = process.cpuUsage(before)
  if (done !== bytes) throw new Error(`${done} bytes came of ${bytes}`)
  return { wall: bytes / 1000 / (performance.now() - start), processor: bytes / (user + system) }
}

async function countBytes(parts: AsyncIterable<Uint8Array>): Promise<number> {
  let count = 0
  for await (const part of parts) count += part.byteLength
  return count
}

const rates = new Map<string, Rate[]>()
for (let round = 0; round < Number(values.rounds); round++) {
  for (const cidVersion of [0, 1] as const) {
    const blocks = new MemoryBlocks()
    let root = ''
    const record = async (name: string, run: () => Promise<number>): Promise<void> => {
      const key = `${name}, CID version ${cidVersion}`
      rates.set(key, [...(rates.get(key) ?? []), await rateOf(run)])
    }
    await record('add', async () => {
      const [added] = await collect(add([{ path: 'f', content }], blocks, { cidVersion }))
      root = added?.cid.toString() ?? ''
      return bytes
    })
    await record('cat, ours', async () => await countBytes(cat(blocks, root)))
    await record('cat, ipfs-unixfs-exporter', async () => await countBytes(catByExporter(blocks, root)))
  }
}

function summary(rates: readonly number[]): string {
  const sorted = rates.toSorted((a, b) => a - b)
  const at = (index: number): string => (sorted.at(index) ?? 0).toFixed(0)
  return `${at(sorted.length >> 1)} (${at(0)} to ${at(-1)})`
}

for (const [name, all] of rates) {
  const wall = summary(all.map((rate) => rate.wall))
  const processor = summary(all.map((rate) => rate.processor))
  process.stdout.write(`${name}: ${wall} MB/s, ${processor} MB/s of processor time\n`)
}
