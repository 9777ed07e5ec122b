/** Runs the real command in real processes. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { onTestFinished, vi } from 'vitest'

// Each test runs several processes, on machines that may be busy.
vi.setConfig({ testTimeout: 180_000 })

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** Dozens of processes load the same modules: the compiled ones are kept between them. */
const compileCache = fileURLToPath(new URL('../../../node_modules/.cache/shardswap-cli', import.meta.url))

export const fixtures = fileURLToPath(new URL('../../../test/fixtures', import.meta.url))

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly bytes: Buffer
}

export interface RunOptions {
  readonly repo?: string
  readonly cwd?: string
  readonly stdin?: Uint8Array | string
  readonly env?: Record<string, string>
}

export class Running {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly finished: Promise<Finished>
  stdout = Buffer.alloc(0)
  stderr = ''
  readonly #watchers = new Set<() => void>()

  constructor(args: readonly string[], options: RunOptions = {}) {
    const env = { ...process.env, NODE_COMPILE_CACHE: compileCache, SHARDSWAP_PATH: options.repo ?? '/nonexistent/repo', ...options.env }
    this.child = spawn(process.execPath, [main, ...args], { env, cwd: options.cwd, stdio: ['pipe', 'pipe', 'pipe'] })
    this.child.stdout.on('data', (data: Buffer) => {
      this.stdout = Buffer.concat([this.stdout, data])
      for (const watch of this.#watchers) watch()
    })
    this.child.stderr.on('data', (data: Buffer) => {
      this.stderr += data.toString()
      for (const watch of this.#watchers) watch()
    })
    this.finished = new Promise((resolve) => {
      this.child.on('close', (code) => {
        resolve({ code, stdout: this.stdout.toString(), stderr: this.stderr, bytes: this.stdout })
      })
    })
  }

  /** Resolves once both outputs together hold a text; fails where the process ends before. */
  async says(text: string): Promise<void> {
    const found = Promise.withResolvers<void>()
    const watch = (): void => {
      if (this.stdout.includes(text) || this.stderr.includes(text)) found.resolve()
    }
    this.#watchers.add(watch)
    watch()
    void this.finished.then(({ code, stdout, stderr }) => {
      watch()
      found.reject(new Error(`ended with ${code} before it said "${text}": ${stdout} ${stderr}`))
    })
    await found.promise
    this.#watchers.delete(watch)
  }
}

/** Starts a command; it is killed at the end of the test where it still runs. */
export function start(args: readonly string[], options: RunOptions = {}): Running {
  const running = new Running(args, options)
  running.child.stdin.on('error', () => {})
  if (options.stdin !== undefined) running.child.stdin.end(options.stdin)
  onTestFinished(async () => {
    running.child.kill('SIGKILL')
    await running.finished
  })
  return running
}

export async function run(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return await start(args, { stdin: '', ...options }).finished
}

/** Runs a command that must succeed; what it printed, without the last line break. */
export async function ok(args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await run(args, options)
  if (code !== 0) throw new Error(`shardswap ${args.join(' ')} ended with ${code}: ${stderr}`)
  return stdout.trimEnd()
}

/** A folder that goes with the test. */
export async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'shardswap-cli-'))
  onTestFinished(async () => await rm(path, { recursive: true, force: true, maxRetries: 5 }))
  return path
}

/** A new repo in a folder that goes with the test. */
export async function newRepo(): Promise<string> {
  const repo = join(await folder(), 'repo')
  await ok(['init', '--profile', 'local'], { repo })
  return repo
}

/** A daemon on free ports; its address for `--peer`. */
export async function startDaemon(repo: string, ...args: string[]): Promise<{ daemon: Running; address: string }> {
  const daemon = start(
    ['daemon', '--init', '--init-profile', 'local', '--listen', '/ip4/127.0.0.1/tcp/0', '--api', '/ip4/127.0.0.1/tcp/0', ...args],
    { repo }
  )
  await daemon.says('Daemon is ready')
  const address = /Swarm listening on (\S+)/.exec(daemon.stdout.toString())?.[1] ?? ''
  return { daemon, address }
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
