import {
  AbortError,
  HashMismatchError,
  InvalidCidError,
  InvalidParametersError,
  MalformedError,
  NoPeersError,
  NotFoundError,
  ShardswapError,
  StoppedError,
  TimeoutError,
  TooLargeError
} from '@shardswap/interface'
import { CollectionError, RepoFullError } from './gc/errors.ts'
import { PinError } from './pins/errors.ts'
import { ConfigError } from '@shardswap/repo'

/** The call needs peers, and this node has none: it is offline. */
export class OfflineError extends ShardswapError {
  static readonly code = 'ERR_OFFLINE'
  override readonly name = 'OfflineError'
  override readonly code = OfflineError.code
}

/** A peer could not be reached at the address given. */
export class ConnectError extends ShardswapError {
  static readonly code = 'ERR_CONNECT'
  override readonly name = 'ConnectError'
  override readonly code = ConnectError.code
}

/** An address to listen on is taken or not ours. The message names it. */
export class ListenError extends ShardswapError {
  static readonly code = 'ERR_LISTEN'
  override readonly name = 'ListenError'
  override readonly code = ListenError.code
}

/** The daemon takes a token, and none or another was shown. */
export class UnauthorizedError extends ShardswapError {
  static readonly code = 'ERR_UNAUTHORIZED'
  override readonly name = 'UnauthorizedError'
  override readonly code = UnauthorizedError.code
}

/** The daemon has as much to do as it may take on at once; the same call may go well a moment later. */
export class BusyError extends ShardswapError {
  static readonly code = 'ERR_BUSY'
  override readonly name = 'BusyError'
  override readonly code = BusyError.code
}

/** Nobody answers at the daemon's address, or not as a daemon would. */
export class DaemonUnreachableError extends ShardswapError {
  static readonly code = 'ERR_DAEMON_UNREACHABLE'
  override readonly name = 'DaemonUnreachableError'
  override readonly code = DaemonUnreachableError.code
}

/** An error that a daemon reported and that has no class here; `code` is the daemon's. */
export class RemoteError extends ShardswapError {
  override readonly name: string
  override readonly code: string
  constructor(message: string, name: string, code: string) {
    super(message)
    this.name = name
    this.code = code
  }
}

const known = [
  NotFoundError,
  NoPeersError,
  TimeoutError,
  AbortError,
  StoppedError,
  HashMismatchError,
  InvalidCidError,
  TooLargeError,
  MalformedError,
  InvalidParametersError,
  OfflineError,
  ConnectError,
  ListenError,
  UnauthorizedError,
  ConfigError,
  CollectionError,
  RepoFullError,
  PinError,
  BusyError
]

/** The name and code of anything thrown; what is not ours gets a general code. */
export function describeError(error: unknown): { message: string; name: string; code: string } {
  if (!(error instanceof Error)) return { message: String(error), name: 'Error', code: 'ERR_UNKNOWN' }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'ERR_UNKNOWN'
  const message = error.message === '' ? error.name : error.message
  return { message, name: error.name, code }
}

/** The error that a daemon described, as the class that the same failure has in this process. */
export function errorFrom(message: string, name: string, code: string): Error {
  const found = known.find((candidate) => candidate.code === code)
  return found === undefined ? new RemoteError(message, name, code) : new found(message)
}

/**
 * Why a call under `signal` ended: the signal's own reason where it was given
 * up, so that a timeout is a TimeoutError wherever it was noticed.
 */
export function reasonFor(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted !== true) return error
  const reason: unknown = signal.reason
  // The same end, told with more words.
  if (error instanceof TimeoutError && error.cause === reason) return error
  if (reason instanceof ShardswapError) return reason
  if (reason instanceof Error && reason.name === 'TimeoutError') return new TimeoutError(reason.message)
  return new AbortError()
}
