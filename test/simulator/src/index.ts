export type { Policy, PolicyOptions, Rule, World } from './policy.ts'
