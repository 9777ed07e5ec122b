import { peerKey } from '@shardswap/interface'
import type { PeerScore } from '@shardswap/reliability'

/** A score with every field set. */
export function aScore(peer: string): PeerScore {
  return {
    peer: peerKey(peer),
    isConnected: true,
    isVetted: true,
    score: 81.5,
    share: 0.25,
    shutOutMs: 0,
    returnLeftMs: 0,
    success24h: 0.99,
    success30d: 0.97,
    uptime24h: 1,
    uptime30d: 0.5,
    latencyP50Ms: 12,
    latencyP95Ms: 40,
    failChance: 0.03,
    inFlight: 4,
    counts: {
      attempted: 100,
      successful: 97,
      rewardable: 90,
      primaryTurns: 95,
      backupTurns: 5,
      timeouts: 1,
      silences: 1,
      resets: 1,
      brokenHaves: 0,
      late: 1,
      denied: 2,
      withdrawn: 3,
      refused: 0,
      duplicateBlocks: 1,
      duplicateBytes: 1024,
      badBlocks: 2,
      hardFailures: 0
    }
  }
}
