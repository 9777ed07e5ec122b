import { defaultBrokerLimits } from '@shardswap/broker'
import type { Ask } from './state.ts'

/** How long a peer has for an answer. */
export interface Deadlines {
  /** Milliseconds that an ask sent now has; Infinity where nothing ends it. */
  forAskMs(ask: Ask, nowMs: number): number
  /** Milliseconds more for an ask whose time is over, or 0. */
  extraMs(ask: Ask, nowMs: number): number
}

/** How soon a want whose deadline stands still is looked at again. */
const graceMs = 50
/** Nothing of use for longer than this ends an ask before its deadline, too. */
const quietMs = defaultBrokerLimits.timeoutMaxMs + 1

/**
 * Those of ours (B15), for the runs that tell choice and timeouts apart: latency and four times its
 * variation within bounds, and the bytes asked ahead at the peer's rate; standing still while it delivers.
 */
export const ours: Deadlines = {
  forAskMs(ask, nowMs) {
    const limitMs = ask.peer.timing.timeoutMs(ask.peer.sentBytes)
    ask.dueAtMs = nowMs + limitMs
    return Math.min(limitMs, quietMs)
  },
  extraMs(ask, nowMs) {
    const { timing } = ask.peer
    const isLate = nowMs >= ask.dueAtMs || timing.isQuiet(ask.sentAtMs ?? nowMs, nowMs)
    // A difference may be too small to add up to the time again.
    if (!isLate) return Math.max(1, Math.min(ask.dueAtMs - nowMs, quietMs))
    return ask.type === 'want-block' && timing.isStillArriving(ask.sequence, ask.sentAtMs ?? 0, nowMs) ? graceMs : 0
  }
}

/** The same time for everybody. */
export function fixed(limitMs: number): Deadlines {
  return { forAskMs: () => limitMs, extraMs: () => 0 }
}

/** Nothing ends an ask but an answer. */
export const never: Deadlines = fixed(Number.POSITIVE_INFINITY)

/** So long without a byte, whatever else. */
export function stall(limitMs: number): Deadlines {
  return {
    forAskMs: () => limitMs,
    extraMs: ({ peer, checkedAtMs }) => (peer.timing.lastBytesAtMs > checkedAtMs ? limitMs : 0)
  }
}
