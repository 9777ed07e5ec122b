import type { FetchFigures } from '../nodes/figures.ts'
import type { RunResult } from '../run-result.ts'
import type { Scenario, WorldEvent } from '../scenario.ts'
import { atLeast, atMost, show } from '../targets.ts'
import { comparedWith } from './compared.ts'

const KiB = 1024

/** Ten good peers: whatever is sent twice here is the price of caution. */
export const healthy: Scenario = {
  name: 'healthy',
  summary: '10 good peers 10 to 100 ms away, 2,000 blocks of 64 KiB in batches of 100',
  nodes: [
    { name: 'seed', count: 10, holds: () => true, uplinkBytesPerS: 5_000_000 },
    { name: 'reader', count: 1 }
  ],
  blocks: { count: 2000, bytes: 64 * KiB },
  link: () => ({ delayMs: { uniform: { from: 5, to: 50 } }, jitterMs: { logNormal: { median: 2, sigma: 0.5 } } }),
  jobs: [{ node: ['reader', 0], pattern: { kind: 'batches', sizes: [1, 100] }, blocks: [0, 2000] }],
  limitMs: 10 * 60 * 1000,
  policies: comparedWith(),
  target: (ours) => [atMost(ours, 'wantBlocksPerBlock', 1.01), atMost(ours, 'duplicateShare', 0.01), atMost(ours, 'failed', 0)]
}

const deathMs = 4000
const peers = 5

interface Shares {
  readonly before: number
  readonly after: number
  readonly wantsAfter: number
}

/** The dead peer's share of want-blocks in the two seconds before it died, and from two seconds after on. */
function sharesOf(figures: FetchFigures | undefined): Shares {
  const counts = { before: 0, beforeDead: 0, after: 0, afterDead: 0 }
  let wantsAfter = 0
  for (const { atMs, peer } of figures?.asked ?? []) {
    const isDead = peer === 'seed-0'
    if (isDead && atMs >= deathMs) wantsAfter += 1
    if (atMs >= deathMs - 2000 && atMs < deathMs) {
      counts.before += 1
      if (isDead) counts.beforeDead += 1
    } else if (atMs >= deathMs + 2000) {
      counts.after += 1
      if (isDead) counts.afterDead += 1
    }
  }
  return { before: counts.beforeDead / counts.before, after: counts.afterDead / counts.after, wantsAfter }
}

function deadFields(run: RunResult): Record<string, number> {
  const { before, after, wantsAfter } = sharesOf(run.fetchers.get('reader-0'))
  return { shareBefore: before, shareLeft: after / before, wantsAfterDeath: wantsAfter }
}

export const deadPeer: Scenario = {
  name: 'dead-peer',
  summary: `one of ${peers} equal peers goes silent after ${deathMs / 1000} s, its connection stands`,
  nodes: [
    { name: 'seed', count: peers, holds: () => true },
    { name: 'reader', count: 1 }
  ],
  blocks: { count: 4000, bytes: 64 * KiB },
  link: () => ({ delayMs: { uniform: { from: 15, to: 25 } }, bytesPerS: 4_000_000 }),
  jobs: [{ node: ['reader', 0], pattern: { kind: 'batches', sizes: [1, 64] }, blocks: [0, 4000] }],
  events: (): WorldEvent[] => [{ atMs: deathMs, kind: 'fault', node: ['seed', 0], fault: 'mute' }],
  limitMs: 10 * 60 * 1000,
  fields: deadFields,
  policies: comparedWith(),
  target: (ours) => {
    const { shareLeft = NaN, wantsAfterDeath = NaN } = ours.figures
    const what = `of its share ${show(shareLeft)} ≤ 0.1 left after 2 s, or ${show(wantsAfterDeath)} ≤ 10 wants sent to it since`
    return [{ what, isMet: shareLeft <= 0.1 || wantsAfterDeath <= 10 }, atLeast(ours, 'shareBefore', 0.05), atMost(ours, 'failed', 0)]
  }
}
