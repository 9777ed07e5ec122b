import { MalformedError } from '@shardswap/interface'
import type { Bandwidth, BandwidthOptions, NodeStats } from '../api/stats.ts'
import { bandwidthOf, type BandwidthShape } from '../stats-shapes.ts'
import type { DaemonCalls } from './daemon-calls.ts'

/** What a daemon counts. */
export class RemoteStats implements NodeStats {
  readonly #calls: DaemonCalls

  constructor(calls: DaemonCalls) {
    this.#calls = calls
  }

  async bandwidth(options: BandwidthOptions = {}): Promise<Bandwidth> {
    for await (const line of this.#calls.lines<BandwidthShape>('stats/bw', { proto: options.protocol }, options)) return bandwidthOf(line)
    throw new MalformedError('the daemon told no bandwidth')
  }
}
