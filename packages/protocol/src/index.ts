/**
 * @packageDocumentation
 * Bitswap messages to bytes and back, within limits. No streams, no peers, no time.
 */
export { cidOfPrefix, prefixOf } from './cids.ts'
export { decodeMessage } from './decode.ts'
export { encodeMessageLists, encodeMessages } from './encode.ts'
export { encodeFrame, FrameDecoder, type Arrival } from './frames.ts'
export { keep } from './keep.ts'
export { defaultDecodeLimits, lengthPrefixBytesMax, pinFactorMax } from './limits.ts'
export type { EncodeOptions } from './split.ts'
export * from './types.ts'
export { protocolIds, supportsHave, versionOf } from './versions.ts'
