import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ChildControl, startChild } from '@shardswap-test/cluster/child'
import type { Actor } from './actors/api.ts'
import { percentile } from './figures.ts'
import { openLinks, type Links, type LinkPlan } from './links.ts'
import { workBytes, type Fetched, type Offer, type Work } from './work.ts'

/** Numbers of one run, by name: `mbPerS`, `p50Ms`, … A megabyte is a million bytes. */
export type Sample = Readonly<Record<string, number>>

/** One set-up of a bench: what is moved, and from how many providers. */
export interface SetUp {
  readonly name: string
  readonly work: Work
  readonly providers: number
  /** What lies between the downloader and its providers; left out: nothing. */
  readonly links?: LinkPlan
  /** Where nothing is moved: which core decides. */
  readonly core?: 'session' | 'broker'
}

export interface RunOptions {
  /** Where CPU profiles go, if any are wanted. */
  readonly profileFolder?: string | undefined
}

/** Somebody who can do the work: starts fresh processes, does it once, ends them. */
export type Contender = (setUp: SetUp, options: RunOptions) => Promise<Sample>

interface Stop {
  stop(): Promise<void>
  /** Resolves where it ends by itself. */
  readonly lost?: Promise<Error>
}

/** Time for identify and the first wantlists of fresh connections, in milliseconds; before the clock starts. */
export const settleMs = 300

/** Runs, and ends afterwards all that was kept. Fails as soon as one of these ends by itself: what waits for it might wait for ever. */
export async function withChildren<T>(run: (keep: <C extends Stop>(child: Promise<C>) => Promise<C>) => Promise<T>): Promise<T> {
  const children: Stop[] = []
  const lost = Promise.withResolvers<never>()
  let isOver = false
  const keep = async <C extends Stop>(starting: Promise<C>): Promise<C> => {
    const child = await starting
    if (isOver) {
      await child.stop()
      throw new Error('all has ended while this was starting')
    }
    children.push(child)
    void child.lost?.then(lost.reject)
    return child
  }
  try {
    return await Promise.race([run(keep), lost.promise])
  } finally {
    isOver = true
    await Promise.all(children.map(async (child) => await child.stop()))
  }
}

/** The figures of a transfer, and of the links that it went through. */
export async function sampleOf(work: Work, fetched: Fetched, links: Links | undefined): Promise<Sample> {
  const { bytes, seconds, latenciesMs, duplicateBytes } = fetched
  const blocks = work.kind === 'blocks' ? work.blocks - (work.warmUpBlocks ?? 0) : Math.ceil(work.bytes / work.leafBytes)
  const latencies = latenciesMs !== undefined && latenciesMs.length > 0
  return {
    mbPerS: bytes / 1e6 / seconds,
    blocksPerS: blocks / seconds,
    seconds,
    ...(latencies ? { p50Ms: percentile(latenciesMs, 0.5), p99Ms: percentile(latenciesMs, 0.99) } : {}),
    ...(duplicateBytes === undefined ? {} : { duplicateShare: duplicateBytes / workBytes(work) }),
    ...(await links?.sample(workBytes(work), bytes / 1e6 / seconds))
  }
}

/** Throws where not all of the work's bytes have come. */
export function assertWhole(work: Work, fetched: Fetched): void {
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
  /** The links' delay where it is not the set-up's. */
  readonly delayMs?: number
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

/** Makes the content at each provider, and connects the downloader to all of them, through links where the set-up has some. */
async function prepare(
  downloader: Actor,
  sources: readonly Actor[],
  { work, links: plan }: SetUp,
  keep: (links: Promise<Links>) => Promise<Links>
): Promise<{ offer: Offer; links: Links | undefined }> {
  const offers: Offer[] = []
  const addresses: string[] = []
  // One after another: the last one's garbage is then not all in memory at once on a small machine.
  for (const source of sources) {
    offers.push(await source.provide(work))
    addresses.push((await source.addresses())[0] ?? '')
  }
  const links = plan === undefined ? undefined : await keep(openLinks(plan, addresses))
  for (const address of links?.addresses ?? addresses) await downloader.connect(address)
  await sleep(settleMs)
  return { offer: offers[0] ?? {}, links }
}

/** Peers of one kind, each in a process of its own: providers, and one downloader. */
export function actorContender(options: ActorOptions): Contender {
  const { script, args = [], memory = false, countsBytes = true } = options
  const url = new URL(`./actors/${script}-process.ts`, import.meta.url)
  return async (setUp, { profileFolder }) =>
    await withChildren(async (keep) => {
      const { name, work, providers } = setUp
      const start = async (title: string): Promise<Actor & ChildControl> => await keep(startChild<Actor>(url, title, args))
      const starting = Array.from({ length: options.providers ?? providers }, async (_, index) => await start(`provider ${index + 1}`))
      const sources = await Promise.all(starting)
      const downloader = await start('downloader')
      const actors = [downloader, ...sources]
      // Before anything is made or fetched: what is left of making blocks shall not pass for idle.
      const idle = memory ? await idleBytes(actors) : []
      const plan = setUp.links === undefined ? {} : { links: { ...setUp.links, delayMs: options.delayMs ?? setUp.links.delayMs } }
      const { offer, links } = await prepare(downloader, sources, { ...setUp, ...plan }, keep)
      if (memory) await idleBytes(actors)
      const cpuBefore = await cpuSeconds(actors)
      const fetch = async (): Promise<Fetched> => await downloader.fetch(work, offer)
      const title = `${script}-${name.replaceAll(/\W+/g, '-')}`
      const timed = async (): Promise<Fetched> => await profiled(actors, profileFolder, title, fetch)
      const fetched = await (links?.during(workBytes(work), sources, timed) ?? timed())
      if (countsBytes) assertWhole(work, fetched)
      const cpuAfter = await cpuSeconds(actors)
      const sample = { ...(await sampleOf(work, fetched, links)), ...cpuUsed(cpuBefore, cpuAfter) }
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
