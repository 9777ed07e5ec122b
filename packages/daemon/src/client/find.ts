/** Which daemon, if any, serves a repo. */
import { realpath } from 'node:fs/promises'
import { TimeoutError } from '@shardswap/interface'
import { apiAddress, ConfigError, configFile } from '@shardswap/repo'
import { type HostPort, hostPort } from '../address.ts'
import { startDeadline } from '../deadline.ts'
import { DaemonUnreachableError } from '../errors.ts'
import { probeTimeoutMs } from '../limits.ts'
import { programName, type VersionShape } from '../shapes.ts'
import { call, json } from './http.ts'
import { RemoteNode } from './remote-node.ts'

/** The node at an address of the user's, with the token that it takes, if any. Errors: DaemonUnreachableError, UnauthorizedError. */
export async function connectDaemon(api: string, signal?: AbortSignal, token?: string): Promise<RemoteNode> {
  const daemon = { ...hostPort(api), token }
  await probe(daemon, api, signal)
  return new RemoteNode(daemon)
}

/**
 * The daemon that serves the repo at `path`, or undefined where none does: an address left behind by a crash is not
 * believed. The token is that of the repo's config where none is given. Errors: UnauthorizedError.
 */
export async function findDaemon(path: string, outer?: AbortSignal, token?: string): Promise<RemoteNode | undefined> {
  const api = await apiAddress(path)
  if (api === undefined) return undefined
  const daemon = { ...hostPort(api), token: token ?? (await tokenOf(path)) }
  try {
    const { Program, RepoPath } = await probe(daemon, api, outer)
    // Another daemon may have taken the port since.
    if (Program !== programName || (await canonical(RepoPath)) !== (await canonical(path))) return undefined
  } catch (error) {
    if (outer?.aborted !== true && (error instanceof DaemonUnreachableError || error instanceof TimeoutError)) return undefined
    throw error
  }
  return new RemoteNode(daemon)
}

/** The token that the config of a repo names; a config that cannot be read names none. */
async function tokenOf(path: string): Promise<string | undefined> {
  try {
    const token = await configFile(path).get('api.auth')
    return typeof token === 'string' ? token : undefined
  } catch (error) {
    if (error instanceof ConfigError) return undefined
    throw error
  }
}

async function probe(daemon: HostPort, api: string, outer: AbortSignal | undefined): Promise<VersionShape> {
  const deadline = startDeadline(outer, probeTimeoutMs)
  try {
    return await json<VersionShape>(await call(daemon, 'version', {}, { signal: deadline.signal }))
  } catch (error) {
    if (error instanceof SyntaxError) throw new DaemonUnreachableError(`what answers at ${api} is no daemon`, { cause: error })
    throw error
  } finally {
    deadline.clear()
  }
}

async function canonical(path: string): Promise<string> {
  return await realpath(path).catch(() => path)
}
