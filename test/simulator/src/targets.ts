import type { PolicyOutcome } from './outcome.ts'
import type { Verdict } from './scenario.ts'

/** A median as a target names it; NaN, which meets no target, where there is none of that name. */
export function figure(outcome: PolicyOutcome, name: string): number {
  return outcome.figures[name] ?? NaN
}

export function atMost(outcome: PolicyOutcome, name: string, limit: number): Verdict {
  const value = figure(outcome, name)
  return { what: `${name} ${show(value)} ≤ ${show(limit)}`, isMet: value <= limit }
}

export function atLeast(outcome: PolicyOutcome, name: string, limit: number): Verdict {
  const value = figure(outcome, name)
  return { what: `${name} ${show(value)} ≥ ${show(limit)}`, isMet: value >= limit }
}

/** Four digits are enough to tell a miss from a hit. */
export function show(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)))
}
