/**
 * Keeps a Kubo daemon and its temporary folder on behalf of the process that forked it, and
 * takes both away when that process ends, however it ends: then the IPC channel closes.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveCommands } from '@shardswap-test/cluster/child'

/** How long a daemon may take to end after SIGTERM, in milliseconds, before it is killed. */
const termMs = 2_000

/** What the keeper does for the process that forked it. */
export interface Keeper {
  /** The temporary folder: the repo and what is to be added go into it. */
  folder(): Promise<string>
  /** Starts the daemon; resolves once it is ready. */
  startDaemon(binary: string, env: Readonly<Record<string, string>>): Promise<void>
  stopDaemon(): Promise<void>
  /** SIGSTOP: it does nothing more, its sockets stay open. */
  freezeDaemon(): Promise<void>
  /** SIGCONT. */
  thawDaemon(): Promise<void>
}

const folder = await mkdtemp(join(tmpdir(), 'shardswap-kubo-'))
let daemon: ChildProcess | undefined

async function stopDaemon(): Promise<void> {
  const child = daemon
  daemon = undefined
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  const timer = setTimeout(() => child.kill('SIGKILL'), termMs)
  child.kill('SIGTERM')
  await exited
  clearTimeout(timer)
}

async function ready(child: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let output = ''
  const take = (text: string): void => {
    output = (output + text).slice(-10_000)
    if (output.includes('Daemon is ready')) resolve()
  }
  child.stdout?.setEncoding('utf8').on('data', take)
  child.stderr?.setEncoding('utf8').on('data', take)
  child.on('error', reject)
  child.on('exit', (code) => reject(new Error(`ipfs daemon ended (code ${code}):\n${output}`)))
  await promise
}

const keeper: Keeper = {
  folder: async () => folder,
  startDaemon: async (binary, env) => {
    daemon = spawn(binary, ['daemon'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    await ready(daemon)
  },
  stopDaemon,
  freezeDaemon: async () => {
    daemon?.kill('SIGSTOP')
  },
  thawDaemon: async () => {
    daemon?.kill('SIGCONT')
  }
}

async function end(): Promise<void> {
  await stopDaemon()
  await rm(folder, { recursive: true, force: true })
}

// A Ctrl-C reaches the whole process group: clean up first, then go.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void end().then(() => process.exit(1)))

serveCommands(keeper, end)
