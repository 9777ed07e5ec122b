import type { Ask, Peer } from './state.ts'

/** How long a peer has for an answer. */
export interface Deadlines {
  /** Milliseconds that an ask sent now has; Infinity where nothing ends it. */
  forAskMs(ask: Ask): number
  /** Milliseconds more for an ask whose time is over, or 0. */
  extraMs(ask: Ask, nowMs: number): number
}

const unknownMs = 1000
const leastMs = 50
const mostMs = 7000
/** A peer that delivers at least so much keeps its deadlines standing still. */
const aliveBytesPerMs = (16 * 1024) / 1000
/** No peer is so slow that what is asked ahead of a want would be due later than this. */
const aheadMaxMs = 70_000
/** Bytes are counted over at least so long for a sample of the rate. */
const rateSampleMs = 100

/**
 * Those of ours (B15), for the runs that tell choice and timeouts apart: latency and four times its
 * variation within bounds, and the bytes asked ahead at the peer's rate; standing still while it delivers.
 */
export const ours: Deadlines = {
  forAskMs({ type, peer, bytes }) {
    const { latencyMs, latencyVariationMs, bytesPerMs, inFlightBytes } = peer
    const latency = latencyMs === undefined ? unknownMs : Math.min(mostMs, Math.max(leastMs, latencyMs + 4 * latencyVariationMs))
    if (bytesPerMs === undefined || bytesPerMs === 0) return latency
    const aheadBytes = Math.max(0, inFlightBytes - (type === 'want-block' ? bytes : 0))
    return latency + Math.min(aheadMaxMs, aheadBytes / bytesPerMs)
  },
  extraMs({ peer, checkedAtMs, checkedBytes }, nowMs) {
    const spanMs = nowMs - checkedAtMs
    return peer.arrivedBytes - checkedBytes >= aliveBytesPerMs * spanMs ? spanMs : 0
  }
}

/** Nothing ends an ask but an answer. */
export const never: Deadlines = fixed(Number.POSITIVE_INFINITY)

/** The same time for everybody. */
export function fixed(limitMs: number): Deadlines {
  return { forAskMs: () => limitMs, extraMs: () => 0 }
}

/** So long without a byte, whatever else. */
export function stall(limitMs: number): Deadlines {
  return {
    forAskMs: () => limitMs,
    extraMs: ({ peer, checkedBytes }) => (peer.arrivedBytes > checkedBytes ? limitMs : 0)
  }
}

/** Smooths a latency sample in, with the gains of RFC 6298. */
export function sampleLatency(peer: Peer, sampleMs: number): void {
  if (peer.latencyMs === undefined) {
    peer.latencyMs = sampleMs
    peer.latencyVariationMs = sampleMs / 2
    return
  }
  peer.latencyVariationMs += (Math.abs(sampleMs - peer.latencyMs) - peer.latencyVariationMs) / 4
  peer.latencyMs += (sampleMs - peer.latencyMs) / 8
}

/** Counts what arrived, and samples the rate once enough time has gone by. */
export function sampleBytes(peer: Peer, bytes: number, nowMs: number): void {
  peer.arrivedBytes += bytes
  const spanMs = nowMs - peer.rateFromMs
  if (spanMs < rateSampleMs) return
  const sample = Math.max(0, peer.arrivedBytes - peer.rateFromBytes) / spanMs
  peer.bytesPerMs = peer.bytesPerMs === undefined ? sample : peer.bytesPerMs + 0.3 * (sample - peer.bytesPerMs)
  restartRate(peer, nowMs)
}

/** The link was idle: time without requests says nothing about the rate. */
export function restartRate(peer: Peer, nowMs: number): void {
  peer.rateFromMs = nowMs
  peer.rateFromBytes = peer.arrivedBytes
}
