import { assert } from '@shardswap/interface'
import type { Rule } from '../policy.ts'

/** A rule was broken; the message says how. */
export class Violation extends Error {
  override readonly name = 'Violation'
  readonly rule: Rule

  constructor(rule: Rule, message: string) {
    super(message)
    this.rule = rule
  }
}

/** What a failed run leaves to the one who has to find out why. */
export class RunFailure extends Error {
  override readonly name = 'RunFailure'
  /** Undefined where code threw by itself. */
  readonly rule: Rule | undefined

  constructor(at: { readonly scenario: string; readonly policy: string; readonly seed: number; readonly atMs: number }, cause: unknown) {
    assert(cause instanceof Error, 'only errors are thrown')
    const rule = cause instanceof Violation ? cause.rule : undefined
    const what = rule === undefined ? (cause.stack ?? cause.message) : `rule "${rule}" broken: ${cause.message}`
    const replay = `pnpm simulate ${at.scenario} --policy ${at.policy} --seed ${at.seed}`
    super(`${at.scenario}, policy ${at.policy}, seed ${at.seed}, at ${at.atMs.toFixed(3)} ms: ${what}\nreplay: ${replay}`, { cause })
    this.rule = rule
  }
}
