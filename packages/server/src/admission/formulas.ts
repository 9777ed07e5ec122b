import { assert } from '@shardswap/interface'

/**
 * The formulas of admission, each with its label and without a state. The plain ones are the text's own and have no
 * value where they would divide by zero: to ask them there is a programmer's error. The smoothed ones have a finite
 * value for all counters. Where each comes from, and how the text was understood, is told in docs/admission.md.
 */

/** What came of the test requests to a server, or several, in a window. */
export interface TestCounts {
  /** Answers that were verified. */
  readonly received: number
  readonly sent: number
}

/** [I5][I7] Availability: the part of the test requests that got a verified answer, 0 to 1. There must be some. */
export function availability({ received, sent }: TestCounts): number {
  assert(sent > 0, 'no availability without a test')
  return received / sent
}

/** What is believed of a server before it was tested. */
export interface AvailabilityPrior {
  /** Its availability, 0 to 1. */
  readonly availabilityPrior: number
  /** How many tests that is worth. */
  readonly priorTests: number
}

/** [I5][I7] Availability with a prior: a few tests do not yet decide, and none at all give the prior. */
export function smoothedAvailability({ received, sent }: TestCounts, { availabilityPrior, priorTests }: AvailabilityPrior): number {
  return (received + availabilityPrior * priorTests) / (sent + priorTests)
}

/** What an owner's clients used of this server, and what its owner gives the network. */
export interface UseCounts {
  /** R_served: requests that this server served to clients of the owner, in its window. */
  readonly served: number
  /** R_total: requests that this server served, in the same window. */
  readonly servedTotal: number
  /** S_connected: the owner's servers that count. */
  readonly servers: number
  /** S_total: all servers that count. */
  readonly serversTotal: number
}

/** [I13] The share of requests over the share of servers: 1 is fair, 8 is eight times as much. Something must have been served. */
export function weight({ served, servedTotal, servers, serversTotal }: UseCounts): number {
  assert(servedTotal > 0 && servers > 0, 'no weight without a request served and a server')
  return (served * serversTotal) / (servedTotal * servers)
}

/**
 * [I13] The weight as if the clients of each server had been served once more: requests per server of the owner's, and
 * one, over requests per server of all, and one. It is 1 for everybody while nothing was served, and never below
 * `weightMin`, so that who asks for little has no endless score. The owner must have a server that counts.
 */
export function smoothedWeight({ served, servedTotal, servers, serversTotal }: UseCounts, weightMin: number): number {
  assert(servers > 0 && serversTotal >= servers, 'the owner has servers, and they are among all')
  return Math.max(weightMin, ((served + servers) / (servedTotal + serversTotal)) * (serversTotal / servers))
}

/** An owner's availability over 30 days and over 24 hours, and its weight, which is above 0. */
export interface ScoreParts {
  readonly aLong: number
  readonly aShort: number
  readonly weight: number
}

/** [I8] How many requests may be open at this server for the owner's next one to be admitted. `capMax`: see `accepts`. */
export function admissionScore({ aLong, aShort, weight }: ScoreParts, capMax: number): number {
  assert(weight > 0, 'a weight is above 0')
  return ((aLong + aShort) * capMax) / (2 * weight)
}

/** What is known of a registered owner, as the smoothed score needs it. */
export interface OwnerFigures extends UseCounts {
  readonly aLong: number
  readonly aShort: number
  /** Tests of all its servers in 30 days. */
  readonly tests: TestCounts
}

/** The figures by which smoothed scores are made. */
export interface ScoreRules {
  /** [I9] Cap_max. */
  readonly openRequestsMax: number
  readonly freeScoreRequests: number
  readonly weightMin: number
  readonly blacklistTestsMin: number
}

/** [I13] A registered owner's smoothed weight. One without a server that counts weighs as if it had one. */
export function ownerWeight(counts: UseCounts, { weightMin }: ScoreRules): number {
  const { servers, serversTotal } = counts
  return smoothedWeight(servers > 0 ? counts : { ...counts, servers: 1, serversTotal: serversTotal + 1 }, weightMin)
}

/** [I12] Whether an owner's servers were tested often, and never answered. */
export function isBlacklisted({ received, sent }: TestCounts, { blacklistTestsMin }: ScoreRules): boolean {
  return received === 0 && sent >= blacklistTestsMin
}

/**
 * [I8][I12] A registered owner's score, finite and not below 0, for all counters. It is 0 for one that was tested often
 * and never answered, since smoothing alone would keep it above. Without a server verified in the last 24 hours it is
 * the free score at most: what nobody has proved gives nothing.
 */
export function ownerScore(figures: OwnerFigures, rules: ScoreRules): number {
  if (isBlacklisted(figures.tests, rules)) return 0
  const score = admissionScore({ ...figures, weight: ownerWeight(figures, rules) }, rules.openRequestsMax)
  return figures.servers > 0 ? score : Math.min(score, rules.freeScoreRequests)
}

/** [I10][I12] Whether a request with this score is accepted while so many are open. `capMax` is Cap_max (I9), a whole number. */
export function accepts(score: number, open: number, capMax: number): boolean {
  // The text's rule alone would accept a score of 0 at an idle server, and one above Cap_max at a full one.
  return score > 0 && open < capMax && !(score < open)
}

/** [I10] How many requests with this score would be accepted in a row. */
export function acceptedInRow(score: number, open: number, capMax: number): number {
  if (!accepts(score, open, capMax)) return 0
  return Math.min(capMax, Math.floor(score) + 1) - open
}

/** [I13] What is left of a sum after a time, in a window that fades: a steady rate adds up to what it brings in `windowMs`. */
export function faded(sum: number, elapsedMs: number, windowMs: number): number {
  return elapsedMs > 0 ? sum * Math.exp(-elapsedMs / windowMs) : sum
}
