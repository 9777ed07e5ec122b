import { ShardswapError } from '@shardswap/interface'

/** A collection could not be made, or not to its end: a block that a pin leads to is missing, or the disk refused. */
export class CollectionError extends ShardswapError {
  static readonly code = 'ERR_COLLECTION'
  override readonly name = 'CollectionError'
  override readonly code = CollectionError.code
}

/** The repo is as large as its config allows, and what is in it is pinned or in use. */
export class RepoFullError extends ShardswapError {
  static readonly code = 'ERR_REPO_FULL'
  override readonly name = 'RepoFullError'
  override readonly code = RepoFullError.code
}
