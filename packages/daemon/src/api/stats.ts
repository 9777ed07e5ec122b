import type { AbortOptions } from '@shardswap/interface'

/** What went over the network since the node started, framing and encryption included. */
export interface Bandwidth {
  readonly totalInBytes: number
  readonly totalOutBytes: number
  /** Over the last seconds. */
  readonly inBytesPerS: number
  readonly outBytesPerS: number
}

/** Of what the traffic is asked for. */
export interface BandwidthOptions extends AbortOptions {
  /** Of this protocol alone, e.g. `/ipfs/bitswap/1.2.0`, and then without what all protocols share. */
  readonly protocol?: string | undefined
}

/** What a node counts. */
export interface NodeStats {
  /** Errors: OfflineError where no peer runs for long. */
  bandwidth(options?: BandwidthOptions): Promise<Bandwidth>
}
