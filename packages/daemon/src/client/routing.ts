/** Routing, asked of a daemon. */
import { type AbortOptions, type CID, NotFoundError } from '@shardswap/interface'
import type { FindProvidersOptions, NodeRoutes, RoutedPeer, RoutingProvideOptions } from '../api/routing.ts'
import { routedPeersOf, type RoutingEventShape } from '../routing-shapes.ts'
import type { DaemonCalls } from './daemon-calls.ts'

export class RemoteRoutes implements NodeRoutes {
  readonly #calls: DaemonCalls

  constructor(calls: DaemonCalls) {
    this.#calls = calls
  }

  async *findProviders(cid: CID, options: FindProvidersOptions = {}): AsyncGenerator<RoutedPeer> {
    const params = { arg: cid.toString(), 'num-providers': options.count }
    for await (const event of this.#calls.lines<RoutingEventShape>('routing/findprovs', params, options)) yield* routedPeersOf(event)
  }

  async findPeer(peer: string, options: AbortOptions = {}): Promise<RoutedPeer> {
    for await (const event of this.#calls.lines<RoutingEventShape>('routing/findpeer', { arg: peer }, options)) {
      const [found] = routedPeersOf(event)
      if (found !== undefined) return found
    }
    throw new NotFoundError(`the daemon does not say where ${peer} is`)
  }

  async provide(cids: readonly CID[], options: RoutingProvideOptions = {}): Promise<void> {
    const params = { arg: cids.map(String), recursive: options.isRecursive }
    // Nothing is told of each, as in Kubo without `verbose`; an error comes at the end of the lines.
    for await (const _event of this.#calls.lines<RoutingEventShape>('routing/provide', params, options));
  }

  async bootstrap(options: AbortOptions = {}): Promise<readonly string[]> {
    return (await this.#calls.json<{ Peers: readonly string[] }>('bootstrap/list', {}, options)).Peers
  }
}
