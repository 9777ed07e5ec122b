import type { Bandwidth } from './api/stats.ts'

/** The shape of `stats/bw`, Kubo's; bytes, and bytes a second. */
export interface BandwidthShape {
  readonly TotalIn: number
  readonly TotalOut: number
  readonly RateIn: number
  readonly RateOut: number
}

/** A node's bandwidth as `stats/bw` tells it. */
export function bandwidthShape({ totalInBytes, totalOutBytes, inBytesPerS, outBytesPerS }: Bandwidth): BandwidthShape {
  return { TotalIn: totalInBytes, TotalOut: totalOutBytes, RateIn: inBytesPerS, RateOut: outBytesPerS }
}

/** The same the other way round. */
export function bandwidthOf({ TotalIn, TotalOut, RateIn, RateOut }: BandwidthShape): Bandwidth {
  return { totalInBytes: TotalIn, totalOutBytes: TotalOut, inBytesPerS: RateIn, outBytesPerS: RateOut }
}
