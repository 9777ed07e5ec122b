/** Kubo's JSON of routing, and back. */
import type { RoutedPeer } from './api/routing.ts'

/** Kinds of Kubo's events: what was found of a peer, and a provider. */
const finalPeer = 2
const provider = 4

/** A line of `routing findprovs` and its like. */
export interface RoutingEventShape {
  readonly Extra: string
  readonly ID: string
  readonly Responses: readonly { readonly ID: string; readonly Addrs: readonly string[] }[]
  readonly Type: number
}

function eventShape(type: number, { peer, addresses }: RoutedPeer): RoutingEventShape {
  return { Extra: '', ID: '', Responses: [{ ID: peer, Addrs: addresses }], Type: type }
}

/** The line for a provider. */
export function providerShape(found: RoutedPeer): RoutingEventShape {
  return eventShape(provider, found)
}

/** The line for a peer that was looked for. */
export function foundPeerShape(found: RoutedPeer): RoutingEventShape {
  return eventShape(finalPeer, found)
}

/** The peers that a line names. */
export function routedPeersOf({ Responses }: RoutingEventShape): RoutedPeer[] {
  return Responses.map(({ ID, Addrs }) => ({ peer: ID, addresses: Addrs }))
}
