/** Kubo for the tests: built once from the pinned module into the user's cache folder, by one process at a time. */
import { spawn, spawnSync } from 'node:child_process'
import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** The version in `kubo/go.mod`; the cache is keyed by it. */
export const kuboVersion = 'v0.42.0'

/** How long a test's hook may wait for a first build, in milliseconds. */
export const kuboBuildMs = 900_000

/** How often a running or awaited build says so, in milliseconds. */
const progressMs = 15_000

/** How often a process looks whether another one's build is done, in milliseconds. */
const lockPollMs = 500

const moduleFolder = fileURLToPath(new URL('../kubo', import.meta.url))

/** Where the binary is, or will be. */
export function kuboPath(env: NodeJS.ProcessEnv = process.env): string {
  const cache = env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  return join(cache, 'shardswap', `kubo-${kuboVersion}`, process.platform === 'win32' ? 'ipfs.exe' : 'ipfs')
}

/** Whether Go is on the path. */
function hasGo(): boolean {
  return spawnSync('go', ['version'], { stdio: 'ignore' }).status === 0
}

/** Whether Kubo is here or can be built here. Where not, it says so on standard error, unmistakably. */
export function kuboAvailable(testFile: string): boolean {
  if (existsSync(kuboPath()) || hasGo()) return true
  const line = '='.repeat(72)
  console.warn(
    `${line}\nLEFT OUT: ${basename(testFile)} needs Kubo ${kuboVersion}, which is not built,\nand no go is on the path to build it.\n${line}`
  )
  return false
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false
  )
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Takes the lock, or returns false where the lock's owner is at work; a dead owner's lock is taken away. */
async function takeLock(lock: string): Promise<boolean> {
  try {
    await writeFile(lock, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
  const owner = Number(await readFile(lock, 'utf8').catch(() => ''))
  // An empty lock is one being written right now.
  if (owner !== 0 && !isRunning(owner)) await rm(lock, { force: true })
  return false
}

async function goBuild(output: string, log: (line: string) => void): Promise<void> {
  const startMs = performance.now()
  const child = spawn('go', ['build', '-o', output, 'github.com/ipfs/kubo/cmd/ipfs'], {
    cwd: moduleFolder,
    env: { ...process.env, GOFLAGS: '-mod=readonly' },
    stdio: ['ignore', 'ignore', 'pipe']
  })
  const tail: string[] = []
  let downloads = 0
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    downloads += text.split('go: downloading').length - 1
    tail.push(text)
    if (tail.length > 20) tail.shift()
  })
  const timer = setInterval(() => {
    log(`building Kubo ${kuboVersion}: ${Math.round((performance.now() - startMs) / 1000)} s, ${downloads} modules downloaded`)
  }, progressMs)
  const { promise, resolve, reject } = Promise.withResolvers<number | null>()
  child.on('error', reject).on('exit', resolve)
  const code = await promise.finally(() => clearInterval(timer))
  if (code !== 0) throw new Error(`go build of Kubo ${kuboVersion} failed (code ${code}):\n${tail.join('')}`)
}

async function buildUnderLock(path: string, lock: string, log: (line: string) => void): Promise<void> {
  try {
    // Another process may have finished between our look and our lock.
    if (await exists(path)) return
    log(`building Kubo ${kuboVersion} into ${path}; the first time takes some minutes and some gigabytes`)
    const unfinished = `${path}.${process.pid}`
    await goBuild(unfinished, log)
    await rename(unfinished, path)
    log(`built Kubo ${kuboVersion}`)
  } finally {
    await rm(lock, { force: true })
  }
}

/** The path of Kubo's binary, after building it where it is not there yet. Errors: where Go is missing or fails. */
export async function kuboBinary(log: (line: string) => void = (line) => console.warn(line)): Promise<string> {
  const path = kuboPath()
  const lock = `${path}.lock`
  await mkdir(join(path, '..'), { recursive: true })
  for (let polls = 0; !(await exists(path)); polls++) {
    if (await takeLock(lock)) {
      await buildUnderLock(path, lock, log)
      continue
    }
    if (polls % (progressMs / lockPollMs) === 0) log(`waiting for another process that builds Kubo ${kuboVersion}`)
    await sleep(lockPollMs)
  }
  return path
}

if (import.meta.main) console.log(await kuboBinary())
