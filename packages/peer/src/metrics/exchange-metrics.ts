/** What an exchange tells through libp2p's metrics; docs/metrics.md lists the same. */
import type { Metrics } from '@libp2p/interface'
import { StoppedError } from '@shardswap/interface'
import type { AdmissionReport } from '../admission/types.ts'
import type { AccountReport } from '../reliability/account-book.ts'
import type { Calibration } from '@shardswap/reliability'
import type { Exchange, PeerFetchStat, PeerGauges, PeerStat } from '../types.ts'
import { type MetricSpec, registerMetrics } from './register.ts'

/** All that an exchange says of itself at one moment. */
export interface ExchangeState {
  readonly stat: PeerStat
  readonly gauges: PeerGauges
  readonly calibration: Calibration
  readonly admission: AdmissionReport
  readonly account: AccountReport | undefined
  /** Those who are connected. */
  readonly connected: ReadonlySet<string>
}

type Spec = MetricSpec<ExchangeState>

function held(name: string, help: string, value: (state: ExchangeState) => number): Spec {
  return { name: `shardswap_${name}`, kind: 'gauge', help, isZeroAtRest: true, value }
}

function level(name: string, help: string, value: (state: ExchangeState) => number): Spec {
  return { name: `shardswap_${name}`, kind: 'gauge', help, value }
}

function counter(name: string, help: string, value: (state: ExchangeState) => number): Spec {
  return { name: `shardswap_${name}_total`, kind: 'counter', help, value }
}

const scoreBands = ['0_20', '20_40', '40_60', '60_80', '80_100'] as const

/** How many of the peers that are connected and can be asked have a score in which fifth of the scale. */
function byScore({ stat: { peers }, connected }: ExchangeState): Record<string, number> {
  const counts: Record<string, number> = Object.fromEntries(scoreBands.map((band) => [band, 0]))
  for (const { peer, score } of peers) {
    if (!connected.has(peer)) continue
    const band = scoreBands[Math.min(scoreBands.length - 1, Math.floor(score / 20))] ?? scoreBands[0]
    counts[band] = (counts[band] ?? 0) + 1
  }
  return counts
}

function sumOf(peers: readonly PeerFetchStat[], of: (peer: PeerFetchStat) => number): number {
  return peers.reduce((sum, peer) => sum + of(peer), 0)
}

const fetching: readonly Spec[] = [
  held('sessions', 'Sessions that are open.', ({ gauges }) => gauges.sessions),
  held('blocks_awaited', 'Blocks that callers wait for.', ({ gauges }) => gauges.blocksAwaited),
  held('wants', 'Blocks wanted from peers.', ({ gauges }) => gauges.wants),
  held('wants_at_peers', 'Wants that stand at peers, once for each peer.', ({ gauges }) => gauges.wantsAtPeers),
  held('want_blocks_in_flight', 'Want-blocks sent and not answered.', ({ stat }) => sumOf(stat.peers, (peer) => peer.inFlight)),
  held('in_flight_bytes', 'What the want-blocks in flight are taken for.', ({ stat }) => sumOf(stat.peers, (peer) => peer.inFlightBytes)),
  held('records', 'What is kept for each want, or for each session and peer.', ({ gauges }) => gauges.records),
  held('store_backlog_bytes', 'Verified blocks on their way into the store.', ({ gauges }) => gauges.storeBacklogBytes),
  held('searches', 'Searches for providers that run.', ({ gauges }) => gauges.searches),
  counter('blocks_received', 'Blocks that were asked for and came.', ({ stat }) => stat.fetch.blocks),
  counter('block_bytes_received', 'Bytes of them.', ({ stat }) => stat.fetch.bytes),
  counter('duplicate_blocks_received', 'Blocks that came once more.', ({ stat }) => stat.fetch.duplicateBlocks),
  counter('duplicate_block_bytes_received', 'Bytes of them.', ({ stat }) => stat.fetch.duplicateBytes),
  counter('unasked_blocks_received', 'Blocks that nobody had asked for; dropped.', ({ stat }) => stat.fetch.unaskedBlocks),
  counter('want_blocks_sent', 'Want-blocks sent, backups among them.', ({ stat }) => stat.fetch.wantBlocksSent),
  counter('backups_sent', 'Want-blocks sent beside another that had time left.', ({ stat }) => stat.fetch.backupsSent),
  counter('want_haves_sent', 'Want-haves sent.', ({ stat }) => stat.fetch.wantHavesSent),
  counter('want_timeouts', 'Want-blocks whose time passed.', ({ stat }) => stat.fetch.timeouts),
  counter('dont_haves_received', 'Answers that a peer does not have a block.', ({ stat }) => stat.fetch.dontHaves)
]

