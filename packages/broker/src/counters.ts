import type { Member } from './blocks.ts'
import type { InFlight } from './copies.ts'
import type { PeerQueue } from './queue.ts'
import type { Figures, Gauges, SessionFigures } from './types.ts'

/** Figures, counting. */
export type Counters = { -readonly [name in keyof Figures]: number }

/** Counters at zero. */
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

/** What is kept of wants at peers and in sessions. */
export function recordsOf(queues: Iterable<PeerQueue>, members: Iterable<Member>): number {
  let records = 0
  for (const queue of queues) records += queue.copies.size + queue.outbox.size
  for (const { session } of members) records += session.stat().records
  return records
}

/** What is out over all peers, and kept of it. */
export function gaugesOf(
  inFlight: InFlight,
  parts: { readonly peers: number; readonly sessions: number; readonly wants: number; readonly records: number }
): Gauges {
  const { wants, bytes, backups, haves } = inFlight
  return { ...parts, inFlight: wants, inFlightBytes: bytes, backups, haves }
}

export function figuresOf({ session, figures }: Member): SessionFigures {
  const { potential, wants, inFlight, knownPeers } = session.stat()
  return { potential, wants, inFlight, knownPeers, figures: { ...figures } }
}
