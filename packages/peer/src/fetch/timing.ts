import type { PeerLimits } from '../limits.ts'
import type { PeerState } from './state.ts'

/** A peer that delivers at least so much keeps its deadlines standing still (B15). */
const aliveBytesPerMs = (16 * 1024) / 1000
/** Bytes are counted over at least so long for a sample of the rate. */
const rateSampleMs = 100
/** Blocks asked later that arrived first: above it, an earlier one was passed over, not queued behind. */
const overtakingMax = 32

/**
 * How long the next want-block may take: latency and four times its variation
 * (RFC 6298), within bounds, plus what is asked ahead of it at the peer's rate (B15).
 */
export function timeoutMs(peer: PeerState, limits: PeerLimits): number {
  const latency =
    peer.latencyMs === undefined
      ? limits.timeoutStartMs
      : Math.min(limits.timeoutMaxMs, Math.max(limits.timeoutMinMs, peer.latencyMs + 4 * peer.latencyVariationMs))
  const ahead = peer.bytesPerMs === undefined || peer.bytesPerMs === 0 ? 0 : peer.inFlightBytes / peer.bytesPerMs
  // Of a peer below the rate of the living, little is due to what is ahead.
  const aheadMaxMs = (peer.bytesPerMs ?? 0) >= aliveBytesPerMs ? 10 * limits.timeoutMaxMs : limits.timeoutMaxMs
  return latency + Math.min(ahead, aheadMaxMs)
}

/** Smooths a latency sample in, with the gains of RFC 6298. */
export function sampleLatency(peer: PeerState, sampleMs: number): void {
  peer.latencyMinMs = Math.min(peer.latencyMinMs ?? sampleMs, sampleMs)
  if (peer.latencyMs === undefined) {
    peer.latencyMs = sampleMs
    peer.latencyVariationMs = sampleMs / 2
    return
  }
  peer.latencyVariationMs += (Math.abs(sampleMs - peer.latencyMs) - peer.latencyVariationMs) / 4
  peer.latencyMs += (sampleMs - peer.latencyMs) / 8
}

/** Counts bytes that came from a peer, of whole messages or parts of one. */
export function sampleBytes(peer: PeerState, bytes: number, nowMs: number): void {
  peer.rateBytes += bytes
  if (peer.rateBytes > 0) peer.lastBytesAtMs = nowMs
  const spanMs = nowMs - peer.rateFromMs
  if (spanMs < rateSampleMs) return
  const sample = Math.max(peer.rateBytes, 0) / spanMs
  peer.bytesPerMs = peer.bytesPerMs === undefined ? sample : peer.bytesPerMs + 0.3 * (sample - peer.bytesPerMs)
  // A message that is counted before its end is discounted after it.
  peer.rateBytes = Math.min(peer.rateBytes, 0)
  peer.rateFromMs = nowMs
}

/**
 * A message of so many bytes held nothing that was asked for: by the rate, and by what is still
 * arriving, it is as if it had not come, else talk alone would hold wants back.
 */
export function discountBytes(peer: PeerState, bytes: number): void {
  peer.rateBytes -= bytes
}

/** The link was idle: time without requests says nothing about the rate. */
export function restartRate(peer: PeerState, nowMs: number): void {
  peer.rateBytes = 0
  peer.rateFromMs = nowMs
}

/** Whether nothing of use came for so long that what is ahead of a want excuses nothing any more. */
export function isQuiet(peer: PeerState, sentAtMs: number, limits: PeerLimits, nowMs: number): boolean {
  return nowMs - Math.max(sentAtMs, peer.lastBytesAtMs) > limits.timeoutMaxMs
}

/** Whether a want that is past its deadline is rather behind bytes that are still arriving (B15). */
export function isStillArriving(peer: PeerState, sequence: number, limits: PeerLimits, nowMs: number): boolean {
  if (peer.deliveredSequence - sequence > overtakingMax) return false
  const quietMs = nowMs - peer.lastBytesAtMs
  if (quietMs > limits.timeoutStartMs) return false
  const spanMs = Math.max(nowMs - peer.rateFromMs, 1)
  return (peer.bytesPerMs ?? 0) >= aliveBytesPerMs || peer.rateBytes / spanMs >= aliveBytesPerMs
}

/**
 * Bytes that a peer may have in flight (B15): twice what its rate delivers in its
 * shortest latency, from a floor that fills a short link to the limit.
 */
export function windowBytes(peer: PeerState, limits: PeerLimits): number {
  const bandwidthDelay = (peer.bytesPerMs ?? 0) * (peer.latencyMinMs ?? 0)
  return Math.min(limits.inFlightBytesPerPeerMax, Math.max(limits.inFlightBytesPerPeerStart, 2 * bandwidthDelay))
}

/**
 * When the peer would have answered one more want, in milliseconds from now:
 * what it has ahead, at a rate between its own and the median of all.
 *
 * Where peers share one bottleneck, a peer's rate is as large as its part of
 * what is in flight: by its own rate alone every split would look as good as
 * any other, and chance would decide. By the geometric mean equals share alike,
 * and the faster still get more. Its shortest latency stands for the way there:
 * the smoothed one counts what was queued, and would stay high at a peer that
 * was busy once and is not asked since.
 */
export function expectedMs(peer: PeerState, averageBytes: number, medianBytesPerMs: number): number {
  const own = peer.bytesPerMs ?? 1.5 * medianBytesPerMs
  const rate = Math.sqrt(own * medianBytesPerMs)
  return (peer.inFlightBytes + averageBytes) / Math.max(rate, aliveBytesPerMs) + (peer.latencyMinMs ?? 0)
}
