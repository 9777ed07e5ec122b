import { RunFailure } from './checkers/violation.ts'
import type { Policy } from './policy.ts'
import { run } from './run.ts'
import { bugs, canaryWorld, isAtHome, planted } from './scenarios/canary.ts'

export interface Caught {
  readonly bug: string
  /** The rules one of which should have been found broken. */
  readonly breaks: readonly string[]
  readonly isCaught: boolean
  /** What the checkers said; undefined where they found nothing. */
  readonly found: string | undefined
}

/** Runs the policy with each bug planted around it: the checkers must catch every one, by the rule that it breaks. */
export function runCanary(policy: Policy, seed: number): Caught[] {
  // What fails by itself would be taken for a catch.
  run(canaryWorld, policy, seed)
  const sought = bugs.filter((bug) => isAtHome(bug, policy) && bug.breaks.some((rule) => policy.exempt?.includes(rule) !== true))
  return sought.map((bug) => {
    try {
      run(canaryWorld, planted(policy, bug), seed)
    } catch (error) {
      if (!(error instanceof RunFailure)) throw error
      return {
        bug: bug.name,
        breaks: bug.breaks,
        isCaught: error.rule !== undefined && bug.breaks.includes(error.rule),
        found: error.message
      }
    }
    return { bug: bug.name, breaks: bug.breaks, isCaught: false, found: undefined }
  })
}
