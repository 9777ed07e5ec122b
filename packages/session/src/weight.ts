/**
 * The factors of a peer's weight, each by its name. A session draws a peer for
 * a want with a chance proportional to their product; with all other factors
 * equal the shares are the shares of the scores (P2).
 */
export interface Factors {
  /** What the peer's score is worth (P2); 1 where all count alike. */
  readonly score: number
  /** `deliveredFactor`, or `newcomerFactor` before the first block. */
  readonly delivered: number
  readonly timeouts: number
  /** How likely it is that the peer has the block: 1 after HAVE, else its hit rate. */
  readonly presence: number
}

/** The product of the factors, without those that depend on the moment (`queueFactor`, `restFactor`). */
export function weightOf(factors: Factors): number {
  return factors.score * factors.delivered * factors.timeouts * factors.presence
}

/** B16: rises with the blocks received from the peer in this session, from 1 to 4; half of it after N blocks. */
export function deliveredFactor(blocks: number, wantsInFlightStart: number): number {
  return 1 + (3 * blocks) / (blocks + wantsInFlightStart)
}

/** B21: a peer that has not been tried starts at 1.5 × the median of the others. */
export function newcomerFactor(median: number): number {
  return Math.max(1, 1.5 * median)
}

/** B17: halves with each timeout; what was long ago weighs less, see `Candidate`. Never 0, so that a peer can come back. */
export function timeoutFactor(timeouts: number): number {
  return 2 ** -Math.min(timeouts, 10)
}

/** B18: falls with the depth of the peer's queue over all sessions, 0 to 1. Never 0: a queue that is full takes nothing anyway. */
export function queueFactor(depth: number): number {
  return 1 - 0.9 * Math.min(Math.max(depth, 0), 1)
}

/** B20: 0 for T after a timeout of a want at a peer, then rising to 1 at 5 T. */
export function restFactor(sinceMs: number, restMs: number, nowMs: number): number {
  if (restMs <= 0) return 1
  return Math.min(Math.max((nowMs - sinceMs - restMs) / (4 * restMs), 0), 1)
}

/**
 * B11–B13: the limit of a peer in a session. It doubles after the first block
 * and then each time that the blocks received reach half of it: N, 2N after 1
 * block, 4N after N blocks, 8N after 2N.
 */
export function grownLimit(limit: number, blocks: number, wantsInFlightStart: number, wantsInFlightMax: number): number {
  const isDue = limit <= wantsInFlightStart ? blocks >= 1 : 2 * blocks >= limit
  return isDue ? Math.min(2 * limit, wantsInFlightMax) : limit
}
