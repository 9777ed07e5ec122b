import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { identify } from '@libp2p/identify'
import type { Libp2p } from '@libp2p/interface'
import { ping } from '@libp2p/ping'
import { createLibp2p } from 'libp2p'
import { readBufferBytesMax } from './network/frame-reader.ts'
import { gatheringTcp } from './network/gathering-tcp.ts'
import { noiseCrypto } from './network/noise-crypto.ts'
import { streamWindowBytesMax } from './network/open-window.ts'
import type { RoutingModules } from './routing/modules.ts'
import type { PeerInit } from './types.ts'

/** Connections accepted a second from one host; peers of a local cluster all come from 127.0.0.1. */
const inboundConnectionsPerSMax = 200
/** Connections being set up at once; the rest are refused. */
const pendingConnectionsMax = 200

/** A libp2p node as this peer needs it: TCP, Noise, Yamux, identify, ping, and what routing adds; not started. */
export async function createNode(init: PeerInit, routing: Partial<RoutingModules> = {}): Promise<Libp2p> {
  const { services, connectionProtector, announceFilter, discovery } = routing
  const filter = init.announceNothing === true ? () => [] : announceFilter
  return await createLibp2p({
    start: false,
    ...(init.privateKey === undefined ? {} : { privateKey: init.privateKey }),
    ...(init.datastore === undefined ? {} : { datastore: init.datastore }),
    ...(init.logger === undefined ? {} : { logger: init.logger }),
    ...(init.metrics === undefined ? {} : { metrics: init.metrics }),
    addresses: {
      listen: [...(init.listen ?? ['/ip4/127.0.0.1/tcp/0'])],
      ...(init.announce === undefined ? {} : { announce: [...init.announce] }),
      ...(filter === undefined ? {} : { announceFilter: filter })
    },
    ...(connectionProtector === undefined ? {} : { connectionProtector }),
    ...(discovery === undefined ? {} : { peerDiscovery: [discovery] }),
    transports: [gatheringTcp()],
    connectionEncrypters: [noise({ crypto: noiseCrypto })],
    streamMuxers: [yamux({ streamOptions: { maxReadBufferLength: readBufferBytesMax, maxStreamWindowSize: streamWindowBytesMax } })],
    services: { identify: identify(), ping: ping(), ...services },
    connectionManager: {
      inboundConnectionThreshold: inboundConnectionsPerSMax,
      maxIncomingPendingConnections: pendingConnectionsMax
    },
    // A ping that is late says that somebody is busy, not that the connection is dead.
    connectionMonitor: { abortConnectionOnPingFailure: false }
  })
}
