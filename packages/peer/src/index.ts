/**
 * @packageDocumentation
 * A libp2p peer that fetches and serves content-addressed blocks over Bitswap.
 */
export { defaultServeLimits, type ServeLimits } from '@shardswap/server'
export { createPeer } from './create-peer.ts'
export { createExchangeCore, type ExchangeOptions } from './fetch/exchange.ts'
export * from './limits.ts'
export * from './types.ts'
