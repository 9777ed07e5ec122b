import { performance } from 'node:perf_hooks'
import { prometheusMetrics } from '@libp2p/prometheus-metrics'
import { type MetricSpec, type PeerInit, registerMetrics } from '@shardswap/peer'
import { type Counter, Registry } from 'prom-client'
import type { Bandwidth, BandwidthOptions, NodeStats } from '../api/stats.ts'
import { bandwidthSampleMs, bandwidthSamplesMax } from '../limits.ts'
import { CallCounts } from './call-counts.ts'
import { RateMeter } from './rate-meter.ts'
import { daemonMetrics, type DaemonState } from './table.ts'

/** libp2p's count of bytes, with the label `protocol`: `global received`, `/ipfs/id/1.0.0 sent` and so on. */
const transferName = 'libp2p_data_transfer_bytes_total'

type PeerMetrics = NonNullable<PeerInit['metrics']>

/** The metrics of one daemon: a registry of its own, which libp2p, the exchange and the daemon fill. Ends with `stop`. */
export class DaemonMetrics implements NodeStats {
  readonly calls = new CallCounts()
  readonly #registry = new Registry()
  readonly #rates = new RateMeter(bandwidthSamplesMax)
  readonly #tables: ((metrics: ReturnType<PeerMetrics>) => void)[] = []
  readonly #timer: NodeJS.Timeout
  #busy = performance.eventLoopUtilization()

  constructor() {
    this.add(daemonMetrics, () => this.#state())
    this.#timer = setInterval(() => void this.#sample().catch(() => undefined), bandwidthSampleMs)
    this.#timer.unref()
  }

  /** What is told beside, from the node's start on. To be called before it. */
  add<S>(table: readonly MetricSpec<S>[], read: () => S | undefined): void {
    this.#tables.push((metrics) => registerMetrics(metrics, table, read))
  }

  /** The `metrics` of the peer. */
  readonly forPeer: PeerMetrics = (components) => {
    const metrics = prometheusMetrics({ registry: this.#registry, collectDefaultMetrics: false })(components)
    for (const register of this.#tables) register(metrics)
    return metrics
  }

  /** All of it as Prometheus reads it. */
  async text(): Promise<{ readonly contentType: string; readonly body: string }> {
    return { contentType: this.#registry.contentType, body: await this.#registry.metrics() }
  }

  async bandwidth({ protocol = 'global' }: BandwidthOptions = {}): Promise<Bandwidth> {
    const totals = await this.#totals()
    const received = `${protocol} received`
    const sent = `${protocol} sent`
    return {
      totalInBytes: totals.get(received) ?? 0,
      totalOutBytes: totals.get(sent) ?? 0,
      inBytesPerS: this.#rates.perS(received),
      outBytesPerS: this.#rates.perS(sent)
    }
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#registry.clear()
  }

  #state(): DaemonState {
    const since = performance.eventLoopUtilization(this.#busy)
    this.#busy = performance.eventLoopUtilization()
    return { calls: this.calls, startedMs: performance.timeOrigin, busyPart: since.utilization }
  }

  async #sample(): Promise<void> {
    this.#rates.sample(await this.#totals(), performance.now())
  }

  async #totals(): Promise<Map<string, number>> {
    const counter = this.#registry.getSingleMetric(transferName) as Counter | undefined
    const values = (await counter?.get())?.values ?? []
    return new Map(values.map(({ labels, value }) => [String(labels['protocol']), value]))
  }
}
