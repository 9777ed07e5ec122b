import type { Policy } from '../policy.ts'

/** The policies that ours is compared with. */
export const baselines: readonly Policy[] = []
