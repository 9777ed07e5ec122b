import type { CID } from '@shardswap/interface'
import type { Libp2p, Logger } from '@libp2p/interface'
import type { PeerLimits } from '../limits.ts'
import type { Provider, Routing } from '../types.ts'

/** Searches that run at once; more are dropped, for each session asks again later. */
const searchesMax = 8
const searchTimeoutMs = 10_000

/** Looks providers up in routing and connects to them; what fails is logged with its reason and skipped. */
export class Search {
  readonly #libp2p: Libp2p
  readonly #routing: Routing | undefined
  readonly #limits: PeerLimits
  readonly #log: Logger
  readonly #abort = new AbortController()
  readonly #running = new Set<string>()

  constructor(libp2p: Libp2p, routing: Routing | undefined, limits: PeerLimits, log: Logger) {
    this.#libp2p = libp2p
    this.#routing = routing
    this.#limits = limits
    this.#log = log
  }

  /** Searches that run now. */
  get running(): number {
    return this.#running.size
  }

  start(cid: CID): void {
    const text = cid.toString()
    const routing = this.#routing
    if (routing === undefined || this.#running.size >= searchesMax || this.#running.has(text)) return
    this.#running.add(text)
    this.#run(routing, cid)
      .catch((error: unknown) => this.#log('search for providers of %s ended - %e', text, error))
      .finally(() => this.#running.delete(text))
      .catch(() => undefined)
  }

  stop(): void {
    this.#abort.abort()
  }

  async #run(routing: Routing, cid: CID): Promise<void> {
    const signal = AbortSignal.any([this.#abort.signal, AbortSignal.timeout(searchTimeoutMs)])
    const dials: Promise<void>[] = []
    for await (const provider of routing.findProviders(cid, { signal })) {
      signal.throwIfAborted()
      if (!provider.id.equals(this.#libp2p.peerId)) dials.push(this.#dial(provider, signal))
      if (dials.length >= this.#limits.providersMax) break
    }
    await Promise.all(dials)
  }

  async #dial(provider: Provider, signal: AbortSignal): Promise<void> {
    try {
      if (this.#libp2p.getConnections(provider.id).length > 0) return
      if (provider.multiaddrs !== undefined && provider.multiaddrs.length > 0) {
        await this.#libp2p.peerStore.merge(provider.id, { multiaddrs: provider.multiaddrs })
      }
      await this.#libp2p.dial(provider.id, { signal })
    } catch (error) {
      this.#log('provider %p cannot be reached - %e', provider.id, error)
    }
  }
}
