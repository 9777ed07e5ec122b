import type { PolicyOutcome } from '../outcome.ts'
import type { Job, Scenario, Verdict, WorldEvent } from '../scenario.ts'
import { atMost, figure, show } from '../targets.ts'

const dags = 100
const blocksPerDag = 60
const startsWithinMs = 5000
/** One peer leaves and another comes, each so often. */
const turnoverMs = 20
const turnoverUntilMs = 20_000
/** What ten times the peers may make of it: a tenfold list of them would show as ten. */
const flatMax = 2

const KiB = 1024

function jobs(random: { next(): number }): Job[] {
  return Array.from({ length: dags }, (_, dag) => ({
    node: ['reader', 0],
    pattern: { kind: 'batches', sizes: [1, 20] },
    blocks: [dag * blocksPerDag, (dag + 1) * blocksPerDag],
    startMs: Math.floor(random.next() * startsWithinMs)
  }))
}

/** Peers leave and come back in a random order, so that as many are there all the time. */
function turnover(peers: number, random: { next(): number }): WorldEvent[] {
  const events: WorldEvent[] = []
  const away = new Set<number>()
  for (let atMs = turnoverMs; atMs < turnoverUntilMs; atMs += turnoverMs) {
    const leaves = Math.floor(random.next() * peers)
    if (away.has(leaves)) continue
    away.add(leaves)
    events.push({ atMs, kind: 'leave', node: ['seed', leaves] })
    const [comes] = away
    if (away.size <= peers / 20 || comes === undefined) continue
    away.delete(comes)
    events.push({ atMs, kind: 'join', node: ['seed', comes] })
  }
  return events
}

function churn(name: string, peers: number): Scenario {
  return {
    name,
    summary: `${peers} connected peers that come and go, ${dags} sessions of ${blocksPerDag} blocks, each DAG at one peer in ${dags}`,
    nodes: [
      {
        name: 'seed',
        count: peers,
        holdsOnly: (place) => Array.from({ length: blocksPerDag }, (_, block) => (place % dags) * blocksPerDag + block)
      },
      { name: 'reader', count: 1 }
    ],
    blocks: { count: dags * blocksPerDag, bytes: 16 * KiB },
    link: () => ({ delayMs: { logNormal: { median: 40, sigma: 0.5 } }, bytesPerS: { logNormal: { median: 2_000_000, sigma: 0.7 } } }),
    jobs,
    events: (random) => turnover(peers, random),
    limitMs: 10 * 60 * 1000,
    isMeasured: true,
    runs: { count: 3, because: 'a run connects ten thousand peers' }
  }
}

const thousand = churn('churn-1k', 1000)

export const churns: readonly Scenario[] = [
  thousand,
  {
    ...churn('churn-10k', 10_000),
    compareWith: thousand,
    target: (ours, _all, smaller) => [
      atMost(ours, 'failed', 0),
      atMost(ours, 'duplicateShare', 0.01),
      isFlat(ours, smaller, 'decisionMicros'),
      isFlat(ours, smaller, 'bytesPerPeer')
    ]
  }
]

function isFlat(large: PolicyOutcome, small: PolicyOutcome | undefined, name: string): Verdict {
  const ratio = figure(large, name) / (small === undefined ? NaN : figure(small, name))
  const what = `${name} ${show(figure(large, name))} is ${show(ratio)} ≤ ${flatMax} times that of a tenth of the peers`
  return { what, isMet: ratio <= flatMax }
}
