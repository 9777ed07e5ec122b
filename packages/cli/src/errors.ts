import { describeError, errorShape } from '@shardswap/daemon'
import { NotFoundError, ShardswapError } from '@shardswap/interface'
import { CommanderError } from 'commander'
import { PipeClosedError } from './terminal/output.ts'
import { printable } from './terminal/format.ts'

/** The command was called in a way that no run could accept. Exit code 2. */
export class UsageError extends ShardswapError {
  override readonly name = 'UsageError'
  override readonly code = 'ERR_USAGE'
}

/** The command's answer is "no", and has been printed. The exit code is that of `code`. */
export class NegativeAnswer extends Error {
  override readonly name = 'NegativeAnswer'
  readonly code: string
  constructor(message: string, code = 'ERR_NEGATIVE_ANSWER') {
    super(message)
    this.code = code
  }
}

/** What a command ends with. Scripts go by them, so a number keeps its meaning. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  timedOut: 4,
  noPeers: 5,
  notVerified: 6,
  interrupted: 130
} as const

/** The codes of errors that have an exit code of their own; all others end with 1. */
const exitCodesByError: Readonly<Record<string, number>> = {
  // Mistakes in an argument's text, which the caller can see before anything is done.
  ERR_USAGE: exitCodes.usage,
  ERR_INVALID_PARAMETERS: exitCodes.usage,
  ERR_NOT_FOUND: exitCodes.notFound,
  ERR_TIMEOUT: exitCodes.timedOut,
  ERR_NO_PEERS: exitCodes.noPeers,
  ERR_OFFLINE: exitCodes.noPeers,
  ERR_CONNECT: exitCodes.noPeers,
  ERR_HASH_MISMATCH: exitCodes.notVerified,
  ABORT_ERR: exitCodes.interrupted
}

export function exitCodeOf(error: unknown, interrupted: boolean): number {
  if (error instanceof PipeClosedError) return exitCodes.ok
  if (interrupted) return exitCodes.interrupted
  // Help and version that were asked for end with 0; help in place of a command does not.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  const { code } = describeError(error)
  return Object.hasOwn(exitCodesByError, code) ? (exitCodesByError[code] ?? exitCodes.failed) : exitCodes.failed
}

/** The one line that a user gets, or a program for `--json`; undefined where all is said already. */
export function errorLine(error: unknown, offline: boolean, json: boolean): string | undefined {
  if (error instanceof PipeClosedError || error instanceof CommanderError || error instanceof NegativeAnswer) return undefined
  if (json) return JSON.stringify(errorShape(error))
  const { message, name } = describeError(error)
  const text = printable((systemMessage(error) ?? message).replaceAll('\n', ' '))
  const kind = ['Error', 'UsageError'].includes(name) ? '' : `${name}: `
  const hint =
    error instanceof NotFoundError && offline && message.includes('not found locally')
      ? ': name a peer that has it with --peer MULTIADDR, or start "shardswap daemon" and connect it with "shardswap swarm connect"'
      : ''
  return `Error: ${kind}${text}${hint}`
}

const systemMessages: Record<string, string> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EISDIR: 'is a directory',
  ENOTDIR: 'is not a directory',
  EEXIST: 'is there already',
  ENOSPC: 'no space is left on the disk',
  EROFS: 'the file system is read-only',
  ELOOP: 'too many symlinks',
  ENAMETOOLONG: 'the name is too long for the file system'
}

/** What the file system said, in words. */
function systemMessage(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined
  const words = systemMessages[String(error.code)]
  if (words === undefined) return undefined
  return 'path' in error && typeof error.path === 'string' ? `${error.path}: ${words}` : words
}
