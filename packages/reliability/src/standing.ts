import type { ReliabilityLimits, ShareMap } from './limits.ts'
import type { PeerRecord } from './record.ts'
import { newcomerScoreMax, scoreOf, successOf, type CohortFigures } from './score.ts'
import { weightOf, type Ranks } from './share.ts'
import type { PeerStanding } from './types.ts'
import type { Windows } from './windows.ts'

/** What of the least score a peer weighs while it is shut out, when nobody should look at it. */
const shutOutPart = 0.01

/**
 * The part of the time that a peer was connected: mean of 24 hours and 30 days, of the time that we ran ourselves since
 * it was first seen, with some time of full uptime in place of what was not seen.
 */
export function uptimeOf(windows: Windows, own: Windows, sinceFirstMs: number, { uptimePriorMs }: ReliabilityLimits): number {
  const part = (connectedMs: number, ownMs: number): number => {
    const possibleMs = Math.max(0, Math.min(ownMs, sinceFirstMs))
    return Math.min(1, (connectedMs + uptimePriorMs) / (possibleMs + uptimePriorMs))
  }
  return (part(windows.day.timeMs, own.day.timeMs) + part(windows.month.timeMs, own.month.timeMs)) / 2
}

/** Where a peer stands: a function of its record, the cohort's figures and the time, and of nothing else. */
export function standingOf(
  record: PeerRecord,
  cohort: CohortFigures,
  uptime: number,
  ranks: Ranks,
  share: ShareMap,
  nowMs: number,
  limits: ReliabilityLimits
): PeerStanding {
  const { isVetted, shutOutUntilMs, returnLeftMs } = record
  if (shutOutUntilMs > nowMs) return { score: 0, weight: limits.scoreMin * shutOutPart, isVetted: false, shutOutUntilMs }
  const success = successOf(record.windows.day, record.windows.month, record.evidence, cohort, limits)
  let score = scoreOf(success, record.latency?.medianMs, uptime, cohort, limits)
  // Of ranks, which know no score, the same is taken away.
  let rankPart = 1
  if (!isVetted && cohort.vettedSuccess !== undefined) {
    rankPart = limits.newcomerScorePart
    score = Math.min(score, newcomerScoreMax(cohort.vettedSuccess, limits))
  }
  // After a hard failure it is the score that comes back, so that the share is as the score in this time too (P2).
  if (returnLeftMs > 0) {
    const returnedPart = Math.max(0, 1 - returnLeftMs / limits.returnMs)
    rankPart *= returnedPart
    score = Math.max(limits.scoreMin, score * returnedPart)
  }
  const weight = weightOf(share, score, ranks, rankPart, limits.scoreMin)
  return { score, weight, isVetted, shutOutUntilMs: Number.NEGATIVE_INFINITY }
}

/** Whether a peer of this standing may be a backup: vetted where anybody is, and not far behind the median of them. */
export function isFit({ score, isVetted }: PeerStanding, cohort: CohortFigures, limits: ReliabilityLimits): boolean {
  const { successPower, backupScorePart } = limits
  if (score === 0 || (!isVetted && cohort.vettedSuccess !== undefined)) return false
  return score >= backupScorePart * 100 * (cohort.vettedSuccess ?? cohort.success) ** successPower
}
