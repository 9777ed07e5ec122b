import type { Scenario } from './scenario.ts'
import { setups, simulated } from './reality/setups.ts'
import { churns } from './scenarios/churn.ts'
import { delays } from './scenarios/delays.ts'
import { goBenchmarks } from './scenarios/go-benchmarks.ts'
import { deadPeer, healthy } from './scenarios/health.ts'
import { sybilFamily, whitewash } from './scenarios/newcomers.ts'
import { hog } from './scenarios/hog.ts'
import { overload } from './scenarios/overload.ts'
import { shares } from './scenarios/shares.ts'
import { manySessions, slowAndFast, twentyChildren } from './scenarios/sharing.ts'
import { slowHonests } from './scenarios/slow-honest.ts'
import { storm } from './scenarios/storm.ts'
import { halfBad, shortSessionsOf20, silent30, tailAtScale } from './scenarios/unreliable.ts'
import { rememberedAndNew, wans } from './scenarios/wan.ts'

/** Every scenario, in the order of `--list`. */
export const scenarios: readonly Scenario[] = [
  ...goBenchmarks,
  ...slowHonests,
  ...wans,
  rememberedAndNew,
  ...delays,
  twentyChildren,
  slowAndFast,
  manySessions,
  healthy,
  deadPeer,
  shares,
  silent30,
  shortSessionsOf20,
  halfBad,
  tailAtScale,
  ...sybilFamily,
  whitewash,
  hog,
  overload,
  ...churns,
  ...setups.map(simulated),
  storm
]

/**
 * The scenarios that a name stands for: one of its own, a family, or the part
 * behind the slash of a name; where that is ambiguous, the first. Empty where
 * there is none.
 */
export function scenariosCalled(name: string): readonly Scenario[] {
  const exact = scenarios.filter((scenario) => scenario.name === name)
  if (exact.length > 0) return exact
  const family = scenarios.filter((scenario) => scenario.family === name)
  if (family.length > 0) return family
  return scenarios.filter((scenario) => scenario.name.endsWith(`/${name}`)).slice(0, 1)
}

/** Names that contain, or are contained in, what was asked for. */
export function namesLike(name: string): string[] {
  const wanted = name.toLowerCase()
  const names = new Set(scenarios.flatMap((scenario) => [scenario.family ?? scenario.name, scenario.name]))
  return [...names].filter((known) => known.toLowerCase().includes(wanted) || wanted.includes(known.toLowerCase()))
}
