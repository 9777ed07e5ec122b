import { memoryRepo, type Repo } from '@shardswap/repo'
import { onTestFinished } from 'vitest'
import { type Daemon, startDaemon } from '../src/index.ts'

/** A daemon in this process, on free ports and a repo in memory; it stops with the test. */
export async function newDaemon(repo?: Repo): Promise<Daemon> {
  const daemon = await startDaemon({
    repo: repo ?? (await memoryRepo()),
    listen: ['/ip4/127.0.0.1/tcp/0'],
    api: '/ip4/127.0.0.1/tcp/0'
  })
  onTestFinished(async () => await daemon.stop())
  return daemon
}

/** Where a daemon's calls are, for `fetch`. */
export function urlOf(daemon: Daemon): string {
  const [, , host, , port] = daemon.api.split('/')
  return `http://${host ?? ''}:${port ?? ''}/api/v0`
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

export async function bytesOf(parts: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await collect(parts))
}

/** Pseudo-random bytes, the same at each run. */
export function someBytes(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length)
  let state = seed
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    bytes[i] = state >>> 24
  }
  return bytes
}
