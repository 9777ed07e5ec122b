/**
 * @packageDocumentation
 * Observations of peers in; scores, forecasts, a budget for backups and an account of every want out.
 * Pure: no clock, no die, no I/O. What is remembered is given out as plain data and taken back.
 */
export type * from './types.ts'
export { Reliability } from './reliability.ts'
export { defaultReliabilityLimits, type ReliabilityLimits, type ShareMap } from './limits.ts'
export type * from './views.ts'
