/**
 * @packageDocumentation
 * Bitswap messages to bytes and back, within limits. No streams, no peers, no time.
 */
export * from './types.ts'
