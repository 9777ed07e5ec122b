import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startChild } from '@shardswap-test/interop/child'
import { startKubo, type KuboNode } from '@shardswap-test/interop/kubo'
import type { Actor } from './actors/api.ts'
import { percentile } from './figures.ts'
import { fileContent, workBytes, type Fetched, type FileWork, type Offer, type Work } from './work.ts'

/** Numbers of one run, by name: `mbPerS`, `p50Ms`, … A megabyte is a million bytes. */
export type Sample = Readonly<Record<string, number>>

/** One set-up of a bench: what is moved, and from how many providers. */
export interface SetUp {
  readonly name: string
  readonly work: Work
  readonly providers: number
}

export interface RunOptions {
  /** Where CPU profiles go, if any are wanted. */
  readonly profileFolder?: string | undefined
}

/** Somebody who can do the work: starts fresh processes, does it once, ends them. */
export type Contender = (setUp: SetUp, options: RunOptions) => Promise<Sample>

type Stop = { stop(): Promise<void> }

/** Time for identify and the first wantlists of fresh connections, in milliseconds; before the clock starts. */
const settleMs = 300

async function withChildren<T>(run: (keep: <C extends Stop>(child: Promise<C>) => Promise<C>) => Promise<T>): Promise<T> {
  const children: Stop[] = []
  try {
    return await run(async (starting) => {
      const child = await starting
      children.push(child)
      return child
    })
  } finally {
    await Promise.all(children.map(async (child) => await child.stop()))
  }
}

function sampleOf(work: Work, fetched: Fetched): Sample {
  const { bytes, seconds, latenciesMs, duplicateBytes } = fetched
  const blocks = work.kind === 'blocks' ? work.blocks - (work.warmUpBlocks ?? 0) : Math.ceil(work.bytes / work.leafBytes)
  const latencies = latenciesMs !== undefined && latenciesMs.length > 0
  return {
    mbPerS: bytes / 1e6 / seconds,
    blocksPerS: blocks / seconds,
    seconds,
    ...(latencies ? { p50Ms: percentile(latenciesMs, 0.5), p99Ms: percentile(latenciesMs, 0.99) } : {}),
    ...(duplicateBytes === undefined ? {} : { duplicateShare: duplicateBytes / workBytes(work) })
  }
}

function assertWhole(work: Work, fetched: Fetched): void {
  const warmUpBytes = work.kind === 'blocks' ? (work.warmUpBlocks ?? 0) * work.blockBytes : 0
  const expected = workBytes(work) - warmUpBytes
  if (fetched.bytes !== expected) throw new Error(`got ${fetched.bytes} bytes instead of ${expected}`)
}

interface ActorOptions {
  readonly script: string
  readonly args?: readonly string[]
  /** The number of providers where it is not the set-up's. */
  readonly providers?: number
  /** Measures memory beside the rate. */
  readonly memory?: boolean
  /** Whether bytes are counted: a ping moves none. */
  readonly countsBytes?: boolean
}

let profiles = 0

async function profiled<T>(actors: readonly Actor[], folder: string | undefined, name: string, run: () => Promise<T>): Promise<T> {
  if (folder === undefined) return await run()
  await mkdir(folder, { recursive: true })
  await Promise.all(actors.map(async (actor) => await actor.startProfile()))
  const result = await run()
  profiles += 1
  const path = (index: number): string => join(folder, `${name}-${profiles}-${index === 0 ? 'downloader' : `provider-${index}`}.cpuprofile`)
  await Promise.all(actors.map(async (actor, index) => await actor.stopProfile(path(index))))
  return result
}

async function idleBytes(actors: readonly Actor[]): Promise<number[]> {
  return await Promise.all(actors.map(async (actor) => await actor.idleBytes()))
}

async function cpuSeconds(actors: readonly Actor[]): Promise<number[]> {
  return await Promise.all(actors.map(async (actor) => await actor.cpuSeconds()))
}

// On a busy machine processor time says more than the clock does.
function cpuUsed(before: readonly number[], after: readonly number[]): Sample {
  const [downloaderCpuS = 0, ...providers] = after.map((seconds, index) => seconds - (before[index] ?? 0))
  return { downloaderCpuS, providersCpuS: providers.reduce((sum, seconds) => sum + seconds, 0) }
}

