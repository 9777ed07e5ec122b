import { type CID, type PeerKey, peerKey } from '@shardswap/interface'
import type { Logger } from '@libp2p/interface'
import type { PeerLimits } from '../limits.ts'
import type { Host } from '../network/host.ts'
import type { Provider, Routing } from '../types.ts'
import { untilAborted } from '../routing/together.ts'
import { type FetchProgress, progressEvent } from './progress.ts'

/** Searches that run at once; more are dropped, for each session asks again later. */
const searchesMax = 8
const searchTimeoutMs = 10_000
/** Providers looked at in one search, for each one that may be taken: the same, and ourselves, may be named without end. */
const namedPerProviderMax = 10

/** Hears of a provider that is connected. */
type Found = (provider: PeerKey) => void
type OnProgress = (event: FetchProgress) => void

/** Looks providers up in routing and connects to them; what fails is logged with its reason and skipped. */
export class Search {
  readonly #libp2p: Host
  readonly #routing: Routing | undefined
  readonly #limits: PeerLimits
  readonly #log: Logger
  readonly #abort = new AbortController()
  readonly #running = new Set<string>()

  constructor(libp2p: Host, routing: Routing | undefined, limits: PeerLimits, log: Logger) {
    this.#libp2p = libp2p
    this.#routing = routing
    this.#limits = limits
    this.#log = log
  }

  /** Searches that run now. */
  get running(): number {
    return this.#running.size
  }

  /** `found` hears of each provider that is connected then. */
  start(cid: CID, found: Found, onProgress: OnProgress = () => undefined): void {
    const text = cid.toString()
    const routing = this.#routing
    if (routing === undefined || this.#running.size >= searchesMax || this.#running.has(text)) return
    this.#running.add(text)
    this.#run(routing, cid, found, onProgress)
      .catch((error: unknown) => this.#log('search for providers of %s ended - %e', text, error))
      .finally(() => this.#running.delete(text))
      .catch(() => undefined)
  }

  stop(): void {
    this.#abort.abort()
  }

  async #run(routing: Routing, cid: CID, found: Found, onProgress: OnProgress): Promise<void> {
    const signal = AbortSignal.any([this.#abort.signal, AbortSignal.timeout(searchTimeoutMs)])
    const dials = new Map<string, Promise<void>>()
    let named = 0
    onProgress(progressEvent('shardswap:find-providers', { cid }))
    for await (const provider of untilAborted(routing.findProviders(cid, { signal }), signal)) {
      const id = provider.id.toString()
      if (!provider.id.equals(this.#libp2p.peerId) && !dials.has(id)) {
        onProgress(progressEvent('shardswap:provider', { cid, peer: id }))
        dials.set(id, this.#dial(provider, signal, { cid, found, onProgress }))
      }
      named += 1
      if (dials.size >= this.#limits.providersMax || named >= namedPerProviderMax * this.#limits.providersMax) break
    }
    await Promise.all(dials.values())
  }

  async #dial(
    provider: Provider,
    signal: AbortSignal,
    { cid, found, onProgress }: { cid: CID; found: Found; onProgress: OnProgress }
  ): Promise<void> {
    const peer = peerKey(provider.id)
    try {
      if (this.#libp2p.getConnections(provider.id).length > 0) {
        found(peer)
        return
      }
      if (provider.multiaddrs !== undefined && provider.multiaddrs.length > 0) {
        await this.#libp2p.peerStore.merge(provider.id, { multiaddrs: provider.multiaddrs })
      }
      onProgress(progressEvent('shardswap:connect', { cid, peer }))
      const { remoteAddr: address } = await this.#libp2p.dial(provider.id, { signal })
      onProgress(progressEvent('shardswap:connected', { cid, peer, address }))
    } catch (error) {
      this.#log('provider %p cannot be reached - %e', provider.id, error)
    }
  }
}
