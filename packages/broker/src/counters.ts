import type { Figures } from './types.ts'

/** Figures, counting. */
export type Counters = { -readonly [name in keyof Figures]: number }

export function newCounters(): Counters {
  return {
    wantBlocksSent: 0,
    backupsSent: 0,
    wantHavesSent: 0,
    blocks: 0,
    bytes: 0,
    duplicateBlocks: 0,
    duplicateBytes: 0,
    timeouts: 0,
    dontHaves: 0,
    unaskedBlocks: 0
  }
}

/** A block came. */
export function countBlock(counters: Counters, bytes: number): void {
  counters.blocks += 1
  counters.bytes += bytes
}

/** A block came once more. */
export function countDuplicate(counters: Counters | undefined, bytes: number): void {
  if (counters === undefined) return
  counters.duplicateBlocks += 1
  counters.duplicateBytes += bytes
}
