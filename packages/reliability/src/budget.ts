import { verifyBudgetLimits } from './budget-limits.ts'
import type { BudgetLimits } from './budget-limits.ts'
import type { BackupReason } from './types.ts'

const bins = 200
/** What rounding may have taken from a whole token. */
const roundingTokens = 1e-9

/**
 * The one budget for every backup (C5): a bucket that each primary want-block adds `backupShare` to, and each backup
 * takes one from. So backups are never more than `backupShare` × wants + `backupTokensMax`, whatever their reason.
 * It begins nearly empty: whoever fetches little must not pay for backups of a fifth of it, while the first
 * stall of a fresh node, of whose peers nothing is known, can be met.
 *
 * Before a want is late it is backed only where its forecast is at least `failChanceMin` and among the riskiest
 * `backupShare` of the last `forecastsMax`: so tokens go where they help most, not to whoever comes first.
 *
 * A breaker like the throttle of gRPC's retries stands above it: when things fail here and there everywhere, more
 * requests are what there must not be.
 */
export class BackupBudget {
  readonly #limits: BudgetLimits
  #tokens: number
  #breakerTokens: number
  /** Forecasts by bin, and the last ones in order, each as its bin. */
  readonly #counts = new Uint32Array(bins)
  readonly #last: Uint8Array
  #nextAt = 0
  #forecasts = 0
  #wants = 0
  #backups = 0

  constructor(limits: BudgetLimits) {
    verifyBudgetLimits(limits)
    this.#limits = limits
    this.#tokens = limits.backupTokensStart
    this.#breakerTokens = limits.breakerTokensMax
    this.#last = new Uint8Array(limits.forecastsMax)
  }

  /** A primary want-block was sent, of which this was forecast, 0 to 1. */
  earn(failChance: number): void {
    this.#wants += 1
    this.#tokens = Math.min(this.#limits.backupTokensMax, this.#tokens + this.#limits.backupShare)
    const bin = binOf(failChance)
    const at = this.#nextAt
    if (this.#forecasts === this.#last.length) {
      const oldest = this.#last[at] as number
      this.#counts[oldest] = (this.#counts[oldest] as number) - 1
    } else this.#forecasts += 1
    this.#last[at] = bin
    this.#counts[bin] = (this.#counts[bin] as number) + 1
    this.#nextAt = at + 1 === this.#last.length ? 0 : at + 1
  }

  /** What came of a want-block, where it is an observation of its peer. */
  observe(isSuccess: boolean): void {
    const { breakerTokensMax, breakerTokensPerSuccess } = this.#limits
    const change = isSuccess ? breakerTokensPerSuccess : -1
    this.#breakerTokens = Math.min(breakerTokensMax, Math.max(0, this.#breakerTokens + change))
  }

  /** Takes a token for one backup, where there may be one. `failChance` counts for `proactive` alone. */
  take(reason: BackupReason, failChance: number): boolean {
    if (this.#tokens + roundingTokens < 1 || this.isOpen) return false
    if (reason === 'proactive' && !(failChance >= this.#limits.failChanceMin && this.#isAmongRiskiest(binOf(failChance)))) return false
    this.#tokens = Math.max(0, this.#tokens - 1)
    this.#backups += 1
    return true
  }

  /** A token goes back: there was nobody to be the backup. */
  giveBack(): void {
    if (this.#backups === 0) return
    this.#backups -= 1
    this.#tokens = Math.min(this.#limits.backupTokensMax, this.#tokens + 1)
  }

  /** Whether the breaker is open: no backups until enough has succeeded. */
  get isOpen(): boolean {
    return this.#breakerTokens <= this.#limits.breakerTokensMax / 2
  }

  /** From which forecast on a want is backed before it is late, to within 1/200. */
  get failChanceThreshold(): number {
    const most = this.#limits.backupShare * this.#forecasts
    let bin = bins - 1
    for (let riskier = this.#counts[bin] as number; bin > 0 && riskier <= most; riskier += this.#counts[bin] as number) bin -= 1
    return Math.max(this.#limits.failChanceMin, bin / bins)
  }

  /** How the budget stands: wants that paid in, backups that were paid, tokens left, whether the breaker is open. */
  get figures(): { readonly wants: number; readonly backups: number; readonly tokens: number; readonly isOpen: boolean } {
    return { wants: this.#wants, backups: this.#backups, tokens: this.#tokens, isOpen: this.isOpen }
  }

  /** Whether fewer than `backupShare` of the last forecasts were riskier than those of this bin. */
  #isAmongRiskiest(bin: number): boolean {
    const most = this.#limits.backupShare * this.#forecasts
    let riskier = 0
    for (let at = bins - 1; at > bin; at--) {
      riskier += this.#counts[at] as number
      if (riskier > most) return false
    }
    return true
  }
}

function binOf(failChance: number): number {
  // A forecast that is no number says nothing of a risk.
  return failChance > 0 ? Math.min(bins - 1, Math.floor(failChance * bins)) : 0
}
