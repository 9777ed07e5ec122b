/**
 * @packageDocumentation
 * The nouns and ports that every Shardswap package shares. Imports nothing but multiformats.
 */
export * from './errors.ts'
export * from './heap.ts'
export * from './keys.ts'
export * from './limits.ts'
export * from './plain.ts'
export * from './ports.ts'
export * from './random.ts'
export { CID } from 'multiformats/cid'
