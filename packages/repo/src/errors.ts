import { ShardswapError } from '@shardswap/interface'

/** Another process, or another part of this one, has the repo open. */
export class RepoLockedError extends ShardswapError {
  static readonly code = 'ERR_REPO_LOCKED'
  override readonly name = 'RepoLockedError'
  override readonly code = RepoLockedError.code
  /** The process that holds the repo, or undefined where it has not told its id yet. */
  readonly pid: number | undefined
  constructor(path: string, pid: number | undefined) {
    const holder = pid === process.pid ? 'this very process' : 'another process'
    super(
      `the repo at ${path} is in use by ${holder}${pid === undefined ? '' : ` (pid ${pid})`}: ` +
        'stop it, talk to it over its RPC, or choose another repo with SHARDSWAP_PATH or --repo'
    )
    this.pid = pid
  }
}

/** The repo was written by a version whose layout this one does not know. */
export class RepoVersionError extends ShardswapError {
  static readonly code = 'ERR_REPO_VERSION'
  override readonly name = 'RepoVersionError'
  override readonly code = RepoVersionError.code
}

/** There is no repo at the path. */
export class RepoMissingError extends ShardswapError {
  static readonly code = 'ERR_REPO_MISSING'
  override readonly name = 'RepoMissingError'
  override readonly code = RepoMissingError.code
  constructor(path: string) {
    super(`there is no repo at ${path}: make one with \`shardswap init\`, or name another with SHARDSWAP_PATH or --repo`)
  }
}

/** There is a repo at the path already; it is left as it is. */
export class RepoExistsError extends ShardswapError {
  static readonly code = 'ERR_REPO_EXISTS'
  override readonly name = 'RepoExistsError'
  override readonly code = RepoExistsError.code
  constructor(path: string) {
    super(`there is a repo at ${path} already: it was left as it is`)
  }
}

/** A file of the repo cannot be read as what it should be. The message says what to do. */
export class RepoCorruptError extends ShardswapError {
  static readonly code = 'ERR_REPO_CORRUPT'
  override readonly name = 'RepoCorruptError'
  override readonly code = RepoCorruptError.code
}

/** The config file holds something that no run could accept. The message names the key. */
export class ConfigError extends ShardswapError {
  static readonly code = 'ERR_CONFIG'
  override readonly name = 'ConfigError'
  override readonly code = ConfigError.code
}
