/** `shardswap demo`: several peers on this machine, one file, real connections. */
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { demoHash } from './content.ts'
import { DemoPeer } from './demo-peer.ts'
import type { DemoContent, DemoFetched, DemoShare } from './messages.ts'

export interface DemoOptions {
  /** Peers in all, the one that fetches included. */
  readonly peers: number
  readonly bytes: number
  readonly file?: string
  /** End one provider after a third of the bytes. */
  readonly kill: boolean
  readonly signal: AbortSignal
}

/** What the demo tells while it runs. */
export interface DemoEvents {
  started(peers: number): void
  adding(content: DemoContent, bytes: number): void
  fetching(bytes: number): void
  progress(bytes: number, shares: readonly DemoShare[]): void
  killed(peer: string): void
}

/** The JSON of the demo. */
export interface DemoResult {
  readonly ok: boolean
  readonly bytes: number
  readonly seconds: number
  readonly contentMatches: boolean
  readonly duplicateBlocks: number
  readonly duplicateBytes: number
  readonly killed: string | null
  readonly providers: readonly DemoShare[]
}

/** Runs the demo. No process and no file is left, however it ends. */
export async function runDemo(options: DemoOptions, events: DemoEvents): Promise<DemoResult> {
  const content: DemoContent = options.file === undefined ? { bytes: options.bytes } : { file: resolve(options.file) }
  const bytes = 'file' in content ? (await stat(content.file)).size : content.bytes
  const folder = await mkdtemp(join(tmpdir(), 'shardswap-demo-'))
  const peers: DemoPeer[] = []
  try {
    for (let i = 1; i <= options.peers; i++) peers.push(new DemoPeer(join(folder, `peer-${i}`)))
    return await swap(peers, content, bytes, options, events)
  } finally {
    await Promise.all(peers.map(async (peer) => await peer.kill()))
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function swap(
  peers: readonly DemoPeer[],
  content: DemoContent,
  bytes: number,
  { kill, signal }: DemoOptions,
  events: DemoEvents
): Promise<DemoResult> {
  await Promise.all(
    peers.map(async (peer) => {
      const ready = await peer.until('ready', signal)
      peer.id = ready.peer
      peer.address = ready.address
    })
  )
  events.started(peers.length)
  const providers = peers.slice(0, -1)
  const fetcher = peers.at(-1)
  if (fetcher === undefined) throw new Error('the demo needs peers')
  events.adding(content, bytes)
  const [expected, root] = await Promise.all([demoHash(content), addToAll(providers, content, signal)])
  events.fetching(bytes)
  const { fetched, killed } = await fetchAll(fetcher, providers, { root, bytes, kill, signal }, events)
  const contentMatches = fetched.sha256 === expected && fetched.bytes === bytes
  const { seconds, duplicateBlocks, duplicateBytes } = fetched
  const shares = providers.map(
    ({ id }) => fetched.shares.find((share) => share.peer === id) ?? { peer: id, blocks: 0, bytes: 0, timeouts: 0, score: null }
  )
  const ok = contentMatches && (!kill || killed !== null)
  return { ok, bytes: fetched.bytes, seconds, contentMatches, duplicateBlocks, duplicateBytes, killed, providers: shares }
}

async function addToAll(providers: readonly DemoPeer[], content: DemoContent, signal: AbortSignal): Promise<string> {
  const roots = await Promise.all(
    providers.map(async (peer) => {
      peer.order({ type: 'add', content })
      return (await peer.until('added', signal)).root
    })
  )
  const [root = ''] = roots
  if (roots.some((other) => other !== root)) throw new Error('the peers made different roots of the file: did it change meanwhile?')
  return root
}

interface FetchJob {
  readonly root: string
  readonly bytes: number
  readonly kill: boolean
  readonly signal: AbortSignal
}

async function fetchAll(
  fetcher: DemoPeer,
  providers: readonly DemoPeer[],
  { root, bytes, kill, signal }: FetchJob,
  events: DemoEvents
): Promise<{ fetched: DemoFetched; killed: string | null }> {
  let killed: string | null = null
  const killOne = async (shares: readonly DemoShare[]): Promise<void> => {
    const [busiest] = [...shares].sort((a, b) => b.bytes - a.bytes)
    const victim = providers.find((peer) => peer.id === busiest?.peer) ?? providers[0]
    await victim?.kill()
    killed = victim?.id ?? null
    if (killed !== null) events.killed(killed)
    fetcher.order({ type: 'go' })
  }
  const done = Promise.withResolvers<never>()
  done.promise.catch(() => {})
  const fetching = fetcher.until('fetched', signal, (report) => {
    if (report.type === 'progress') events.progress(report.bytes, report.shares)
    if (report.type === 'paused') killOne(report.shares).catch(done.reject)
  })
  const pauseAfterBytes = kill ? Math.ceil(bytes / 3) : undefined
  fetcher.order({ type: 'fetch', root, addresses: providers.map((peer) => peer.address), pauseAfterBytes })
  const fetched = await Promise.race([fetching, done.promise])
  return { fetched, killed }
}
