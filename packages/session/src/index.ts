/**
 * @packageDocumentation
 * One DAG's wants: potential, limits, choice of peer. Pure: no clock, no die, no stream of its own.
 */
export type { Candidate } from './candidate.ts'
export { Candidates, type Choice } from './candidates.ts'
export { defaultSessionLimits, type SessionLimits } from './limits.ts'
export type { Ask, Decision } from './decision.ts'
export type { SessionOptions } from './options.ts'
export { Session } from './session.ts'
export { unknownBlockBytes } from './sizes.ts'
export type { BlockView, PeerView, Phase, SessionPorts, Stance } from './views.ts'
export type { Want } from './want.ts'
export { deliveredFactor, grownLimit, newcomerFactor, queueFactor, restFactor, timeoutFactor, weightOf, type Factors } from './weight.ts'
