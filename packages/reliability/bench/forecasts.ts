/**
 * Which parameters make good forecasts: Brier's score as a part of the base rate's, and the calibration error, for pools of
 * peers that behave in one way or another. `node packages/reliability/bench/forecasts.ts` prints a table.
 */
import { Evidence } from '../src/evidence.ts'
import { defaultReliabilityLimits, type ReliabilityLimits } from '../src/limits.ts'

const runs = 12
const turnsPerRun = 3000
const bins = 10

/** Makes a peer: each call is one want, and says whether it succeeds. */
type Behaviour = (next: () => number) => () => boolean

function steady(success: number): Behaviour {
  return (next) => () => next() < success
}

/** Good for so many wants on average, then bad for so many. */
function changing(goodWants: number, badWants: number, good = 0.99, bad = 0.05): Behaviour {
  return (next) => {
    let isGood = next() < goodWants / (goodWants + badWants)
    return () => {
      if (next() < 1 / (isGood ? goodWants : badWants)) isGood = !isGood
      return next() < (isGood ? good : bad)
    }
  }
}

function ten(behaviour: Behaviour): Behaviour[] {
  return Array.from({ length: 10 }, () => behaviour)
}

const pools: Readonly<Record<string, readonly Behaviour[]>> = {
  'good to bad': [0.995, 0.99, 0.99, 0.98, 0.97, 0.95, 0.9, 0.8, 0.5, 0.1].map(steady),
  'all 95 %': ten(steady(0.95)),
  '30 % silent': [0, 0, 0, 0.998, 0.998, 0.998, 0.998, 0.998, 0.998, 0.998].map(steady),
  'good 200, bad 50': ten(changing(200, 50)),
  'good 50, bad 50': ten(changing(50, 50)),
  'stalls of 8 in 300': ten(changing(300, 8, 0.998, 0))
}

const variants: Readonly<Record<string, Partial<ReliabilityLimits>>> = {
  defaults: {},
  'fastGain 0.3': { fastGain: 0.3 },
  'fastGain 0.05': { fastGain: 0.05 },
  'forecastSlowPart 0.5': { forecastSlowPart: 0.5 },
  'forecastSlowPart 1': { forecastSlowPart: 1 },
  'forecastSlowPart 0': { forecastSlowPart: 0 },
  'forgetting 0.95': { forgetting: 0.95 },
  'forgetting 0.99': { forgetting: 0.99 },
  'priorObservations 1': { priorObservations: 1 },
  'priorObservations 5': { priorObservations: 5 },
  'priorObservations 10': { priorObservations: 10 }
}

/** Lehmer's generator: the same numbers each time. */
function dice(): () => number {
  let state = 42
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

function measure(behaviours: readonly Behaviour[], limits: ReliabilityLimits): { brierRatio: number; calibrationError: number } {
  const next = dice()
  const off = Array.from({ length: bins }, () => 0)
  let squares = 0
  let failures = 0
  for (let run = 0; run < runs; run++) {
    const peers = behaviours.map((behaviour) => ({ succeeds: behaviour(next), evidence: new Evidence() }))
    for (let turn = 0; turn < turnsPerRun; turn++) {
      const mean = peers.reduce((sum, { evidence }) => sum + evidence.slow(limits.successPrior, limits), 0) / peers.length
      const peer = peers[Math.floor(next() * peers.length)] as (typeof peers)[number]
      const forecast = 1 - peer.evidence.expected(mean, limits)
      const isSuccess = peer.succeeds()
      const outcome = isSuccess ? 0 : 1
      const bin = Math.min(bins - 1, Math.floor(forecast * bins))
      off[bin] = (off[bin] as number) + forecast - outcome
      squares += (forecast - outcome) ** 2
      failures += outcome
      peer.evidence.observe(isSuccess, limits)
    }
  }
  const turns = runs * turnsPerRun
  const rate = failures / turns
  const calibrationError = off.reduce((sum, each) => sum + Math.abs(each), 0) / turns
  return { brierRatio: squares / turns / (rate * (1 - rate)), calibrationError }
}

const width = 20
process.stdout.write(
  `${''.padEnd(width)}  ${Object.keys(pools)
    .map((name) => name.padEnd(width))
    .join('')}\n`
)
for (const [name, changes] of Object.entries(variants)) {
  const cells = Object.values(pools).map((behaviours) => {
    const { brierRatio, calibrationError } = measure(behaviours, { ...defaultReliabilityLimits, ...changes })
    return `${brierRatio.toFixed(3)} / ${calibrationError.toFixed(3)}`.padEnd(width)
  })
  process.stdout.write(`${name.padEnd(width)}  ${cells.join('')}\n`)
}
