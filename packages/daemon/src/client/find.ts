/** Which daemon, if any, serves a repo. */
import { realpath } from 'node:fs/promises'
import { TimeoutError } from '@shardswap/interface'
import { apiAddress } from '@shardswap/repo'
import { hostPort } from '../address.ts'
import { startDeadline } from '../deadline.ts'
import { DaemonUnreachableError } from '../errors.ts'
import { probeTimeoutMs } from '../limits.ts'
import { programName, type VersionShape } from '../shapes.ts'
import { call, json } from './http.ts'
import { RemoteNode } from './remote-node.ts'

/** The node at an address of the user's. Errors: DaemonUnreachableError. */
export async function connectDaemon(api: string, signal?: AbortSignal): Promise<RemoteNode> {
  await probe(api, signal)
  return new RemoteNode(hostPort(api))
}

/** The daemon that serves the repo at `path`, or undefined where none does: an address left behind by a crash is not believed. */
export async function findDaemon(path: string, outer?: AbortSignal): Promise<RemoteNode | undefined> {
  const api = await apiAddress(path)
  if (api === undefined) return undefined
  try {
    const { Program, RepoPath } = await probe(api, outer)
    // Another daemon may have taken the port since.
    if (Program !== programName || (await canonical(RepoPath)) !== (await canonical(path))) return undefined
  } catch (error) {
    if (outer?.aborted !== true && (error instanceof DaemonUnreachableError || error instanceof TimeoutError)) return undefined
    throw error
  }
  return new RemoteNode(hostPort(api))
}

async function probe(api: string, outer: AbortSignal | undefined): Promise<VersionShape> {
  const deadline = startDeadline(outer, probeTimeoutMs)
  try {
    return await json<VersionShape>(await call(hostPort(api), 'version', {}, { signal: deadline.signal }))
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
