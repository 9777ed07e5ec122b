import { randomBytes } from 'node:crypto'
import { type FileHandle, link, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

/** Where the repo is, unless the caller says otherwise: SHARDSWAP_PATH, else `~/.shardswap`. */
export function repoPath(env: Record<string, string | undefined> = process.env): string {
  const named = env['SHARDSWAP_PATH']
  return named === undefined || named === '' ? join(homedir(), '.shardswap') : resolve(named)
}

/** The names within a repo. */
export interface RepoFiles {
  /** The layout's number; written last, so a folder without it is no repo. */
  readonly version: string
  readonly config: string
  /** Who is changing the config, while somebody does. */
  readonly configLock: string
  /** The private key as libp2p's protobuf. */
  readonly identity: string
  /** Who has the repo open, for the error of others; LevelDB's own lock is what decides. */
  readonly lock: string
  /** The multiaddr of the RPC of the process that has the repo open. */
  readonly api: string
  readonly datastore: string
  readonly blocks: string
}

/** The names within the repo at `path`. */
export function repoFiles(path: string): RepoFiles {
  return {
    version: join(path, 'version'),
    config: join(path, 'config'),
    configLock: join(path, 'config.lock'),
    identity: join(path, 'identity.key'),
    lock: join(path, 'repo.lock'),
    api: join(path, 'api'),
    datastore: join(path, 'datastore'),
    blocks: join(path, 'blocks')
  }
}

/** The `code` of a system error, or undefined. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** Whether a process of this id runs now. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}

/** A file's bytes, or undefined where it does not exist. */
export async function readOptional(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}

async function writeAside(path: string, data: Uint8Array | string, mode: number): Promise<string> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const aside = `${path}.${randomBytes(6).toString('hex')}.tmp`
  let handle: FileHandle | undefined
  try {
    handle = await open(aside, 'wx', mode)
    await handle.writeFile(data)
    await handle.sync()
    return aside
  } catch (error) {
    await rm(aside, { force: true })
    throw error
  } finally {
    await handle?.close()
  }
}

/** Writes a file so that a reader, or a crash, sees the old content or the new one, never a part. */
export async function writeAtomic(path: string, data: Uint8Array | string, mode = 0o600): Promise<void> {
  const aside = await writeAside(path, data, mode)
  try {
    await rename(aside, path)
  } catch (error) {
    await rm(aside, { force: true })
    throw error
  }
}

/** As `writeAtomic`, but leaves an existing file alone. Returns whether it wrote. */
export async function writeIfAbsent(path: string, data: Uint8Array | string, mode = 0o600): Promise<boolean> {
  const aside = await writeAside(path, data, mode)
  try {
    await link(aside, path)
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  } finally {
    await rm(aside, { force: true })
  }
}
