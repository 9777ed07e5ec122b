/** Opening and making a repo; what both need is loaded at the first call, for it takes longer than most commands run. */
import type { PrivateKey } from '@libp2p/interface'
import type { InitRepoOptions, OpenRepoOptions } from './repo.ts'
import type { Repo } from './types.ts'

/** Makes a repo. Errors: RepoExistsError, and the system's own. */
export async function initRepo(path: string, options?: InitRepoOptions): Promise<void> {
  const repo = await import('./repo.ts')
  await repo.initRepo(path, options)
}

/**
 * Opens a repo for this process alone, until `close`.
 * Errors: RepoMissingError, RepoVersionError, RepoLockedError, RepoCorruptError, ConfigError.
 */
export async function openRepo(path: string, options?: OpenRepoOptions): Promise<Repo> {
  const repo = await import('./repo.ts')
  return await repo.openRepo(path, options)
}

/** A repo that touches no disk; for tests. It is nobody else's, so there is no lock and no address file. */
export async function memoryRepo(options?: { readonly privateKey?: PrivateKey }): Promise<Repo> {
  const memory = await import('./memory.ts')
  return await memory.memoryRepo(options)
}

/** Whether this version can go on with what is at `path`. Errors: RepoMissingError, RepoVersionError, RepoCorruptError. */
export async function checkRepo(path: string): Promise<void> {
  const repo = await import('./repo.ts')
  await repo.checkRepo(path)
}
