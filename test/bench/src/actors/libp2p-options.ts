import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { identify } from '@libp2p/identify'
import { tcp } from '@libp2p/tcp'

/** TCP, Noise and Yamux on loopback, as our own peer has them; all baselines of JavaScript use these. */
export function libp2pOptions() {
  return {
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    services: { identify: identify() },
    // All peers dial from one host here, and a busy event loop answers pings late.
    connectionManager: { inboundConnectionThreshold: 1_000, maxIncomingPendingConnections: 1_000 },
    connectionMonitor: { abortConnectionOnPingFailure: false }
  }
}
