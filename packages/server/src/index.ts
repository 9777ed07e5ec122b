/**
 * @packageDocumentation
 * The serving half as a pure machine: ledgers, whom to serve next, what goes
 * into a message. No store, stream, clock or timer.
 */
export { Engine, type Sending, type ServeGauges } from './engine.ts'
export { Intake, type IntakeLimits } from './intake.ts'
export type { Ledger } from './ledger.ts'
export { defaultServeLimits, sendTimeoutMs, verifyServeLimits, type ServeLimits } from './limits.ts'
export type * from './types.ts'
export type { Envelope, Want } from './want.ts'
export * from './admission/admission.ts'
export { Availability, type AvailabilityFigures, type AvailabilityInit, type SavedServer } from './admission/availability.ts'
export * from './admission/binding.ts'
export * from './admission/formulas.ts'
export {
  type AdmissionLimits,
  defaultAdmissionLimits,
  defaultRegistryLimits,
  type RegistryLimits,
  verifyAdmissionLimits,
  verifyRegistryLimits
} from './admission/limits.ts'
export {
  BindingRegistry,
  type KeptRecord,
  type RecordOutcome,
  type Registry,
  type RegistryChange,
  type RegistryInit
} from './admission/registry.ts'
export { isReceived, type TestOutcome, TestIdentityTerm, TestSchedule, type TestScheduleInit, type Visit } from './admission/testing.ts'
export { defaultTestLimits, type TestLimits, verifyTestLimits } from './admission/testing-limits.ts'
