/**
 * kill -9 of a daemon while it adds, fetches, pins, unpins and collects, at moments that a seed chooses. After each the
 * repo is opened here: what was acknowledged is there, what was not is there whole or not at all.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type CID, type Random, seededRandom } from '@shardswap/interface'
import { initRepo, openRepo } from '@shardswap/repo'
import { expect, onTestFinished, test } from 'vitest'
import { connectDaemon, openLocalNode, type SwapNode } from '../src/index.ts'
import { bytesOf, collect, newDaemon, someBytes } from './setup.ts'

const isFull = process.env['SHARDSWAP_SCALE'] === 'full'
const repos = isFull ? 12 : 1
/** Kills of each repo, which grows from one to the next. */
const rounds = isFull ? 5 : 3

/** What stands under a root: bytes that a seed gives. */
interface Content {
  readonly bytes: number
  readonly seed: number
}

/** What the daemon has said. What it was asked and has not answered is in none of these. */
interface Promised {
  readonly added: Map<string, Content>
  readonly pinned: Map<string, Content>
  readonly unpinned: Set<string>
}

interface Work {
  readonly node: SwapNode
  readonly random: Random
  readonly promised: Promised
  readonly remote: ReadonlyMap<string, Content>
  /** Told of each answer; kills the daemon at one of them. */
  readonly answered: () => void
  readonly killed: AbortSignal
}

function pick(random: Random, from: number, to: number): number {
  return from + Math.floor(random.next() * (to - from))
}

const chunkers = ['size-3000', 'size-40000'] as const

async function addOne(node: SwapNode, { bytes, seed }: Content): Promise<CID> {
  const source = { path: 'folder/file', content: someBytes(bytes, seed) }
  const added = await collect(node.add([source], { chunker: chunkers[seed % 2] ?? 'size-3000', cidVersion: 1 }))
  return (added.at(-1) as { cid: CID }).cid
}

async function adds({ node, random, promised, answered, killed }: Work): Promise<void> {
  while (!killed.aborted) {
    const content = { bytes: pick(random, 1, 300_000), seed: pick(random, 1, 1_000_000) }
    const cid = await addOne(node, content)
    promised.added.set(cid.toString(), content)
    answered()
  }
}

async function pins({ node, random, promised, remote, answered, killed }: Work): Promise<void> {
  const roots = [...remote.keys()]
  while (!killed.aborted) {
    const root = roots[pick(random, 0, roots.length)] ?? ''
    const isPinned = promised.pinned.delete(root)
    promised.unpinned.delete(root)
    if (isPinned) {
      await node.pins.rm([root])
      promised.unpinned.add(root)
    } else {
      // It may be pinned by a call whose answer never came.
      await node.pins.add([root], { patient: true })
      promised.pinned.set(root, remote.get(root) as Content)
    }
    answered()
  }
}

async function collections({ node, random, answered, killed }: Work): Promise<void> {
  while (!killed.aborted) {
    for (let count = pick(random, 1, 20); count > 0; count--)
      await node.blockPut(someBytes(pick(random, 1, 60_000), pick(random, 1, 1_000_000)))
    for await (const line of node.garbage.collect()) {
      if ('error' in line) throw line.error
      if (random.next() < 0.2) answered()
    }
    answered()
  }
}

/** Lets a daemon work until it is killed at its n-th answer. */
async function workUntilKilled(path: string, provider: string, remote: Work['remote'], promised: Promised, random: Random): Promise<void> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'daemon.process.ts'), path], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = once(child, 'exit')
  try {
    const [api] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    const node = await connectDaemon(api)
    await node.swarmConnect(provider)
    const killing = new AbortController()
    let left = pick(random, 2, isFull ? 120 : 50)
    const answered = (): void => {
      if (--left > 0) return
      killing.abort()
      child.kill('SIGKILL')
    }
    const work: Work = { node, random, promised, remote, answered, killed: killing.signal }
    const results = await Promise.allSettled([adds(work), pins(work), collections(work)])
    for (const result of results) if (result.status === 'rejected' && result.reason?.code !== 'ERR_DAEMON_UNREACHABLE') throw result.reason
    expect(await exit).toEqual([null, 'SIGKILL'])
  } finally {
    child.kill('SIGKILL')
    await exit
  }
}

async function checkContent(node: SwapNode, root: string, { bytes, seed }: Content, path: string): Promise<void> {
  const got = await bytesOf(node.cat(`${root}${path}`, { offline: true }))
  expect([root, Buffer.compare(got, someBytes(bytes, seed))]).toEqual([root, 0])
}

/** All that the daemon promised, as the repo has it now, before a collection and after. */
async function checkPromises(path: string, { added, pinned, unpinned }: Promised): Promise<void> {
  const repo = await openRepo(path)
  const node = await openLocalNode({ repo, online: false })
  try {
    expect(await readdir(join(path, 'blocks', 'unfinished'))).toEqual([])
    for (let pass = 0; pass < 2; pass++) {
      const broken = (await collect(node.repoVerify())).filter(({ ok }) => !ok)
      expect(broken).toEqual([])
      for (const check of await collect(node.pins.verify())) expect(check).toEqual({ cid: check.cid, bad: [] })
      const kept = new Set((await collect(node.pins.ls({ type: 'recursive' }))).map(({ cid }) => cid.toString()))
      expect([...added.keys(), ...pinned.keys()].filter((root) => !kept.has(root))).toEqual([])
      expect([...unpinned].filter((root) => kept.has(root))).toEqual([])
      for (const [root, content] of added) await checkContent(node, root, content, '/file')
      for (const [root, content] of pinned) await checkContent(node, root, content, '/file')
      for await (const line of node.garbage.collect()) expect(line).not.toHaveProperty('error')
    }
  } finally {
    await node.close()
  }
}

test(
  'kill -9 while it adds, fetches, pins, unpins and collects loses nothing acknowledged, and leaves no pin in part',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'shardswap-kill-'))
    onTestFinished(async () => await rm(folder, { recursive: true, force: true, maxRetries: 5 }))
    const provider = await newDaemon()
    const remote = new Map<string, Content>()
    for (let seed = 1; seed <= 8; seed++) {
      const content = { bytes: 40_000 * seed, seed: 2_000_000 + seed }
      remote.set((await addOne(provider.node, content)).toString(), content)
    }
    const seed = Number(process.env['SHARDSWAP_SEED'] ?? 1 + (process.pid % 100_000))
    process.stdout.write(`kill -9: SHARDSWAP_SEED=${seed}\n`)
    const random = seededRandom(seed)
    let added = 0
    for (let repo = 0; repo < repos; repo++) {
      const path = join(folder, `repo ${repo}`)
      await initRepo(path)
      const promised: Promised = { added: new Map(), pinned: new Map(), unpinned: new Set() }
      for (let round = 0; round < rounds; round++) {
        try {
          await workUntilKilled(path, provider.addresses[0] ?? '', remote, promised, random)
          await checkPromises(path, promised)
        } catch (error) {
          throw new Error(`round ${round} of repo ${repo} of SHARDSWAP_SEED=${seed}`, { cause: error })
        }
      }
      added += promised.added.size
    }
    expect(added).toBeGreaterThan(0)
  },
  isFull ? 1_800_000 : 180_000
)
