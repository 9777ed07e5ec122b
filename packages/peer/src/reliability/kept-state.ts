import { isObject } from '@shardswap/interface'
import type { RememberedPeers } from '@shardswap/reliability'
import { shifted } from './shift.ts'

/** What stands in a record. */
export interface KeptState {
  /** When it was given out, by the clock that dates what is in it: milliseconds since 1970. */
  readonly wallMs: number
  readonly remembered: RememberedPeers
}

/**
 * What is remembered, dated by the wall clock as it is set now, `pausedMs` after it was written.
 * Throws where it does not tell by which clock it was dated.
 */
export function keptState(state: unknown, pausedMs: number, nowWallMs: number): unknown {
  const { wallMs, remembered } = isObject<KeptState>(state) ? state : {}
  if (typeof wallMs !== 'number' || !Number.isFinite(wallMs)) throw new Error('it does not tell by which clock it is dated')
  return shifted(remembered, nowWallMs - wallMs - pausedMs)
}
