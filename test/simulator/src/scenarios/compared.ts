import { baselines } from '../policies/index.ts'

/** Ours, ours without backups and without the whole layer, so that each gain is its own, and all that we are compared with. */
export function comparedWith(leftOut: readonly string[] = []): readonly string[] {
  const names = ['shardswap', 'shardswap-no-backups', 'shardswap-no-scores', ...baselines.map(({ name }) => name)]
  return names.filter((name) => !leftOut.includes(name))
}
