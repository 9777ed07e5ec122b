/** What a daemon tells beside its exchange; docs/metrics.md lists the same. */
import type { MetricSpec } from '@shardswap/peer'
import { version } from '../version.ts'
import type { CallCounts } from './call-counts.ts'

/** What the daemon's metrics are read from. */
export interface DaemonState {
  readonly calls: CallCounts
  /** When this process started, in milliseconds since 1970. */
  readonly startedMs: number
  /** Part of the time since the last collection in which the event loop was busy. */
  readonly busyPart: number
}

/** The metrics of a daemon. Those of the process have the names that all exporters give them. */
export const daemonMetrics: readonly MetricSpec<DaemonState>[] = [
  {
    name: 'shardswap_rpc_calls_open',
    kind: 'gauge',
    help: 'Calls of the RPC that are being answered.',
    isZeroAtRest: true,
    value: ({ calls }) => calls.open
  },
  {
    name: 'shardswap_rpc_calls_total',
    kind: 'counter',
    help: 'Calls of the RPC, by their command.',
    label: 'command',
    value: ({ calls }) => calls.calls
  },
  {
    name: 'shardswap_rpc_failures_total',
    kind: 'counter',
    help: 'Calls of the RPC that failed, by whose mistake it was.',
    label: 'fault',
    value: ({ calls }) => calls.failures
  },
  { name: 'shardswap_build_info', kind: 'gauge', help: 'Always 1.', label: 'version', value: () => ({ [version]: 1 }) },
  {
    name: 'process_start_time_seconds',
    kind: 'gauge',
    help: 'When the process started, since 1970.',
    value: ({ startedMs }) => startedMs / 1000
  },
  {
    name: 'process_cpu_seconds_total',
    kind: 'counter',
    help: 'Processor time that the process took.',
    value: () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1e6
    }
  },
  { name: 'process_resident_memory_bytes', kind: 'gauge', help: 'Memory that the process holds.', value: () => process.memoryUsage.rss() },
  {
    name: 'nodejs_eventloop_utilization_ratio',
    kind: 'gauge',
    help: 'Part of the time since the last collection in which the event loop was busy.',
    value: ({ busyPart }) => busyPart
  }
]
