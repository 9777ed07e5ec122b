/**
 * @packageDocumentation
 * The peer broker: one want queue per peer over all sessions, matching, release of messages.
 */
export { Broker } from './broker.ts'
export { type Counters, newCounters } from './counters.ts'
export { type BrokerLimits, defaultBrokerLimits } from './limits.ts'
export type { BrokerOptions } from './options.ts'
export { Timing } from './timing.ts'
export type * from './types.ts'
