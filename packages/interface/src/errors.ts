/**
 * Errors that cross a package's border. `name` and `code` are stable: callers
 * match on them, and the daemon and the command report the same ones.
 */
export class ShardswapError extends Error {
  override readonly name: string = 'ShardswapError'
  readonly code: string = 'ERR_SHARDSWAP'
}

/** The block is not here, and nobody asked has it. */
export class NotFoundError extends ShardswapError {
  static readonly code: string = 'ERR_NOT_FOUND'
  override readonly name = 'NotFoundError'
  override readonly code: string = NotFoundError.code
}

/**
 * The block is not here, and there was nobody to ask: no peer is connected.
 * To callers who only ask whether it was found it is a NotFoundError, by class and name; its code is its own.
 */
export class NoPeersError extends NotFoundError {
  static override readonly code = 'ERR_NO_PEERS'
  override readonly code = NoPeersError.code
}

/** The caller's deadline passed before the answer came. */
export class TimeoutError extends ShardswapError {
  static readonly code = 'ERR_TIMEOUT'
  override readonly name = 'TimeoutError'
  override readonly code = TimeoutError.code
}

/** The caller gave the operation up. */
export class AbortError extends ShardswapError {
  static readonly code = 'ABORT_ERR'
  override readonly name = 'AbortError'
  override readonly code = AbortError.code
  constructor(message = 'The operation was aborted', options?: ErrorOptions) {
    super(message, options)
  }
}

/** The thing was stopped, or not yet started. */
export class StoppedError extends ShardswapError {
  static readonly code = 'ERR_STOPPED'
  override readonly name = 'StoppedError'
  override readonly code = StoppedError.code
}

/** No hash function is registered for a multihash code. */
export class UnknownHashError extends ShardswapError {
  static readonly code = 'ERR_UNKNOWN_HASH'
  override readonly name = 'UnknownHashError'
  override readonly code = UnknownHashError.code
  /** The multihash code that nobody here can compute. */
  readonly hashCode: number
  constructor(hashCode: number) {
    super(`unsupported hash 0x${hashCode.toString(16)}: no hash function is registered for this multihash code`)
    this.hashCode = hashCode
  }
}

/** Bytes do not hash to the CID that they came under. */
export class HashMismatchError extends ShardswapError {
  static readonly code = 'ERR_HASH_MISMATCH'
  override readonly name = 'HashMismatchError'
  override readonly code = HashMismatchError.code
}

/** A CID or a path that cannot be read as one. */
export class InvalidCidError extends ShardswapError {
  static readonly code = 'ERR_INVALID_CID'
  override readonly name = 'InvalidCidError'
  override readonly code = InvalidCidError.code
}

/** A block, a message or an archive is larger than its limit. */
export class TooLargeError extends ShardswapError {
  static readonly code = 'ERR_TOO_LARGE'
  override readonly name = 'TooLargeError'
  override readonly code = TooLargeError.code
}

/** Bytes on the wire or in an archive that do not follow their format. */
export class MalformedError extends ShardswapError {
  static readonly code = 'ERR_MALFORMED'
  override readonly name = 'MalformedError'
  override readonly code = MalformedError.code
}

/** A parameter that no run could accept: the caller's mistake. */
export class InvalidParametersError extends ShardswapError {
  static readonly code = 'ERR_INVALID_PARAMETERS'
  override readonly name = 'InvalidParametersError'
  override readonly code = InvalidParametersError.code
}

/** A promise that the programmer made did not hold: a bug, never an outcome of the network. */
export class AssertionError extends ShardswapError {
  static readonly code = 'ERR_ASSERTION'
  override readonly name = 'AssertionError'
  override readonly code = AssertionError.code
}

/** Throws AssertionError unless `condition` holds. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message)
}

/** What was thrown, for people to read. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** Whether this says that something is not there, whichever package's NotFoundError it is. */
export function isNotFound(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'NotFoundError'
}

/** What was thrown, as an Error: other code may throw anything. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new ShardswapError(`a value that is no error was thrown: ${JSON.stringify(thrown)}`)
}