const serving: readonly Spec[] = [
  held('client_wants', 'Wants of clients that stand here.', ({ gauges }) => gauges.clientWants),
  held('client_bytes', 'Bytes of blocks that wait to be sent or are being sent.', ({ gauges }) => gauges.clientBytes),
  held('open_requests', 'Want-blocks of clients that are being served.', ({ admission }) => admission.open),
  level('open_requests_limit', 'How many may be served at a time (Cap_max).', ({ admission }) => admission.openRequestsMax),
  counter('blocks_sent', 'Blocks sent to clients.', ({ stat }) => stat.serve.blocksSent),
  counter('block_bytes_sent', 'Bytes of them.', ({ stat }) => stat.serve.bytesSent),
  counter('messages_sent', 'Messages sent to clients.', ({ stat }) => stat.serve.messagesSent),
  {
    name: 'shardswap_admission_decisions_total',
    kind: 'counter',
    help: 'Decisions on requests, by their reason.',
    label: 'reason',
    value: ({ admission }) => admission.decisions
  }
]

const judging: readonly Spec[] = [
  held('connected_peers', 'Peers that are connected.', ({ stat }) => stat.connectedPeers),
  {
    name: 'shardswap_peers_by_score',
    kind: 'gauge',
    help: 'Connected peers that can be asked, by the fifth of the scale that their score is in.',
    label: 'score',
    isZeroAtRest: true,
    value: byScore
  },
  counter('forecasts', 'Forecasts of failure whose outcome is known.', ({ calibration }) => calibration.forecasts),
  level('forecast_brier', 'Brier score of the forecasts; 0 is perfect.', ({ calibration }) => calibration.brier),
  level(
    'forecast_base_rate_brier',
    'The same for who always forecasts the rate of failure.',
    ({ calibration }) => calibration.baseRateBrier
  ),
  level('forecast_calibration_error', 'Mean distance of forecasts from what followed.', ({ calibration }) => calibration.calibrationError),
  {
    name: 'shardswap_account_turns',
    kind: 'gauge',
    help: 'The account of the present period, over all peers.',
    label: 'count',
    value: ({ account }) => {
      const { attempted = 0, successful = 0, rewardable = 0, rescued = 0 } = account?.totals ?? {}
      return { attempted, successful, rewardable, rescued }
    }
  },
  level('registered_servers', 'Servers that are registered.', ({ admission }) => admission.registry.servers),
  held('registry_frames', "Frames of the registry's protocol that are read, sent or wait.", ({ admission }) => admission.registry.frames),
  {
    name: 'shardswap_registry_records_total',
    kind: 'counter',
    help: 'Records of the registry that came, by their outcome.',
    label: 'outcome',
    value: ({ admission }) => admission.registry.outcomes
  },
  held('server_tests', 'Servers that are being tested.', ({ gauges }) => gauges.tests),
  {
    name: 'shardswap_server_test_blocks_total',
    kind: 'counter',
    help: 'Blocks asked for in tests of servers, by their outcome.',
    label: 'outcome',
    value: ({ admission }) => admission.tests?.outcomes ?? {}
  }
]

/** The metrics of an exchange. */
export const exchangeMetrics: readonly Spec[] = [...fetching, ...serving, ...judging]

/** Registers them; a second exchange on one node is not told of. Nothing where the node has no metrics. */
export function registerExchange(metrics: Metrics | undefined, exchange: Exchange): void {
  if (metrics !== undefined) registerMetrics(metrics, exchangeMetrics, () => stateOf(exchange))
}

function stateOf(exchange: Exchange): ExchangeState | undefined {
  try {
    return {
      stat: exchange.stat(),
      gauges: exchange.gauges(),
      calibration: exchange.calibration(),
      admission: exchange.admission(),
      account: exchange.report(),
      connected: new Set(exchange.connections().map(({ peer }) => peer))
    }
  } catch (error) {
    // A service that was never started has nothing to tell.
    if (error instanceof StoppedError) return undefined
    throw error
  }
}
