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

/** The policies of a scenario, as its target is given them. */
type All = ReadonlyMap<string, PolicyOutcome>

/** Ours is at most so many times that of another policy, which must have run too. */
export function timesAtMost(ours: PolicyOutcome, all: All, other: string, name: string, limit: number): Verdict {
  const ratio = figure(ours, name) / compared(all, other, name)
  return { what: `${name} ${show(figure(ours, name))} is ${show(ratio)} ≤ ${show(limit)} times that of ${other}`, isMet: ratio <= limit }
}

/** Ours is at least so many times that of another. */
export function timesAtLeast(ours: PolicyOutcome, all: All, other: string, name: string, limit: number): Verdict {
  const ratio = figure(ours, name) / compared(all, other, name)
  return { what: `${name} ${show(figure(ours, name))} is ${show(ratio)} ≥ ${show(limit)} times that of ${other}`, isMet: ratio >= limit }
}

/** Of what is good when it is small: another's is at least so many times ours. */
export function timesBetter(ours: PolicyOutcome, all: All, other: string, name: string, limit: number): Verdict {
  const ratio = compared(all, other, name) / figure(ours, name)
  return {
    what: `${name} ${show(figure(ours, name))} is ${show(ratio)} ≥ ${show(limit)} times better than that of ${other}`,
    isMet: ratio >= limit
  }
}

function compared(all: All, other: string, name: string): number {
  const outcome = all.get(other)
  return outcome === undefined ? NaN : figure(outcome, name)
}

/** Four digits are enough to tell a miss from a hit. */
export function show(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)))
}
