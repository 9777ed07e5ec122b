import { setTimeout as sleep } from 'node:timers/promises'
import type { Peer, PeerGauges } from '../../src/index.ts'

/** Bytes that are in use in this process once garbage is gone. It needs --expose-gc. */
export async function liveBytes(): Promise<number> {
  const { gc } = globalThis
  if (gc === undefined) throw new Error('run with --expose-gc')
  // What ends in callbacks after a collection (weak references, sockets) is garbage only for the next one.
  for (let round = 0; round < 3; round++) {
    await gc({ execution: 'async', type: 'major' })
    await sleep(20)
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Timers that keep the process alive. */
export function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout' || name === 'Immediate').length
}

/** A timer for the deadline of a want that has ended comes once more, within the greatest deadline, and is not set again. */
const timersEndWithinMs = 10_000

/** How many more timers there are than before, once those have ended that end by themselves. */
export async function timersLeft(before: number): Promise<number> {
  const deadline = performance.now() + timersEndWithinMs
  while (timers() > before && performance.now() < deadline) await sleep(50)
  return timers() - before
}

/** What a peer holds that it should not hold when idle. */
function held(peer: Peer, recordsMax: number): Partial<PeerGauges> {
  const mostOf = (name: string): number => (name === 'records' ? recordsMax : 0)
  return Object.fromEntries(Object.entries(peer.gauges()).filter(([name, value]) => value > mostOf(name)))
}

/**
 * Waits until no peer holds anything for anybody; gives up after `withinMs`, for
 * what is held then is the finding. A peer of which blocks were got without a
 * session has one of its own, which may keep `recordsMax` records: one for each
 * provider that it knows.
 */
export async function idle(peers: readonly Peer[], recordsMax = 0, withinMs = 5000): Promise<Partial<PeerGauges>[]> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const all = peers.map((peer) => held(peer, recordsMax)).filter((gauges) => Object.keys(gauges).length > 0)
    if (all.length === 0 || performance.now() > deadline) return all
    await sleep(10)
  }
}
