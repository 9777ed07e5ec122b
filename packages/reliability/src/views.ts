import type { PeerKey } from '@shardswap/interface'
import type { AccountLimits } from './account-limits.ts'
import type { BudgetLimits } from './budget-limits.ts'
import type { ReliabilityLimits, ShareMap } from './limits.ts'

/** What a `Reliability` begins with. */
export interface ReliabilityInit {
  /** Changes to the limits of the judgement. */
  readonly limits?: Partial<ReliabilityLimits> | undefined
  /** Changes to the limits of the accounts. */
  readonly accountLimits?: Partial<AccountLimits> | undefined
  /** Changes to the limits of the budget for backups. */
  readonly budgetLimits?: Partial<BudgetLimits> | undefined
  /** How scores become shares of the primary picks (P21); `proportional` where it is left out. */
  readonly share?: ShareMap | undefined
  /** The wall's time, in milliseconds since 1970, read at the same moment as `nowMs`: it dates hours and days, and nothing else. */
  readonly wallMs: number
  /** The same moment on the cores' clock. */
  readonly nowMs: number
  /** What `remember` gave out before, or whatever was found in its place. */
  readonly remembered?: unknown
}

/** What became of the remembered data that a `Reliability` was given. */
export interface Recalled {
  readonly peers: number
  /** Records that were no records, or held what cannot be. */
  readonly rejected: number
  /** Why nothing at all could be read, for people; undefined where something could, or nothing was given. */
  readonly problem: string | undefined
}

/** How often what has happened with a peer, ever (P8). */
export interface PeerCounts {
  /** Want-blocks sent to it, in either part. */
  readonly attempted: number
  /** Blocks that came within their time. */
  readonly successful: number
  /** Wants that it has the credit for: as a primary that succeeded, or as the backup that did where no primary had (P9). */
  readonly rewardable: number
  readonly primaryTurns: number
  readonly backupTurns: number
  readonly timeouts: number
  readonly silences: number
  readonly resets: number
  /** It said HAVE, then DONT_HAVE. */
  readonly brokenHaves: number
  readonly late: number
  readonly denied: number
  readonly withdrawn: number
  readonly refused: number
  readonly duplicateBlocks: number
  readonly duplicateBytes: number
  /** Blocks that were not what was asked of it: wrong bytes, or what nobody wanted. */
  readonly badBlocks: number
  /** Times that it was shut out for blocks that nobody had asked for. */
  readonly hardFailures: number
}

/** One peer as people see it. */
export interface PeerScore {
  readonly peer: PeerKey
  readonly isConnected: boolean
  readonly isVetted: boolean
  /** 0 to 100; 0 while shut out. */
  readonly score: number
  /** Its part of the primary picks among those connected, all else being equal and while those vetted have space; 0 to 1, and 1 over all. */
  readonly share: number
  /** How long it will be shut out yet, in milliseconds; 0 where it is not. */
  readonly shutOutMs: number
  /** Connected time until its score is its own again after a hard failure, in milliseconds; 0 where it is. */
  readonly returnLeftMs: number
  /** Part of the observations that were successes; undefined where there was none. */
  readonly success24h: number | undefined
  readonly success30d: number | undefined
  /** Part of the time that it was connected, since it was first seen. */
  readonly uptime24h: number | undefined
  readonly uptime30d: number | undefined
  /** Net of what was queued before the block, in milliseconds. */
  readonly latencyP50Ms: number | undefined
  readonly latencyP95Ms: number | undefined
  /** Chance that a want-block of what it surely has would fail there now. */
  readonly failChance: number
  /** Want-blocks there that are not settled. */
  readonly inFlight: number
  readonly counts: PeerCounts
}

/** How good the forecasts were. Older ones count less and less. */
export interface Calibration {
  /** Forecasts whose outcome is known, ever. */
  readonly forecasts: number
  /** Part of them that failed. */
  readonly failRate: number
  /** Mean square of forecast less outcome (Brier 1950); 0 is perfect. */
  readonly brier: number
  /** The same for one who always forecasts the rate of failure. */
  readonly baseRateBrier: number
  /** Mean distance of forecasts from the rate of failure that followed, over ten bins by forecast. */
  readonly calibrationError: number
}

/** What is kept over a restart: plain data, as JSON has it. `version` says how the records are to be read. */
export interface RememberedPeers {
  readonly version: 1
  /** How long we ran ourselves, hour by hour and day by day. */
  readonly own: RememberedWindows
  /** Those who would be forgotten first stand first. */
  readonly peers: readonly RememberedPeer[]
}

/** Buckets of the last 24 hours and 30 days. */
export interface RememberedWindows {
  /** The newest hour, counted from 1970. */
  readonly hour: number
  /** Pairs of index and count; an index is slot × 3 + field: successes, observations, milliseconds. */
  readonly counts: readonly number[]
}

/** One peer's record. All numbers are finite; times are the wall's, in milliseconds since 1970. */
export interface RememberedPeer {
  readonly peer: string
  readonly firstSeenWallMs: number
  readonly counts: PeerCounts
  readonly windows: RememberedWindows
  /** The slow estimate's successes and failures; the fast one's successes and weight. */
  readonly evidence: readonly number[]
  readonly observedSinceNew: number
  readonly isVetted: boolean
  /** 0 where it was not shut out. */
  readonly shutOutUntilWallMs: number
  readonly returnLeftMs: number
  /** Smoothed, variation, shortest and its bytes; milliseconds and bytes that its rate comes from. Empty where no block ever came. */
  readonly latency: readonly number[]
  /** Pairs of index and count of latencies. */
  readonly latencies: readonly number[]
}
