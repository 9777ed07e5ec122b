import { InvalidParametersError, timerMsMax } from '@shardswap/interface'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** Limits of the test requests: names, units, defaults and their reasons. Each has a line in docs/limits.md. */
export interface TestLimits {
  /** Mean time between two visits to one server; each is drawn anew. */
  readonly visitEveryMs: number
  /** Mean time from the first claim of a server to the first visit. */
  readonly visitFirstMs: number
  /** Visits over all servers in an hour; where more are due, those that are overdue the longest come first. */
  readonly visitsPerHourMax: number
  /** Visits that go on at the same time. */
  readonly visitsAtOnceMax: number
  /** Blocks asked for in one visit: from 1 to so many. */
  readonly wantsPerVisitMax: number
  /** How long one visit may take, from the dial to the last block. */
  readonly visitTimeoutMs: number
  /** Blocks remembered of each server that it said it has. */
  readonly claimsPerServerMax: number
  /** Servers of which claims are remembered. */
  readonly claimServersMax: number
  /** A claim older than that is not asked for any more. */
  readonly claimLifetimeMs: number
  /** Mean time that the tests are made under one identity; each is drawn anew. */
  readonly identityLifetimeMs: number
}

/** The defaults; the reasons stand in docs/limits.md. */
export const defaultTestLimits: TestLimits = {
  visitEveryMs: 30 * minuteMs,
  visitFirstMs: 5 * minuteMs,
  visitsPerHourMax: 120,
  visitsAtOnceMax: 2,
  wantsPerVisitMax: 3,
  visitTimeoutMs: 60_000,
  claimsPerServerMax: 32,
  claimServersMax: 1024,
  claimLifetimeMs: 24 * hourMs,
  identityLifetimeMs: 12 * hourMs
}

const counts = ['visitsAtOnceMax', 'wantsPerVisitMax', 'claimsPerServerMax', 'claimServersMax'] as const

/** `limits` over the defaults. Errors: InvalidParametersError where no test could be made by them. */
export function verifyTestLimits(limits: Partial<TestLimits> = {}): TestLimits {
  const all = { ...defaultTestLimits, ...limits }
  for (const [name, value] of Object.entries(all)) {
    if (!Number.isFinite(value) || value <= 0) throw new InvalidParametersError(`${name} must be a number above 0`)
  }
  for (const name of counts) {
    if (!Number.isSafeInteger(all[name])) throw new InvalidParametersError(`${name} must be a whole number`)
  }
  if (all.visitTimeoutMs > timerMsMax) throw new InvalidParametersError(`visitTimeoutMs must be at most ${timerMsMax}`)
  return all
}
