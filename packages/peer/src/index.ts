/**
 * @packageDocumentation
 * A libp2p peer that fetches and serves content-addressed blocks over Bitswap.
 */
export { createPeer } from './create-peer.ts'
export * from './limits.ts'
export { defaultServeLimits, type ServeLimits } from './serve/limits.ts'
export * from './types.ts'
