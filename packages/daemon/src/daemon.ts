import type { PeerLimits } from '@shardswap/peer'
import type { Repo } from '@shardswap/repo'
import { LocalNode } from './local/local-node.ts'
import type { DaemonMetrics } from './metrics/daemon-metrics.ts'
import { storeMetrics } from './metrics/store-table.ts'
import { pinFromBefore } from './pins/upgrade.ts'
import { RpcServer } from './rpc/server.ts'

/** What a daemon is made of. */
export interface DaemonInit {
  /** Opened by the caller; the daemon closes it, also where it cannot start. */
  readonly repo: Repo
  /** Multiaddrs to listen on for peers; the repo's config by default. */
  readonly listen?: readonly string[]
  /** Multiaddr of the RPC, on loopback unless there is a token; the repo's config by default. */
  readonly api?: string
  /** The token that callers of the RPC must show; the repo's config by default, which has none by default. */
  readonly apiAuth?: string
  /** How long a client of the RPC may take to send a request's headers, in milliseconds; `rpcHeadersMs` by default. */
  readonly rpcHeadersMs?: number
  /** What whoever runs the daemon should know, in words for people; the log has it too. */
  readonly onWarning?: (message: string) => void
  /** Limits of its peer that are other than the defaults. */
  readonly limits?: Partial<PeerLimits>
}

/** A node that serves peers and, on loopback, commands. */
export interface Daemon {
  readonly node: LocalNode
  /** Where the RPC answers. */
  readonly api: string
  /** Where peers reach the node. */
  readonly addresses: readonly string[]
  /** Resolves once a client has asked the daemon to stop; stopping is the caller's. */
  readonly shutdownAsked: Promise<void>
  /** Stops serving, then closes the repo. May be called again. */
  stop(): Promise<void>
}

/**
 * Starts a node on a repo and serves it. Nothing stays open where it cannot start.
 * Errors: ListenError names the address that is taken.
 */
export async function startDaemon(init: DaemonInit): Promise<Daemon> {
  const { repo } = init
  const listen = init.listen ?? repo.config.addresses.swarm
  const asked = Promise.withResolvers<void>()
  // Loaded here, for most commands start no daemon.
  const { DaemonMetrics } = await import('./metrics/daemon-metrics.ts')
  const metrics = new DaemonMetrics()
  const { onWarning, limits } = init
  await pinFromBefore(repo, onWarning)
  const node = new LocalNode({ repo, online: true, isLasting: true, listen, onWarning, limits, stats: metrics, metrics: metrics.forPeer })
  metrics.add(storeMetrics, () => node.storeState())
  const rpc = new RpcServer({
    node,
    repoPath: repo.path,
    metrics,
    token: init.apiAuth ?? repo.config.api.auth,
    origins: repo.config.api.origins,
    headersMs: init.rpcHeadersMs,
    onShutdown: () => asked.resolve()
  })
  let stopped: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    stopped ??= stopAll(repo, rpc, node, metrics)
    await stopped
  }
  try {
    const peer = await node.peer()
    const api = await rpc.listen(init.api ?? repo.config.addresses.api)
    await repo.setApiAddress(api)
    return { node, api, addresses: peer.addresses(), shutdownAsked: asked.promise, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function stopAll(repo: Repo, rpc: RpcServer, node: LocalNode, metrics: DaemonMetrics): Promise<void> {
  try {
    await repo.setApiAddress(undefined)
    await rpc.close()
  } finally {
    await node.close()
    metrics.stop()
  }
}
