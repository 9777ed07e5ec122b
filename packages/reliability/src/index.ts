/**
 * @packageDocumentation
 * Observations of peers in; scores, forecasts, a budget for backups and an account of every want out.
 * Pure: no clock, no die, no I/O. What is remembered is given out as plain data and taken back.
 */
export type * from './types.ts'
export { countNames } from './record.ts'
export { Reliability } from './reliability.ts'
export { defaultReliabilityLimits, type ReliabilityLimits, type ShareMap } from './limits.ts'
export type * from './views.ts'
export { Accounts } from './accounts.ts'
export { type AccountLimits, defaultAccountLimits, verifyAccountLimits } from './account-limits.ts'
export { Calendar } from './calendar.ts'
export { Windows, type WindowSums } from './windows.ts'
export { BackupBudget } from './budget.ts'
export { type BudgetLimits, defaultBudgetLimits, verifyBudgetLimits } from './budget-limits.ts'
export {
  creditedTurn,
  hasTurn,
  readSegment,
  type Receipt,
  type ReceiptTurn,
  type Segment,
  type SegmentContent,
  type TurnOutcome,
  turnOutcomes
} from './receipts.ts'
export { type RewardShare, rewardShares } from './rewards.ts'
export {
  type AccountRow,
  type Counters,
  isSavedPeriod,
  otherPeers,
  type PeriodReport,
  type PeriodRow,
  rewardableByTurn,
  type SavedPeriod,
  type SummedReceipt,
  sumReceipts
} from './sums.ts'
