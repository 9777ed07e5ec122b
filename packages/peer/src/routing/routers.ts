/** All routers of a peer as one. */
import { type AbortOptions, type CID, NotFoundError, type PeerKey, peerKey } from '@shardswap/interface'
import type { Logger, PeerId } from '@libp2p/interface'
import { NoRouterError } from '../errors.ts'
import { providerRepeatsMax, providersNamedMax, routerTimeoutMs } from './limits.ts'
import { orAborted, together, untilAborted } from './together.ts'
import type { RoutedProvider, Router } from './types.ts'

/** Asks all at once. One that fails or hangs is logged and holds nobody back. */
export class Routers {
  readonly #routers: readonly Router[]
  readonly #log: Logger
  readonly #ending = new AbortController()

  constructor(routers: readonly Router[], log: Logger) {
    this.#routers = routers
    this.#log = log
  }

  get names(): readonly string[] {
    return this.#routers.map(({ name }) => name)
  }

  /** Whether there is one that can be told what is here. */
  get takesAnnouncements(): boolean {
    return this.#routers.some((router) => router.provide !== undefined)
  }

  stop(): void {
    this.#ending.abort()
  }

  /** Each provider once, as they come, until all routers are done, time is up, or `providersNamedMax` are named. */
  async *findProviders(cid: CID, { signal }: AbortOptions = {}): AsyncGenerator<RoutedProvider> {
    const seen = new Set<PeerKey>()
    const found = this.#all(signal, (router, signal) => router.findProviders?.(cid, { signal }))
    for await (const provider of found) {
      const key = peerKey(provider.id)
      if (seen.has(key)) continue
      seen.add(key)
      yield provider
      if (seen.size >= providersNamedMax) return
    }
    // Those that were given up are no failure of the search, unless it was the caller who gave up.
    signal?.throwIfAborted()
  }

  /** The first answer that has an address. Errors: NotFoundError, and the signal's reason. */
  async findPeer(peer: PeerId, { signal }: AbortOptions = {}): Promise<RoutedProvider> {
    const found = this.#all(signal, (router, signal) => one(router.findPeer?.(peer, { signal })))
    for await (const where of found) if (where.multiaddrs !== undefined && where.multiaddrs.length > 0) return where
    signal?.throwIfAborted()
    throw new NotFoundError(`no router knows where peer ${peer.toString()} is`)
  }

  /** Tells all that take announcements; one that takes it is enough. Errors: NoRouterError, else the first router's own. */
  async provide(cid: CID, { signal }: AbortOptions = {}): Promise<void> {
    const told = this.#routers.filter((router) => router.provide !== undefined)
    if (told.length === 0) throw new NoRouterError('there is no router that takes announcements: the DHT is off')
    const end = AbortSignal.any([this.#ending.signal, ...(signal === undefined ? [] : [signal])])
    const tell = async (router: Router): Promise<void> => await router.provide?.(cid, { signal: end })
    const results = await Promise.allSettled(told.map(async (router) => await orAborted(tell(router), end)))
    signal?.throwIfAborted()
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
    if (failures.length === results.length) throw failures[0]
  }

  async *#all(
    outer: AbortSignal | undefined,
    ask: (router: Router, signal: AbortSignal) => AsyncIterable<Omit<RoutedProvider, 'router'>> | undefined
  ): AsyncGenerator<RoutedProvider> {
    const done = new AbortController()
    const signal = AbortSignal.any([
      done.signal,
      this.#ending.signal,
      AbortSignal.timeout(routerTimeoutMs),
      ...(outer === undefined ? [] : [outer])
    ])
    const named = async function* (router: Router): AsyncGenerator<RoutedProvider> {
      const found = ask(router, signal)
      if (found === undefined) return
      const seen = new Set<PeerKey>()
      let repeats = 0
      for await (const { id, multiaddrs = [] } of untilAborted(found, signal)) {
        const key = peerKey(id)
        // One that repeats itself for ever would keep timers, and so every deadline, from their turn.
        if (seen.has(key) && ++repeats >= providerRepeatsMax) return
        seen.add(key)
        yield { id, multiaddrs, router: router.name }
        if (seen.size >= providersNamedMax) return
      }
    }
    try {
      yield* together(this.#routers.map(named), (at, error) => {
        if (!done.signal.aborted) this.#log('router %s failed - %e', this.#routers[at]?.name, error)
      })
    } finally {
      done.abort()
    }
  }
}

async function* one<T>(answer: Promise<T | undefined> | undefined): AsyncGenerator<T> {
  const value = await answer
  if (value !== undefined) yield value
}
