/**
 * @packageDocumentation
 * The peer broker: one want queue per peer over all sessions, matching, release of messages.
 */
export type * from './types.ts'
