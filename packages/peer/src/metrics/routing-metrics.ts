/** What routing tells through libp2p's metrics; docs/metrics.md lists the same. */
import type { RoutingStat } from '../routing/types.ts'
import type { MetricSpec } from './register.ts'

/** The metrics of routing. */
export const routingMetrics: readonly MetricSpec<RoutingStat>[] = [
  {
    name: 'shardswap_announces_waiting',
    kind: 'gauge',
    help: 'CIDs that wait to be announced to routers, or are being announced.',
    isZeroAtRest: true,
    value: ({ announcesWaiting }) => announcesWaiting
  },
  {
    name: 'shardswap_announces_total',
    kind: 'counter',
    help: 'CIDs announced to routers, by the outcome.',
    label: 'outcome',
    value: ({ announced, announcesFailed }) => ({ done: announced, failed: announcesFailed })
  },
  {
    name: 'shardswap_peering_peers',
    kind: 'gauge',
    help: 'Peers to stay connected to.',
    value: ({ peeringPeers }) => peeringPeers
  },
  {
    name: 'shardswap_peering_connected_peers',
    kind: 'gauge',
    help: 'How many of them are connected.',
    isZeroAtRest: true,
    value: ({ peeringConnected }) => peeringConnected
  }
]
