import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Libp2p, PrivateKey } from '@libp2p/interface'
import { InvalidParametersError } from '@shardswap/interface'
import { assemble, checkedLimits } from './assemble.ts'
import { createNode } from './libp2p-node.ts'
import type { ShardswapPeer } from './peer.ts'
import type { Peer, PeerInit } from './types.ts'

/**
 * A peer that fetches and serves blocks over Bitswap, started unless `start` is
 * false. What it knew of others comes back from the datastore, which must be open.
 * Errors: InvalidParametersError for limits that cannot work, a map from score to share that there is not, or a private key that is
 * not the given node's; what libp2p says where an address cannot be listened on.
 */
export async function createPeer(init: PeerInit = {}): Promise<Peer> {
  const peer = await newPeer(init)
  if (init.start !== false) await peer.start()
  return peer
}

/** As `createPeer`, not started. */
export async function newPeer(init: PeerInit): Promise<ShardswapPeer<Libp2p>> {
  checkedLimits(init)
  const privateKey = await keyOf(init)
  const ownNode = init.libp2p === undefined ? await createNode({ ...init, ...(privateKey === undefined ? {} : { privateKey }) }) : undefined
  return await assemble(init, { libp2p: init.libp2p ?? (ownNode as Libp2p), ownNode, privateKey, newPeer })
}

/** The key of our identity: the caller's, or a new one for a node that we make. */
async function keyOf({ libp2p, privateKey }: PeerInit): Promise<PrivateKey | undefined> {
  if (libp2p === undefined) return privateKey ?? (await generateKeyPair('Ed25519'))
  if (privateKey !== undefined && libp2p.peerId.publicKey?.equals(privateKey.publicKey) !== true) {
    throw new InvalidParametersError('privateKey is not the key of the libp2p node that was given')
  }
  return privateKey
}
