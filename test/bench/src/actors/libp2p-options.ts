import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { identify } from '@libp2p/identify'
import type { Libp2p } from '@libp2p/interface'
import { tcp } from '@libp2p/tcp'
import type { Multiaddr } from '@multiformats/multiaddr'

const listenedOn: string[] = []

// A peer that knew another's address would dial past the link that lies between them.
function announceNothing(addresses: Multiaddr[]): Multiaddr[] {
  listenedOn.splice(0, Infinity, ...addresses.map(String))
  return []
}

/** Multiaddrs that a node with `libp2pOptions` listens on, with its id. There is one such node in a process. */
export function listenAddresses(node: Libp2p): string[] {
  // Asking makes it show them to its filter.
  node.getMultiaddrs()
  const suffix = `/p2p/${node.peerId.toString()}`
  return listenedOn.map((address) => (address.endsWith(suffix) ? address : address + suffix))
}

/** TCP, Noise and Yamux on loopback, as our own peer has them; all baselines of JavaScript use these. */
export function libp2pOptions() {
  return {
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'], announceFilter: announceNothing },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    services: { identify: identify() },
    // All peers dial from one host here, and a busy event loop answers pings late.
    connectionManager: { inboundConnectionThreshold: 1_000, maxIncomingPendingConnections: 1_000 },
    connectionMonitor: { abortConnectionOnPingFailure: false }
  }
}
