import { generateKeyPair } from '@libp2p/crypto/keys'
import type { PrivateKey } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
import { InvalidParametersError } from '@shardswap/interface'
import type { ShareMap } from '@shardswap/reliability'
import { AdmissionRecords } from './admission/records.ts'
import { createNode } from './libp2p-node.ts'
import { peerLimits } from './limits.ts'
import { MemoryStore } from './memory-store.ts'
import { nowMs } from './clock.ts'
import { ShardswapPeer } from './peer.ts'
import { PeerRecords } from './reliability/peer-records.ts'
import type { Peer, PeerInit } from './types.ts'

const shareMaps: readonly ShareMap[] = ['proportional', 'equal', 'percentile']

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

async function newPeer(init: PeerInit): Promise<ShardswapPeer> {
  const limits = peerLimits(init.limits)
  if (init.share !== undefined && !shareMaps.includes(init.share)) {
    throw new InvalidParametersError(`share must be one of ${shareMaps.join(', ')}, not ${JSON.stringify(init.share)}`)
  }
  const privateKey = await keyOf(init)
  const libp2p = init.libp2p ?? (await createNode({ ...init, ...(privateKey === undefined ? {} : { privateKey }) }))
  const log = (init.logger ?? defaultLogger()).forComponent('shardswap:peer')
  const records = await PeerRecords.open({
    datastore: init.datastore,
    log,
    nowMs,
    onWarning: init.onWarning,
    options: {
      limits: { shutOutMs: limits.shutOutMs, ...init.reliabilityLimits },
      budgetLimits: init.budgetLimits,
      accountLimits: init.accountLimits,
      share: init.share
    }
  })
  const admission = await AdmissionRecords.open({
    self: libp2p.peerId,
    privateKey,
    settings: init.admission ?? {},
    isServing: init.serve !== false,
    datastore: init.datastore,
    log,
    nowMs,
    onWarning: init.onWarning
  })
  return new ShardswapPeer(init, {
    libp2p,
    blockstore: init.blockstore ?? new MemoryStore(),
    privateKey,
    records,
    admission,
    limits,
    log,
    newPeer
  })
}

/** The key of our identity: the caller's, or a new one for a node that we make. */
async function keyOf({ libp2p, privateKey }: PeerInit): Promise<PrivateKey | undefined> {
  if (libp2p === undefined) return privateKey ?? (await generateKeyPair('Ed25519'))
  if (privateKey !== undefined && libp2p.peerId.publicKey?.equals(privateKey.publicKey) !== true) {
    throw new InvalidParametersError('privateKey is not the key of the libp2p node that was given')
  }
  return privateKey
}
