import { readFileSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { BlocksWork, Fetched } from '../work.ts'
import type { Actor } from './api.ts'

/** How often the resident set is looked at where the system keeps no peak, in milliseconds. */
const sampleMs = 20

let sampledBytes = 0

// Linux keeps the peak itself and lets its owner reset it: no sample can miss it then.
function resetPeak(): boolean {
  try {
    writeFileSync('/proc/self/clear_refs', '5')
    return true
  } catch {
    return false
  }
}

function peakOfSystem(): number | undefined {
  const kibibytes = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024
}

function sample(): void {
  sampledBytes = Math.max(sampledBytes, process.memoryUsage.rss())
}

let hasPeak = false
let profiler: Session | undefined

/** The half of an actor that every kind shares. */
export const measures: Pick<Actor, 'idleBytes' | 'peakBytes' | 'cpuSeconds' | 'startProfile' | 'stopProfile'> = {
  idleBytes: async () => {
    setFlagsFromString('--expose-gc')
    const gc = runInNewContext('gc') as () => void
    gc()
    gc()
    hasPeak = resetPeak()
    if (!hasPeak) setInterval(sample, sampleMs).unref()
    return process.memoryUsage.rss()
  },
  peakBytes: async () => (hasPeak ? peakOfSystem() : undefined) ?? Math.max(sampledBytes, process.memoryUsage.rss()),
  cpuSeconds: async () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  },
  startProfile: async () => {
    profiler = new Session()
    profiler.connect()
    await profiler.post('Profiler.enable')
    await profiler.post('Profiler.start')
  },
  stopProfile: async (path) => {
    const result = await profiler?.post('Profiler.stop')
    profiler?.disconnect()
    profiler = undefined
    if (result !== undefined) await writeFile(path, JSON.stringify(result.profile))
  }
}

/** Counts and times a stream of bytes. */
export async function timeStream(stream: () => AsyncIterable<Uint8Array>): Promise<Fetched> {
  const startMs = performance.now()
  let bytes = 0
  for await (const part of stream()) bytes += part.byteLength
  return { bytes, seconds: (performance.now() - startMs) / 1000 }
}

/** Calls `get` for each of a work's blocks, `window` at a time; times all, and each where they come one by one. */
export async function timeBlocks<T>(work: BlocksWork, ids: readonly T[], get: (id: T) => Promise<Uint8Array>): Promise<Fetched> {
  const warmUp = work.warmUpBlocks ?? 0
  for (const id of ids.slice(0, warmUp)) await get(id)
  const timed = ids.slice(warmUp).values()
  const latenciesMs: number[] = []
  let bytes = 0
  const startMs = performance.now()
  const lane = async (): Promise<void> => {
    for (const id of timed) {
      const askedMs = performance.now()
      const block = await get(id)
      bytes += block.byteLength
      if (work.window === 1) latenciesMs.push(performance.now() - askedMs)
    }
  }
  await Promise.all(Array.from({ length: work.window }, lane))
  return { bytes, seconds: (performance.now() - startMs) / 1000, latenciesMs }
}
