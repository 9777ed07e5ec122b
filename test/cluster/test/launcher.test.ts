import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { cidsOf, Cluster } from '../src/index.ts'

const file = { seed: 1, bytes: 3_000_000 }

function cluster(): Cluster {
  const made = new Cluster()
  onTestFinished(async () => await made.stop())
  return made
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function untilGone(pids: readonly number[]): Promise<void> {
  while (pids.some(runs)) await new Promise((resolve) => setTimeout(resolve, 20))
}

test('[C8] peers in memory and on disk fetch from each other as processes', async () => {
  const peers = cluster()
  const [onDisk, inMemory] = await Promise.all([peers.peer({ onDisk: true }), peers.peer()])
  const added = await onDisk.add(file)
  expect(await inMemory.connect(onDisk.address)).toBe(onDisk.peer)
  expect(await inMemory.cat(added.root)).toMatchObject({ bytes: file.bytes, sha256: added.sha256 })
  expect((await inMemory.stat()).fetch).toMatchObject({ blocks: added.blocks, duplicateBlocks: 0 })
  expect((await onDisk.stat()).serve.blocksSent).toBe(added.blocks)
  expect((await onDisk.ledger(inMemory.peer))?.wants).toEqual([])
})

test('a fetch that runs is looked at and aborted by its name', async () => {
  const peers = cluster()
  const [provider, downloader] = await peers.peers(2)
  const blocks = { seed: 2, count: 10, blockBytes: 1000 }
  await provider?.put({ ...blocks, count: 9 })
  await downloader?.connect(provider?.address ?? '')
  const abortOnceMostIsThere = async (): Promise<void> => {
    expect(await downloader?.reached('some', 9000)).toBe(true)
    const never = downloader?.reached('some', 10_000)
    await downloader?.abort('some')
    expect(await never).toBe(false)
  }
  const fetching = downloader?.getMany(cidsOf(blocks).map(String), { job: 'some' })
  await Promise.all([expect(fetching).rejects.toMatchObject({ name: 'AbortError' }), abortOnceMostIsThere()])
  expect((await downloader?.stat())?.wantlist).toEqual([])
})

test('a peer on disk that was killed is started again in its folder: the same peer, with its blocks', async () => {
  const peers = cluster()
  const folder = await peers.folder()
  const [before, downloader] = await Promise.all([peers.peer({ folder }), peers.peer()])
  const added = await before.add(file)
  await before.kill()
  const after = await peers.peer({ folder })
  expect(after.peer).toBe(before.peer)
  await downloader.connect(after.address)
  expect((await downloader.cat(added.root)).sha256).toBe(added.sha256)
})

test('a peer that announces nothing is dialled at the address that it listens on', async () => {
  const peers = cluster()
  const [quiet, other] = await Promise.all([peers.peer({ announceNothing: true }), peers.peer()])
  await other.connect(quiet.address)
  expect(quiet.address).toMatch(/^\/ip4\/127\.0\.0\.1\/tcp\/[1-9]\d*\/p2p\//)
  expect(await other.connect(quiet.address)).toBe(quiet.peer)
})

test('a killed peer is gone, a frozen one stays and goes on', async () => {
  const peers = cluster()
  const [killed, frozen] = await peers.peers(2)
  await killed?.kill()
  await expect(killed?.stat()).rejects.toThrow('the child process ended')
  frozen?.freeze()
  let answered = false
  const stat = frozen?.stat().then(() => {
    answered = true
  })
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(answered).toBe(false)
  frozen?.thaw()
  await stat
  frozen?.freeze()
  const pids = [killed?.pid ?? 0, frozen?.pid ?? 0]
  await peers.stop()
  expect(pids.filter(runs)).toEqual([])
})

test('a peer that somebody else kills is told by its name, whatever is asked of it and whenever', async () => {
  const peers = cluster()
  const [lost, stopped] = await peers.peers(2)
  process.kill(lost?.pid ?? 0, 'SIGKILL')
  // It is still connected now.
  const asked = Array.from({ length: 20 }, async () => await expect(lost?.stat()).rejects.toThrow(/^peer \d: the child process ended/))
  await Promise.all(asked)
  expect((await lost?.lost)?.message).toMatch(/^peer \d: the child process ended \(SIGKILL\)/)
  await expect(lost?.stat()).rejects.toThrow(/^peer \d: the child process ended/)
  let isLost = false
  void stopped?.lost.then(() => (isLost = true))
  await peers.stop()
  await new Promise((resolve) => setImmediate(resolve))
  expect(isLost).toBe(false)
})

async function answers(address: string): Promise<boolean> {
  const socket = connect(Number(/\/tcp\/(\d+)/.exec(address)?.[1]), '127.0.0.1')
  return (await new Promise((resolve) => {
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
  }).finally(() => socket.destroy())) as boolean
}

test('[F87] no peer and no port outlives the process that started them, not even a frozen one, nor one that fetches', async () => {
  const parent = spawn(process.execPath, [fileURLToPath(new URL('./orphans.process.ts', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  onTestFinished(() => void parent.kill('SIGKILL'))
  const [line] = (await once(createInterface(parent.stdout), 'line')) as [string]
  const started = JSON.parse(line) as { pid: number; address: string }[]
  expect(started.map(({ pid }) => runs(pid))).toEqual([true, true, true, true])
  expect(await answers(started[0]?.address ?? '')).toBe(true)
  parent.kill('SIGKILL')
  await untilGone(started.map(({ pid }) => pid))
  expect(await Promise.all(started.map(async ({ address }) => await answers(address)))).toEqual([false, false, false, false])
})
