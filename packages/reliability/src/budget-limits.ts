import { assert } from '@shardswap/interface'

/** Limits of the backup budget: names, units, defaults and their reasons. Each has a line in docs/limits.md. */
export interface BudgetLimits {
  /** What each primary want-block earns, in backups: the share of wants that may be backed. */
  readonly backupShare: number
  /** Backups that may be saved up. */
  readonly backupTokensMax: number
  /** Backups that a fresh budget has. */
  readonly backupTokensStart: number
  /** Forecasts that the riskiest are found among. */
  readonly forecastsMax: number
  /** A want less likely to fail than this is never backed before it is late, 0 to 1. */
  readonly failChanceMin: number
  /** What the breaker counts up to; at half of it and below there are no backups. */
  readonly breakerTokensMax: number
  /** What a success gives back to the breaker, of the 1 that a failure takes. */
  readonly breakerTokensPerSuccess: number
}

/** The defaults; the reasons stand in docs/limits.md. */
export const defaultBudgetLimits: BudgetLimits = {
  backupShare: 0.05,
  backupTokensMax: 20,
  backupTokensStart: 2,
  forecastsMax: 1000,
  failChanceMin: 0.15,
  breakerTokensMax: 10,
  breakerTokensPerSuccess: 0.1
}

/** Throws AssertionError where the budget could not keep its promise with these limits. */
export function verifyBudgetLimits(limits: BudgetLimits): void {
  for (const [name, value] of Object.entries(limits)) assert(Number.isFinite(value) && value >= 0, `${name} is a number and not below 0`)
  assert(limits.backupShare <= 1, 'backupShare is at most 1')
  assert(limits.backupTokensStart <= limits.backupTokensMax, 'backupTokensStart is at most backupTokensMax')
  assert(Number.isSafeInteger(limits.forecastsMax) && limits.forecastsMax > 0, 'forecastsMax is a count above 0')
  assert(limits.failChanceMin <= 1, 'failChanceMin is at most 1')
  assert(limits.breakerTokensMax > 0, 'breakerTokensMax is above 0')
}
