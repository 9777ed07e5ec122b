/**
 * @packageDocumentation
 * A libp2p peer that fetches and serves content-addressed blocks over Bitswap.
 */
export {
  type AdmissionLimits,
  type AdmissionMode,
  type AdmissionReason,
  type AdmissionView,
  type Decision,
  defaultAdmissionLimits,
  defaultRegistryLimits,
  defaultServeLimits,
  defaultTestLimits,
  type OwnerView,
  type RecordOutcome,
  type RegistryLimits,
  type ServeLimits,
  type TestLimits,
  type TestOutcome
} from '@shardswap/server'
export { defaultRegistryShellLimits, type RegistryShellLimits } from './admission/limits.ts'
export { NotStoredError, openAdmission, type OpenAdmissionInit } from './admission/open-admission.ts'
export type { TestsReport } from './admission/tests/types.ts'
export type * from './admission/types.ts'
export { createPeer } from './create-peer.ts'
export type { Host, ShardswapComponents } from './network/host.ts'
export { shardswap, type ShardswapService } from './service/service.ts'
export * from './errors.ts'
export { createExchangeCore, type ExchangeOptions } from './fetch/exchange.ts'
export type { FetchProgress, PeerProgress } from './fetch/progress.ts'
export type * from './helia/types.ts'
export { withShardswap } from './helia/with-shardswap.ts'
export * from './limits.ts'
export { rememberedScores } from './reliability/remembered-scores.ts'
export {
  type AccountBook,
  type AccountReceipt,
  type AccountReport,
  type ReceiptsOptions,
  rememberedAccounts
} from './reliability/account-book.ts'
export { readStatement } from './reliability/statement.ts'
export type { OwnAccount, OwnReceipt, OwnReceiptTurn, OwnScore, OwnScoreOptions, ScoreStatement } from './reliability/types.ts'
export {
  type AccountLimits,
  type AccountRow,
  type BudgetLimits,
  type Calibration,
  type Counters,
  type PeerCounts,
  type PeerScore,
  type ReliabilityLimits,
  type RewardShare,
  rewardableByTurn,
  rewardShares,
  type ShareMap,
  sumReceipts
} from '@shardswap/reliability'
export { parseSwarmKey } from './routing/swarm-key.ts'
export type { NodeRoutingInit, PeerRouting, ProvideInit, RoutedProvider, Router, RoutingInit, RoutingStat } from './routing/types.ts'
export { exchangeMetrics, type ExchangeState } from './metrics/exchange-metrics.ts'
export { routingMetrics } from './metrics/routing-metrics.ts'
export { type MetricSpec, type MetricValue, registerMetrics } from './metrics/register.ts'
export * from './types.ts'
