import { baselines } from './policies/index.ts'
import type { Policy } from './policy.ts'

/** Every policy by its name. */
export const policies: ReadonlyMap<string, Policy> = new Map(baselines.map((policy) => [policy.name, policy]))
