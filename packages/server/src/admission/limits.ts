import { InvalidParametersError } from '@shardswap/interface'

const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs

/** Limits of admission: names, units, defaults and their reasons. Each has a line in docs/limits.md. */
export interface AdmissionLimits {
  /** [I9] Cap_max: open requests over all clients; set at start. */
  readonly openRequestsMax: number
  /** The score of clients without a registered server, in open requests; with 0 they are never admitted. */
  readonly freeScoreRequests: number
  /** No weight is below it: who asks for nothing has at most so many times the score. */
  readonly weightMin: number
  /** What is believed of a server before its first test, 0 to 1 … */
  readonly availabilityPrior: number
  /** … and how many tests that is worth. */
  readonly priorTests: number
  /** After so many tests in 30 days without one verified answer an owner's score is 0. */
  readonly blacklistTestsMin: number
  /** The window of requests served: with each of it that passes, what was served counts for 1/e of before. */
  readonly servedWindowMs: number
  /** After so many requests scores are taken anew … */
  readonly refreshRequests: number
  /** … and after this time in any case. */
  readonly refreshMs: number
  /** Clients with a binding that are connected. */
  readonly boundClientsMax: number
  /** Owners of whom is remembered what they were served. */
  readonly ownersMax: number
  /** Servers of which tests are remembered, registered or not; above `bindingsMax`, so that all that are registered fit. */
  readonly serversMax: number
}

/** The defaults; the reasons stand in docs/limits.md. */
export const defaultAdmissionLimits: AdmissionLimits = {
  openRequestsMax: 1024,
  freeScoreRequests: 128,
  weightMin: 0.1,
  availabilityPrior: 0.5,
  priorTests: 5,
  blacklistTestsMin: 24,
  servedWindowMs: dayMs,
  refreshRequests: 1000,
  refreshMs: 60_000,
  boundClientsMax: 8192,
  ownersMax: 4096,
  serversMax: 10_000
}

/** `limits` over the defaults. Errors: InvalidParametersError where no score could come out of them. */
export function verifyAdmissionLimits(limits: Partial<AdmissionLimits> = {}): AdmissionLimits {
  const all = { ...defaultAdmissionLimits, ...limits }
  for (const [name, value] of Object.entries(all)) {
    if (!Number.isFinite(value) || value < 0) throw new InvalidParametersError(`${name} must be a number and not below 0`)
  }
  const counts = ['openRequestsMax', 'blacklistTestsMin', 'refreshRequests', 'boundClientsMax', 'ownersMax', 'serversMax'] as const
  for (const name of counts) {
    if (!Number.isSafeInteger(all[name]) || all[name] === 0) throw new InvalidParametersError(`${name} must be a whole number above 0`)
  }
  for (const name of ['weightMin', 'priorTests', 'servedWindowMs', 'refreshMs'] as const) {
    if (all[name] === 0) throw new InvalidParametersError(`${name} must be above 0`)
  }
  if (all.availabilityPrior > 1) throw new InvalidParametersError('availabilityPrior must be at most 1')
  // A weight of 1 is fair: a floor above it would punish everybody.
  if (all.weightMin > 1) throw new InvalidParametersError('weightMin must be at most 1')
  if (all.freeScoreRequests > all.openRequestsMax) {
    throw new InvalidParametersError('freeScoreRequests must not be above openRequestsMax')
  }
  return all
}

/** Limits of the registry: names, units, defaults and their reasons. Each has a line in docs/limits.md. */
export interface RegistryLimits {
  /** Bindings and revocations kept. */
  readonly bindingsMax: number
  /** The same of one owner. */
  readonly bindingsPerOwnerMax: number
  /** Servers of one owner. */
  readonly serversPerOwnerMax: number
  /** The longest record, with its signatures, in bytes. */
  readonly bindingBytesMax: number
  /** The longest key of a client, server or owner, in characters. */
  readonly keyCharactersMax: number
  /** The longest time that a record may have until it expires. */
  readonly bindingLifetimeMaxMs: number
  /** So many records are looked at to find one that makes room. */
  readonly roomLooksMax: number
}

/** The defaults; the reasons stand in docs/limits.md. */
export const defaultRegistryLimits: RegistryLimits = {
  bindingsMax: 8192,
  bindingsPerOwnerMax: 256,
  serversPerOwnerMax: 64,
  bindingBytesMax: 2048,
  keyCharactersMax: 128,
  bindingLifetimeMaxMs: 30 * dayMs,
  roomLooksMax: 64
}

/** `limits` over the defaults. Errors: InvalidParametersError where no registry could run with them. */
export function verifyRegistryLimits(limits: Partial<RegistryLimits> = {}): RegistryLimits {
  const all = { ...defaultRegistryLimits, ...limits }
  for (const [name, value] of Object.entries(all)) {
    if (!Number.isSafeInteger(value) || value <= 0) throw new InvalidParametersError(`${name} must be a whole number above 0`)
  }
  if (all.bindingsPerOwnerMax > all.bindingsMax) {
    throw new InvalidParametersError('bindingsPerOwnerMax must not be above bindingsMax')
  }
  return all
}
