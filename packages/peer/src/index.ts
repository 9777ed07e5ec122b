/**
 * @packageDocumentation
 * A libp2p peer that fetches and serves content-addressed blocks over Bitswap.
 */
export { defaultServeLimits, type ServeLimits } from '@shardswap/server'
export { createPeer } from './create-peer.ts'
export * from './errors.ts'
export { createExchangeCore, type ExchangeOptions } from './fetch/exchange.ts'
export * from './limits.ts'
export { rememberedScores } from './reliability/remembered-scores.ts'
export { readStatement } from './reliability/statement.ts'
export type { OwnAccount, OwnReceipt, OwnReceiptTurn, OwnScore, OwnScoreOptions, ScoreStatement } from './reliability/types.ts'
export type { Calibration, PeerCounts, PeerScore } from '@shardswap/reliability'
export * from './types.ts'
