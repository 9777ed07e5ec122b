/** Helia 7 that dials nobody unless told to, without anything that fetches blocks from others. */
import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { type HeliaWithLibp2p, withLibp2pLight } from '@helia/libp2p'
import * as dagCbor from '@ipld/dag-cbor'
import { identify, type Identify } from '@libp2p/identify'
import { tcp } from '@libp2p/tcp'
import { MemoryBlockstore } from 'blockstore-core'
import { MemoryDatastore } from 'datastore-core'
import { createHeliaLight } from 'helia'
import * as json from 'multiformats/codecs/json'

type Metrics = NonNullable<Parameters<typeof withLibp2pLight>[1]['metrics']>
type Init = NonNullable<Parameters<typeof createHeliaLight>[0]>

export type QuietHelia = HeliaWithLibp2p<{ identify: Identify }>

/** Not started; with what it needs to serve beside others of one host. */
export function quietHelia({
  metrics,
  ...init
}: Pick<Init, 'blockstore' | 'hashers' | 'routers'> & { metrics?: Metrics } = {}): QuietHelia {
  const node = createHeliaLight({
    blockstore: new MemoryBlockstore(),
    datastore: new MemoryDatastore(),
    codecs: [dagCbor, json],
    ...init
  })
  return withLibp2pLight(node, {
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    services: { identify: identify() },
    ...(metrics === undefined ? {} : { metrics }),
    // All peers dial from one host here, and a busy event loop answers pings late.
    connectionManager: { inboundConnectionThreshold: 1_000, maxIncomingPendingConnections: 1_000 },
    connectionMonitor: { abortConnectionOnPingFailure: false }
  })
}
