import type { PeerKey } from '@shardswap/interface'
import type { AccountRow } from './sums.ts'

/** What a peer gets of a period's rewards. */
export interface RewardShare {
  readonly peer: PeerKey
  readonly rewardable: number
  readonly stake: number
  readonly isStaked: boolean
  /** Of all that is paid out, 0 to 1. All shares sum to 1, or to 0 where nobody with a stake has a credit. */
  readonly share: number
}

/**
 * Shares of a period's rewards by credits (P13): a peer's credits over those of all peers with a stake. A peer
 * without one keeps its credits and is paid nothing (P11). The score is not asked for: it has already decided how
 * often a peer had its turn, and must not count twice. Without a table of stakes everybody counts as staked.
 */
export function rewardShares(
  rows: readonly Pick<AccountRow, 'peer' | 'rewardable'>[],
  stakes?: ReadonlyMap<PeerKey, number>,
  stakeMin = 0
): RewardShare[] {
  const shares = rows.map(({ peer, rewardable }) => {
    const stake = stakes?.get(peer) ?? 0
    const isStaked = stakes === undefined || (stake > 0 && stake >= stakeMin)
    return { peer, rewardable, stake, isStaked }
  })
  let paid = 0
  for (const { rewardable, isStaked } of shares) if (isStaked) paid += rewardable
  return shares.map((row) => ({ ...row, share: row.isStaked && paid > 0 ? row.rewardable / paid : 0 }))
}
