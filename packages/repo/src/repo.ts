import { lstat, opendir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { PeerId, PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import type { AbortOptions } from '@shardswap/interface'
import { LevelDatastore } from 'datastore-level'
import type { Datastore } from 'interface-datastore'
import { DiskEngine } from './blocks/disk-engine.ts'
import { EngineBlockstore } from './blocks/engine-blockstore.ts'
import { type ConfigFile, configFile } from './config/file.ts'
import { type ConfigJson, configText, defaultConfig, newConfig, parseConfig } from './config/parse.ts'
import { RepoCorruptError, RepoExistsError, RepoMissingError, RepoVersionError } from './errors.ts'
import { repoExists } from './folder.ts'
import { errorCode, readOptional, repoFiles, type RepoFiles, writeAtomic, writeIfAbsent } from './files.ts'
import { readIdentity, writeIdentity } from './identity.ts'
import { repoVersion } from './limits.ts'
import { forceToDisk, type HeldLock, takeLock } from './lock.ts'
import type { Repo, RepoConfig, RepoStat, VerifyResult } from './types.ts'

/** How a new repo is to be. */
export interface InitRepoOptions {
  /** The identity; without it a new Ed25519 key is made. */
  readonly privateKey?: PrivateKey
  /** What the config says beside or other than the defaults. */
  readonly config?: ConfigJson
}

/** How a repo is to be opened. */
export interface OpenRepoOptions {
  /** Make the repo where there is none. */
  readonly create?: boolean
  /**
   * Hash each block that is read from the disk, so that a damaged one is never
   * handed out. Default true: docs/decisions/0001-block-store.md has the price.
   */
  readonly verifyOnRead?: boolean
}

/** Makes a repo. Errors: RepoExistsError, ConfigError, and the system's own. */
export async function initRepo(path: string, options: InitRepoOptions = {}): Promise<void> {
  const files = repoFiles(path)
  if (await repoExists(path)) throw new RepoExistsError(path)
  const config = configText(newConfig(options.config))
  await writeIdentity(files.identity, options.privateKey)
  await writeIfAbsent(files.config, config)
  // Last, for it is what makes the folder a repo; of two that init at once, one wins.
  if (!(await writeIfAbsent(files.version, `${repoVersion}\n`))) throw new RepoExistsError(path)
}

/**
 * Opens a repo for this process alone, until `close`.
 * Errors: RepoMissingError, RepoVersionError, RepoLockedError, RepoCorruptError, ConfigError.
 */
export async function openRepo(path: string, options: OpenRepoOptions = {}): Promise<Repo> {
  const root = resolve(path)
  const files = repoFiles(root)
  const version = await requireVersion(root, files, options.create ?? false)
  const lock = await takeLock(root, files.lock, files.datastore)
  try {
    // The address of one that was killed is no longer anybody's.
    await rm(files.api, { force: true })
    const config = parseConfigFile(files, await readOptional(files.config))
    const privateKey = await readIdentity(files.identity)
    const engine = await DiskEngine.open(files.blocks, lock.afterCrash)
    const blocks = new EngineBlockstore(engine, { verifyOnRead: options.verifyOnRead ?? true })
    return new DiskRepo({ path: root, version, files, lock, config, privateKey, blocks })
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** Whether this version can go on with what is at `path`. Errors: RepoMissingError, RepoVersionError, RepoCorruptError. */
export async function checkRepo(path: string): Promise<void> {
  const root = resolve(path)
  await requireVersion(root, repoFiles(root), false)
}

async function requireVersion(root: string, files: RepoFiles, create: boolean): Promise<number> {
  if (create && !(await repoExists(root))) await initUnlessThere(root)
  const text = (await readOptional(files.version))?.toString('utf8').trim()
  if (text === undefined) throw new RepoMissingError(root)
  if (!/^[1-9][0-9]*$/.test(text)) {
    throw new RepoCorruptError(
      `${files.version} must hold the layout's number, ${repoVersion} for this shardswap, not ${JSON.stringify(text)}`
    )
  }
  if (Number(text) > repoVersion) {
    throw new RepoVersionError(
      `the repo at ${root} has version ${text}, and this shardswap knows versions up to ${repoVersion}: use a newer shardswap, or another repo`
    )
  }
  return Number(text)
}

async function initUnlessThere(root: string): Promise<void> {
  try {
    await initRepo(root)
  } catch (error) {
    // Another process made it in the meantime.
    if (!(error instanceof RepoExistsError)) throw error
  }
}

function parseConfigFile(files: RepoFiles, bytes: Uint8Array | undefined): RepoConfig {
  // A missing file is a config that leaves everything at its default.
  return bytes === undefined ? defaultConfig : parseConfig(files.config, new TextDecoder().decode(bytes))
}

/** What `Level` is under Node; only its types lag behind: they miss that `get` may give undefined. */
type LevelDatabase = Exclude<ConstructorParameters<typeof LevelDatastore>[0], string>

interface DiskRepoInit {
  readonly path: string
  readonly version: number
  readonly files: RepoFiles
  readonly lock: HeldLock
  readonly config: RepoConfig
  readonly privateKey: PrivateKey
  readonly blocks: EngineBlockstore
}

class DiskRepo implements Repo {
  readonly path: string
  readonly blocks: EngineBlockstore
  readonly datastore: Datastore
  readonly privateKey: PrivateKey
  readonly peerId: PeerId
  readonly config: RepoConfig
  readonly configFile: ConfigFile
  readonly #files: RepoFiles
  readonly #lock: HeldLock
  #version: number
  #closing: Promise<void> | undefined

  constructor(init: DiskRepoInit) {
    this.path = init.path
    this.#version = init.version
    this.blocks = init.blocks
    this.config = init.config
    this.configFile = configFile(init.path)
    this.privateKey = init.privateKey
    this.peerId = peerIdFromPrivateKey(init.privateKey)
    this.#files = init.files
    this.#lock = init.lock
    this.datastore = new LevelDatastore(init.lock.db as unknown as LevelDatabase)
  }

  get version(): number {
    return this.#version
  }

  async raiseVersion(): Promise<void> {
    await writeAtomic(this.#files.version, `${repoVersion}\n`)
    this.#version = repoVersion
  }

  async stat(): Promise<RepoStat> {
    const { path, version, config } = this
    const total = await this.blocks.total()
    return { path, version, ...total, diskBytes: await diskBytes(path), maxBytes: config.repo.maxBytes }
  }

  verify(options?: AbortOptions): AsyncIterable<VerifyResult> {
    return this.blocks.verify(options)
  }

  async sync(): Promise<void> {
    // The blocks first: what the datastore says of them must not outlive them.
    await this.blocks.sync()
    await forceToDisk(this.#lock.db, '/local/synced')
  }

  async setApiAddress(multiaddr: string | undefined): Promise<void> {
    if (multiaddr === undefined) await rm(this.#files.api, { force: true })
    else await writeAtomic(this.#files.api, `${multiaddr}\n`)
  }

  async close(): Promise<void> {
    this.#closing ??= this.#giveBack()
    await this.#closing
  }

  async #giveBack(): Promise<void> {
    try {
      await rm(this.#files.api, { force: true })
      await this.blocks.close()
    } finally {
      await this.#lock.release()
    }
  }
}

/** Bytes that the files under `folder` take on disk. A file that goes while we look counts nothing. */
async function diskBytes(folder: string): Promise<number> {
  let sum = 0
  for await (const entry of await opendir(folder)) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) sum += await diskBytes(path)
    else sum += await fileDiskBytes(path)
  }
  return sum
}

async function fileDiskBytes(path: string): Promise<number> {
  try {
    // The system counts in units of 512 bytes, whatever the file system's own.
    return (await lstat(path)).blocks * 512
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 0
    throw error
  }
}
