import { defaultLogger } from '@libp2p/logger'
import { createNode } from './libp2p-node.ts'
import { peerLimits } from './limits.ts'
import { MemoryStore } from './memory-store.ts'
import { ShardswapPeer } from './peer.ts'
import type { Peer, PeerInit } from './types.ts'

/**
 * A peer that fetches and serves blocks over Bitswap, started unless `start` is
 * false. Errors: InvalidParametersError for limits that cannot work; what libp2p
 * says where an address cannot be listened on.
 */
export async function createPeer(init: PeerInit = {}): Promise<Peer> {
  const limits = peerLimits(init.limits)
  const libp2p = init.libp2p ?? (await createNode(init))
  const log = (init.logger ?? defaultLogger()).forComponent('shardswap:peer')
  const peer = new ShardswapPeer(libp2p, init.blockstore ?? new MemoryStore(), init, limits, log)
  if (init.start !== false) await peer.start()
  return peer
}
