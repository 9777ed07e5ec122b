import { Random } from '../random.ts'
import { check, checkEnd } from './checks.ts'
import { happen, leftWants } from './events.ts'
import { Broken } from './broken.ts'
import { type JudgeKind, judgeKindOf } from './judge.ts'
import { World } from './world.ts'

/** Events of one run, at most; the seed says how many it is. */
const eventsMax = 160
/** Virtual time in which honest peers are to fill what they can, while all others are silent. */
const patienceMs = 30 * 60_000
/** Steps for it: more means that peers are asked again and again. */
const stepsMax = 20_000
const stepsPerCheck = 50

const judgingSeed = 0x2545f491

export interface ExchangeFailure {
  readonly seed: number
  readonly how: string
}

/**
 * Runs the exchange core through events in an order by chance, then lets all be silent but the honest peers.
 * Returns how it broke a promise, or undefined. `onLine` is told what happens; who judges peers is drawn, where it is left out.
 */
export function runExchange(seed: number, onLine?: (line: string) => void, kind?: JudgeKind): string | undefined {
  const random = new Random(seed)
  // A die of its own, so that a seed's events are the same whoever judges.
  const judging = new Random(seed ^ judgingSeed)
  const world = new World(random, { kind: kind ?? judgeKindOf(judging), random: judging }, onLine)
  try {
    for (let left = 5 + random.below(eventsMax); left > 0; left--) {
      happen(world)
      world.settle()
      check(world)
    }
    calm(world)
    checkEnd(world)
  } catch (error) {
    const how = error instanceof Error ? error.message : String(error)
    world.say(`broken: ${how}`)
    return error instanceof Broken ? how : `it threw: ${how}`
  }
  return undefined
}

/** Time goes on until every want is filled that can be. */
function calm(world: World): void {
  const { core } = world
  const untilMs = world.nowMs + patienceMs
  world.say('all are silent now but the honest')
  for (let steps = 0; world.nowMs < untilMs; steps++) {
    if (world.fillable().length === 0) return
    if (steps > stepsMax) throw new Broken(`asked again and again for ${leftWants(world)}`)
    const wakeMs = Math.max(core.wakeAtMs() ?? untilMs, world.nowMs + 1)
    world.nowMs = Math.min(wakeMs, ...world.honest.map(({ dueMs }) => Math.max(dueMs, world.nowMs)))
    world.settle()
    if (steps % stepsPerCheck === 0) check(world)
  }
  throw new Broken(`lost wants ${leftWants(world)}`)
}

/** Runs with the seeds `seed`, `seed + 1`, … until one fails. */
export function fuzzExchange(seed: number, runs: number, onProgress?: (done: number, seed: number) => void): ExchangeFailure | undefined {
  const progressRuns = 10_000
  for (let i = 0; i < runs; i++) {
    const own = (seed + i) >>> 0
    if (i % progressRuns === 0) onProgress?.(i, own)
    const how = runExchange(own)
    if (how !== undefined) return { seed: own, how }
  }
  return undefined
}

/** The command that tells one failing run. */
export function exchangeReplayCommand(seed: number): string {
  return `npx -y pnpm@10 fuzz --exchange --seed ${seed} --log`
}
