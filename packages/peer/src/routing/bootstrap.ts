/** Peers to begin with. */
import type { Logger } from '@libp2p/interface'
import type { Host } from '../network/host.ts'
import type { NamedPeer } from './addresses.ts'
import { bootstrapBelowPeers, bootstrapEveryMs, routingDialTimeoutMs } from './limits.ts'

/** Dials them at the start, and whenever few peers are connected. */
export class Bootstrap {
  readonly #host: Host
  readonly #peers: readonly NamedPeer[]
  readonly #log: Logger
  readonly #ending = new AbortController()
  #timer: NodeJS.Timeout | undefined

  constructor(host: Host, peers: readonly NamedPeer[], log: Logger) {
    this.#host = host
    this.#peers = peers.filter(({ id }) => !id.equals(host.peerId))
    this.#log = log
  }

  start(): void {
    if (this.#peers.length === 0) return
    this.#dialMissing()
    this.#timer = setInterval(() => {
      if (this.#host.getPeers().length < bootstrapBelowPeers) this.#dialMissing()
    }, bootstrapEveryMs)
    this.#timer.unref()
  }

  stop(): void {
    this.#ending.abort()
    clearInterval(this.#timer)
  }

  #dialMissing(): void {
    for (const peer of this.#peers) if (this.#host.getConnections(peer.id).length === 0) void this.#dial(peer)
  }

  /** Never rejects. */
  async #dial({ id, addrs }: NamedPeer): Promise<void> {
    try {
      const signal = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(routingDialTimeoutMs)])
      await this.#host.dial([...addrs], { signal })
    } catch (error) {
      this.#log('peer %p, to begin with, cannot be reached - %e', id, error)
    }
  }
}
