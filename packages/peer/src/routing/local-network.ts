/** Peers of the local network, by mDNS. */
import { type PeerKey, peerKey } from '@shardswap/interface'
import type { Logger, PeerInfo } from '@libp2p/interface'
import { mdns } from '@libp2p/mdns'
import type { Host } from '../network/host.ts'
import { mdnsDialsMax, mdnsPeersMax, mdnsRedialMs, routingDialTimeoutMs } from './limits.ts'

type MdnsFactory = ReturnType<typeof mdns>
type Mdns = ReturnType<MdnsFactory>

/** Dials what the local network shows: libp2p alone would note it and do nothing. */
export class LocalNetwork {
  readonly #log: Logger
  readonly #nowMs: () => number
  readonly #ending = new AbortController()
  /** When each was dialled last, the longest ago first. */
  readonly #dialledMs = new Map<PeerKey, number>()
  #host: Host | undefined
  #dials = 0

  constructor(log: Logger, nowMs: () => number) {
    this.#log = log
    this.#nowMs = nowMs
  }

  /** The discovery for libp2p. */
  discovery(serviceTag: string | undefined): (...components: Parameters<MdnsFactory>) => Mdns {
    const make = mdns(serviceTag === undefined ? {} : { serviceTag })
    return (...components) => {
      const found = make(...components)
      found.addEventListener('peer', (event) => void this.#found(event.detail))
      return found
    }
  }

  start(host: Host): void {
    this.#host = host
  }

  stop(): void {
    this.#ending.abort()
    this.#host = undefined
  }

  /** Never rejects. */
  async #found({ id, multiaddrs }: PeerInfo): Promise<void> {
    const host = this.#host
    const key = peerKey(id)
    const lastMs = this.#dialledMs.get(key)
    const nowMs = this.#nowMs()
    const isEarly = lastMs !== undefined && nowMs - lastMs < mdnsRedialMs
    if (host === undefined || this.#dials >= mdnsDialsMax || isEarly || id.equals(host.peerId)) return
    if (host.getConnections(id).length > 0) return
    this.#dialledMs.delete(key)
    this.#dialledMs.set(key, nowMs)
    const [oldest] = this.#dialledMs.keys()
    if (this.#dialledMs.size > mdnsPeersMax && oldest !== undefined) this.#dialledMs.delete(oldest)
    this.#dials++
    try {
      const signal = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(routingDialTimeoutMs)])
      await host.peerStore.merge(id, { multiaddrs })
      await host.dial(id, { signal })
    } catch (error) {
      this.#log('peer %p of the local network cannot be reached - %e', id, error)
    } finally {
      this.#dials--
    }
  }
}
