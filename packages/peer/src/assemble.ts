import { defaultLogger } from '@libp2p/logger'
import { InvalidParametersError } from '@shardswap/interface'
import type { ShareMap } from '@shardswap/reliability'
import { AdmissionRecords } from './admission/records.ts'
import { nowMs } from './clock.ts'
import { peerLimits } from './limits.ts'
import { MemoryStore } from './memory-store.ts'
import type { Host } from './network/host.ts'
import { type PeerParts, ShardswapPeer } from './peer.ts'
import { PeerRecords } from './reliability/peer-records.ts'
import type { ExchangeInit } from './types.ts'

const shareMaps: readonly ShareMap[] = ['proportional', 'equal', 'percentile']

/** The node that an exchange runs on, and what else is not the caller's to choose. */
export type AssembleNode<H extends Host> = Pick<PeerParts<H>, 'libp2p' | 'ownNode' | 'privateKey' | 'newPeer' | 'store'>

/**
 * An exchange on a node, not started. What it knew of others comes back from the datastore, which must be open.
 * Errors: InvalidParametersError for limits that cannot work, or a map from score to share that there is not.
 */
export async function assemble<H extends Host>(init: ExchangeInit, node: AssembleNode<H>): Promise<ShardswapPeer<H>> {
  return new ShardswapPeer(init, await partsFor(init, node))
}

/** What the exchange is made of. Errors: as `assemble`. */
export async function partsFor<H extends Host>(init: ExchangeInit, node: AssembleNode<H>): Promise<PeerParts<H>> {
  const limits = checkedLimits(init)
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
    self: node.libp2p.peerId,
    privateKey: node.privateKey,
    settings: init.admission ?? {},
    isServing: init.serve !== false,
    datastore: init.datastore,
    log,
    nowMs,
    onWarning: init.onWarning
  })
  return { ...node, blockstore: init.blockstore ?? new MemoryStore(), records, admission, limits, log }
}

/** The limits of the exchange. Errors: InvalidParametersError, as `assemble`, before anything is opened. */
export function checkedLimits(init: ExchangeInit): ReturnType<typeof peerLimits> {
  const limits = peerLimits(init.limits)
  if (init.share !== undefined && !shareMaps.includes(init.share)) {
    throw new InvalidParametersError(`share must be one of ${shareMaps.join(', ')}, not ${JSON.stringify(init.share)}`)
  }
  return limits
}
