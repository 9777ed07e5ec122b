import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'
import { isObject } from '@shardswap/interface'

/** When something was written, on the two clocks that outlive a process. */
export interface Stamp {
  /** Milliseconds since 1970, as the machine had it: it may have been set since. */
  readonly wallMs: number
  /** Milliseconds since the machine's start, by a clock that is never set and counts while it sleeps. */
  readonly upMs: number
  /** Which start of the machine that was; empty where the system does not tell. */
  readonly boot: string
}

/** The longest pause that is believed: after a month nothing by the hour or day is left to be aged. */
export const pauseMaxMs = 31 * 24 * 3_600_000

/** Now. */
export function stampNow(): Stamp {
  return { wallMs: Date.now(), upMs: Math.round(1000 * uptime()), boot: bootId() }
}

/**
 * Milliseconds from one stamp to a later one, from 0 to `pauseMaxMs`. Within one start of the machine its own
 * clock counts, whatever the wall clock was set to meanwhile; else the wall clock, for want of a better one.
 */
export function elapsedMs(from: Stamp, to: Stamp): number {
  const isSameBoot = from.boot !== '' && from.boot === to.boot && to.upMs >= from.upMs
  const ms = isSameBoot ? to.upMs - from.upMs : to.wallMs - from.wallMs
  return Math.min(Math.max(ms, 0), pauseMaxMs)
}

/** What a stamp was before it was stored, or undefined where it is none. */
export function stampOf(value: unknown): Stamp | undefined {
  if (!isObject<Stamp>(value)) return undefined
  const { wallMs, upMs, boot } = value
  if (!isTime(wallMs) || !isTime(upMs) || typeof boot !== 'string') return undefined
  return { wallMs, upMs, boot }
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

/** Linux gives each start of the machine an id. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return ''
  }
}
