/**
 * One measurement in a process of its own, so that memory counts for one engine
 * only: `worker.process.ts put|get ENGINE FOLDER DURABILITY BLOCKS BYTES`. Prints JSON.
 */
import { createHash, randomBytes } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { type CandidateName, type Durability, openCandidate } from './candidates.ts'

/** Operations under way at once, as a session has them. */
const atOnce = 32

export interface Measured {
  readonly seconds: number
  /** Processor time of all threads. */
  readonly cpuSeconds: number
  /** Greatest resident memory, above what it was before the engine was opened. */
  readonly peakBytes: number
  /** 99th percentile and maximum of how late the event loop was, in milliseconds. */
  readonly lateP99Ms: number
  readonly lateMaxMs: number
}

/** A multihash of the right shape; the engines do not look into it. */
function keyOf(at: number): Uint8Array {
  const digest = createHash('sha256').update(String(at)).digest()
  return new Uint8Array([0x12, 0x20, ...digest])
}

/** A fixed permutation, so that reads do not follow the order of writes. */
function shuffled(count: number): number[] {
  return Array.from({ length: count }, (_, at) => ({ at, by: createHash('md5').update(`order ${at}`).digest('hex') }))
    .sort((a, b) => (a.by < b.by ? -1 : 1))
    .map(({ at }) => at)
}

async function runAll(order: readonly number[], task: (at: number) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    for (let i = next++; i < order.length; i = next++) await task(order[i] ?? 0)
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
}

async function measure(args: readonly string[]): Promise<Measured> {
  const [what, engine, folder, durability, blocks, bytes] = args
  const count = Number(blocks)
  const length = Number(bytes)
  const pool = new Uint8Array(randomBytes(length + 65_536))
  const keys = Array.from({ length: count }, (_, at) => keyOf(at))
  const order = what === 'put' ? keys.map((_, at) => at) : shuffled(count)
  const idleBytes = process.memoryUsage.rss()
  const store = await openCandidate(engine as CandidateName, folder ?? '', durability as Durability)
  const late = monitorEventLoopDelay({ resolution: 1 })
  let peakBytes = 0
  const watch = setInterval(() => {
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
  }, 20)
  late.enable()
  // The first turn only starts the measuring.
  await delay(5)
  const cpu = process.cpuUsage()
  const start = performance.now()
  await runAll(order, async (at) => {
    const key = keys[at] ?? new Uint8Array()
    if (what === 'put') await store.put(key, pool.subarray(at % 65_536, (at % 65_536) + length))
    else if ((await store.get(key))?.byteLength !== length) throw new Error(`block ${at} is not as it was put`)
  })
  const seconds = (performance.now() - start) / 1000
  const used = process.cpuUsage(cpu)
  // An engine that never let the event loop turn is as late as it took.
  await delay(5)
  late.disable()
  clearInterval(watch)
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
  await store.close()
  return {
    seconds,
    cpuSeconds: (used.user + used.system) / 1e6,
    peakBytes: peakBytes - idleBytes,
    lateP99Ms: late.percentile(99) / 1e6,
    lateMaxMs: late.max / 1e6
  }
}

process.stdout.write(`${JSON.stringify(await measure(process.argv.slice(2)))}\n`)