/** Peers of one kind, each in a process of its own: providers, and one downloader. */
export function actorContender(options: ActorOptions): Contender {
  const { script, args = [], memory = false, countsBytes = true } = options
  const url = new URL(`./actors/${script}-process.ts`, import.meta.url).href
  return async ({ name, work, providers }, { profileFolder }) =>
    await withChildren(async (keep) => {
      const start = async (title: string) => await keep(startChild<Actor>(url, title, args))
      const starting = Array.from({ length: options.providers ?? providers }, async (_, index) => await start(`provider ${index + 1}`))
      const sources = await Promise.all(starting)
      const downloader = await start('downloader')
      const actors = [downloader, ...sources]
      // Before anything is made or fetched: what is left of making blocks shall not pass for idle.
      const idle = memory ? await idleBytes(actors) : []
      const offers: Offer[] = []
      // One after another: the last one's garbage is then not all in memory at once on a small machine.
      for (const source of sources) offers.push(await source.provide(work))
      for (const source of sources) await downloader.connect((await source.addresses())[0] ?? '')
      await sleep(settleMs)
      if (memory) await idleBytes(actors)
      const cpuBefore = await cpuSeconds(actors)
      const fetched = await profiled(
        actors,
        profileFolder,
        `${script}-${name.replaceAll(/\W+/g, '-')}`,
        async () => await downloader.fetch(work, offers[0] ?? {})
      )
      if (countsBytes) assertWhole(work, fetched)
      const cpuAfter = await cpuSeconds(actors)
      const sample = { ...sampleOf(work, fetched), ...cpuUsed(cpuBefore, cpuAfter) }
      if (!memory) return sample
      const peaks = await Promise.all(actors.map(async (actor) => await actor.peakBytes()))
      const [downloaderMb = 0, ...providersMb] = peaks.map((peak, index) => (peak - (idle[index] ?? 0)) / 1e6)
      return {
        peakMb: Math.max(downloaderMb, ...providersMb),
        downloaderMb,
        providerMb: Math.max(...providersMb),
        ...sample
      }
    })
}

async function addToKubo(node: KuboNode, work: FileWork): Promise<string> {
  const options = ['-Q', '--pin=false', '--cid-version=1', '--raw-leaves', `--chunker=size-${work.leafBytes}`]
  return (await node.run(['add', ...options], fileContent(work.bytes))).toString('utf8').trim()
}

async function timeKubo(sources: readonly KuboNode[], args: readonly string[], work: FileWork): Promise<Sample> {
  return await withChildren(async (keep) => {
    const downloader = await keep(startKubo())
    for (const source of sources) await downloader.connect((await source.addresses())[0] ?? '')
    await sleep(settleMs)
    const startMs = performance.now()
    let bytes = 0
    for await (const part of downloader.stream(args)) bytes += part.byteLength
    const fetched = { bytes, seconds: (performance.now() - startMs) / 1000 }
    if (args[0] === 'cat') assertWhole(work, fetched)
    return sampleOf(work, { ...fetched, bytes: work.bytes })
  })
}

/** As `timeKubo`; undefined where it takes longer than `secondsMax`. */
async function timeKuboWithin(sources: readonly KuboNode[], args: readonly string[], work: FileWork, secondsMax: number) {
  const limit = Math.ceil(secondsMax)
  const startMs = performance.now()
  try {
    return await timeKubo(sources, [...args, `--timeout=${limit}s`], work)
  } catch (error) {
    if (performance.now() - startMs < limit * 1000) throw error
    return undefined
  }
}

/** Kubo at all ends. The better of `cat` and `pin add` counts, each at a downloader that has nothing yet. */
export const kuboContender: Contender = async ({ work, providers }) =>
  await withChildren(async (keep) => {
    if (work.kind !== 'file') throw new Error('Kubo is measured with files only')
    const sources = await Promise.all(Array.from({ length: providers }, async () => await keep(startKubo())))
    const roots: string[] = []
    for (const source of sources) roots.push(await addToKubo(source, work))
    const root = roots[0] ?? ''
    const cat = await timeKubo(sources, ['cat', root], work)
    // Of small blocks `pin add` fetches but dozens a second: once it is slower than `cat`, it need not end.
    const pin = await timeKuboWithin(sources, ['pin', 'add', '--progress=false', root], work, cat['seconds'] ?? 0)
    return pin !== undefined && (pin['seconds'] ?? 0) < (cat['seconds'] ?? 0) ? pin : cat
  })
