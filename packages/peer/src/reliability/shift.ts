import { isObject } from '@shardswap/interface'
import type { RememberedPeers } from '@shardswap/reliability'

const hourMs = 3_600_000
/** Clocks are set by so much all the time; it moves nothing by an hour. */
const ignoredMs = 1000

/**
 * What was remembered, as if it had been dated by a wall clock that is `byMs` ahead of the one that it was dated by:
 * how long ago things happened stays as it was, whatever the clock was set to. What is no such state comes back as it is.
 */
export function shifted(remembered: unknown, byMs: number): unknown {
  if (Math.abs(byMs) < ignoredMs || !isObject<RememberedPeers>(remembered)) return remembered
  const peers = Array.isArray(remembered.peers) ? remembered.peers.map((peer: unknown) => shiftedPeer(peer, byMs)) : remembered.peers
  return { ...remembered, own: shiftedHours(remembered.own, byMs), peers }
}

function shiftedPeer(peer: unknown, byMs: number): unknown {
  if (!isObject<RememberedPeers['peers'][number]>(peer)) return peer
  const { firstSeenWallMs, shutOutUntilWallMs, windows } = peer
  return {
    ...peer,
    firstSeenWallMs: later(firstSeenWallMs, byMs),
    shutOutUntilWallMs: shutOutUntilWallMs === 0 ? 0 : later(shutOutUntilWallMs, byMs),
    windows: shiftedHours(windows, byMs)
  }
}

function shiftedHours(windows: unknown, byMs: number): unknown {
  if (!isObject<RememberedPeers['own']>(windows)) return windows
  return { ...windows, hour: later(windows.hour, Math.round(byMs / hourMs)) }
}

function later(time: unknown, by: number): unknown {
  return typeof time === 'number' ? Math.max(0, time + by) : time
}
