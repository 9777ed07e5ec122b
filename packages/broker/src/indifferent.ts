import type { PeerStanding, ReliabilityCore } from '@shardswap/reliability'

const alike: PeerStanding = { score: 100, weight: 1, isVetted: false, shutOutUntilMs: Number.NEGATIVE_INFINITY }

/** No layer at all: every peer counts alike, nothing is forecast, and nobody is asked beside another. What the layer is compared with. */
export const indifferent: ReliabilityCore = {
  peerConnected: () => undefined,
  peerDisconnected: () => undefined,
  asked: () => undefined,
  settled: () => undefined,
  ended: () => undefined,
  receivedBad: () => undefined,
  failedHard: () => undefined,
  duplicated: () => undefined,
  standing: () => alike,
  mayPickNewcomer: () => true,
  picked: () => undefined,
  failChance: () => 0,
  isDoubtful: () => false,
  lateAfterMs: () => Number.POSITIVE_INFINITY,
  takeBackup: () => false,
  returnBackup: () => undefined,
  isFitForBackup: () => false
}
