import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { type HeliaWithLibp2p, withLibp2pLight } from '@helia/libp2p'
import { identify, type Identify } from '@libp2p/identify'
import { tcp } from '@libp2p/tcp'
import { createHeliaLight } from 'helia'

/** A Helia node that dials only whom it is told to, so that the example has no other peers than its own; yours may be `createHelia()`. */
export function quietHelia(): HeliaWithLibp2p<{ identify: Identify }> {
  return withLibp2pLight(createHeliaLight(), {
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    services: { identify: identify() }
  })
}
