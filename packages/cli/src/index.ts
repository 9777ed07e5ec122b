/**
 * @packageDocumentation
 * The `shardswap` command. Programs use the packages `@shardswap/peer` and `@shardswap/daemon` instead.
 */
export { createProgram } from './program.ts'
export { Shell } from './shell.ts'
