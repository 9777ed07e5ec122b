import { type CID, ShardswapError } from '@shardswap/interface'

/** A block that was to be a file, a directory or a link is not UnixFS, or breaks its rules. */
export class NotUnixFSError extends ShardswapError {
  static readonly code = 'ERR_NOT_UNIXFS'
  override readonly name = 'NotUnixFSError'
  override readonly code = NotUnixFSError.code
}

/** The sizes that a file's nodes state disagree with each other or with its data. */
export class SizeMismatchError extends ShardswapError {
  static readonly code = 'ERR_SIZE_MISMATCH'
  override readonly name = 'SizeMismatchError'
  override readonly code = SizeMismatchError.code
}

/** The bytes of something that is no file were asked for. */
export class NotAFileError extends ShardswapError {
  static readonly code = 'ERR_NOT_A_FILE'
  override readonly name = 'NotAFileError'
  override readonly code = NotAFileError.code
}

/** A path goes on below something that is no directory. */
export class NotADirectoryError extends ShardswapError {
  static readonly code = 'ERR_NOT_A_DIRECTORY'
  override readonly name = 'NotADirectoryError'
  override readonly code = NotADirectoryError.code
}

/** Nobody here can find the links of a block of this codec. */
export class UnsupportedCodecError extends ShardswapError {
  static readonly code = 'ERR_UNSUPPORTED_CODEC'
  override readonly name = 'UnsupportedCodecError'
  override readonly code = UnsupportedCodecError.code
  constructor(cid: CID) {
    super(`unsupported codec 0x${cid.code.toString(16)} of ${cid.toString()}: its links cannot be read`)
  }
}

/** A DAG goes deeper than the caller allows. */
export class TooDeepError extends ShardswapError {
  static readonly code = 'ERR_TOO_DEEP'
  override readonly name = 'TooDeepError'
  override readonly code = TooDeepError.code
  constructor(cid: CID, dagDepthMax: number) {
    super(`${cid.toString()} is more than ${dagDepthMax} links below its root: the bound dagDepthMax`)
  }
}

/** A name in a directory cannot be a name in the target folder, or lies behind a link. */
export class UnsafePathError extends ShardswapError {
  static readonly code = 'ERR_UNSAFE_PATH'
  override readonly name = 'UnsafePathError'
  override readonly code = UnsafePathError.code
}
