import type { Candidate } from './candidate.ts'
import type { BlockView } from './views.ts'

/** Where a want stands in its session. A want that ended is in no session. */
export type WantState =
  /** May be sent; in the heap under this key, others of it there are stale. */
  | { readonly phase: 'ready'; readonly heapKey: number }
  /** Those who have it, or may, have no space; in line at each of them. */
  | { readonly phase: 'blocked'; readonly at: readonly Candidate[] }
  /** Want-haves are out, and nobody else is to be asked meanwhile. */
  | { readonly phase: 'asked' }
  /** A want-block is out, of this session or of another that it attached to (B19). */
  | { readonly phase: 'in-flight' }
  /** Nobody is left to ask before `untilMs`. */
  | { readonly phase: 'exhausted'; readonly untilMs: number }

/** One block that a session wants. */
export interface Want {
  readonly block: BlockView
  /** Its place in the order of arrival; but see `Session.timedOut`. */
  turn: number
  state: WantState
  /** A partner is to fetch it first, and to tell: it counts as sent once more (see Partners). */
  deferred: boolean
  /** Waves of want-haves for it so far; each is twice as large. */
  waves: number
  /** How often all were asked in vain; spaces the next asking out. */
  exhaustions: number
  /** Who denied it is not asked again before, whoever else is. */
  deniedUntilMs: number
  /** Nothing went on for it since. */
  quietSinceMs: number
}

/** Wants are ordered by potential, greatest first, then first in, first out (B8). Arrivals of one session fit below it. */
const turnsMax = 2 ** 40

/** Asks that are out for a want. Each costs one of its potential until it is answered or times out (B10). */
export function asksOut(want: Want): number {
  return want.block.inFlight + want.block.havesAsked + Number(want.deferred)
}

/** B10: `P − sent + timeouts`; a DONT_HAVE, and any other answer, gives back what its ask took. */
export function potentialOf(want: Want, sessionPotential: number): number {
  return sessionPotential - asksOut(want)
}

/** The smaller, the sooner its turn: potential first, since P is the same for all, then arrival. */
export function heapKeyOf(want: Want): number {
  return asksOut(want) * turnsMax + want.turn
}

const askAgainMaxMs = 60_000

/** Nobody is left to ask. Returns when somebody is: those who denied it, later each time; sooner a peer that has rested for it (B20). */
export function exhaust(want: Want, askAgainMs: number, nowMs: number): number {
  // A peer that comes or has rested was asked as well: that is no reason to ask the others again.
  if (nowMs >= want.deniedUntilMs) {
    want.deniedUntilMs = nowMs + Math.min(askAgainMs * 2 ** Math.min(want.exhaustions, 10), askAgainMaxMs)
    want.exhaustions += 1
  }
  want.waves = 0
  let atMs = want.deniedUntilMs
  for (const { phase, sinceMs, restMs } of want.block.stances.values()) {
    const restedMs = sinceMs + restMs + 1
    if (phase === 'timed-out' && restedMs > nowMs) atMs = Math.min(atMs, restedMs)
  }
  return atMs
}
