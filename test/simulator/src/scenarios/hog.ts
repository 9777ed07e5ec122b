import { ln } from '../engine/exact-math.ts'
import type { SeededRandom } from '../engine/random.ts'
import type { RunResult } from '../run-result.ts'
import type { AdmissionPlan, Job, NodeGroup, Scenario } from '../scenario.ts'
import { atLeast, atMost } from '../targets.ts'

const KiB = 1024

/** Of ten owners with a server each one is the hog: a tenth of the servers. */
const honestOwners = 9
const honestClients = 4 * honestOwners
/** The more it has, the more turns: what it must not gain by. */
const hogClients = 2 * honestClients
const blockBytes = 16 * KiB
const sessionBlocks = 20
const uplinkBytesPerS = 2_000_000
/** What the honest ones ask for, as a part of what the provider can send; the hog asks for four times as much: 80 %. */
const honestDemand = 1
const hogDemand = 4 * honestDemand
const offeredForMs = 60_000
/** By then scores know who uses how much. */
const warmUpMs = 20_000
/** Whoever has not had everything by then goes. */
const patienceMs = 4000

const sessionsAtCapacity = (uplinkBytesPerS * (offeredForMs / 1000)) / (sessionBlocks * blockBytes)
const hogSessions = Math.round(hogDemand * sessionsAtCapacity)
const honestSessions = Math.round(honestDemand * sessionsAtCapacity)

/** They come when they come, whatever became of those before. */
function arrivals(random: SeededRandom, group: string, clients: number, sessions: number, fromBlock: number): Job[] {
  let startMs = 0
  return Array.from({ length: sessions }, (_, session) => {
    startMs -= (offeredForMs / sessions) * ln(1 - random.next())
    const from = fromBlock + session * sessionBlocks
    return {
      node: [group, random.integer(clients)],
      pattern: { kind: 'batches', sizes: [1, Infinity] },
      blocks: [from, from + sessionBlocks],
      startMs,
      abortAtMs: startMs + patienceMs,
      // Clients need not ask each other.
      fixedPeers: [['provider', 0]]
    }
  })
}

/**
 * All servers have answered every test. So many requests may be open as the honest ones have under way by themselves, a block or
 * two for each of theirs who asks: where they leave room, the hog has some of it.
 */
const admission: AdmissionPlan = {
  limits: { openRequestsMax: 16, freeScoreRequests: 2 },
  owners: [
    { owner: 'hog', servers: 1, received: 100, lost: 0 },
    ...Array.from({ length: honestOwners }, (_, place) => ({ owner: `honest ${place}`, servers: 1, received: 100, lost: 0 }))
  ]
}

const nodes: readonly NodeGroup[] = [
  { name: 'provider', count: 1, holds: () => true, uplinkBytesPerS },
  { name: 'hog', count: hogClients, owner: 'hog' },
  { name: 'honest', count: honestClients, owner: (place) => `honest ${place % honestOwners}` }
]

function blocksOf(run: RunResult, group: string): number {
  let blocks = 0
  for (const [name, figures] of run.fetchers) if (name.startsWith(`${group}-`)) blocks += figures.blocks
  return blocks
}

/** The hog's part of what the provider admitted once its scores knew of it, while all of them asked. */
function hogShare(run: RunResult): number {
  let all = 0
  let hogs = 0
  for (const { atMs, owner, requests } of run.admitted.get('provider-0') ?? []) {
    if (atMs < warmUpMs || atMs > offeredForMs) continue
    all += requests
    if (owner === 'hog') hogs += requests
  }
  return hogs / all
}

const common = {
  nodes,
  blocks: { count: (hogSessions + honestSessions) * sessionBlocks, bytes: blockBytes },
  link: () => ({ delayMs: { uniform: { from: 10, to: 40 } }, jitterMs: { logNormal: { median: 2, sigma: 0.5 } } }),
  jobs: (random: SeededRandom) => [
    ...arrivals(random, 'hog', hogClients, hogSessions, 0),
    ...arrivals(random, 'honest', honestClients, honestSessions, hogSessions * sessionBlocks)
  ],
  limitMs: 10 * 60 * 1000,
  fields: (run: RunResult) => ({
    hogShare: hogShare(run),
    honestGot: blocksOf(run, 'honest') / (honestSessions * sessionBlocks),
    hogGot: blocksOf(run, 'hog') / (hogSessions * sessionBlocks)
  })
} as const

/** The same with nobody registered: what serving in turn alone does. */
const unregistered: Scenario = {
  ...common,
  name: 'hog/unregistered',
  summary: 'as hog, where nobody has registered a server: peers take turns, and the hog is several of them'
}

/** Who takes much more than it gives has what it gives, once others want the rest. */
export const hog: Scenario = {
  ...common,
  name: 'hog',
  summary: `the owner of one of ten servers sends 80 % of the requests to a provider of ${uplinkBytesPerS / 1e6} MB/s, ${honestDemand + hogDemand} times what it can send`,
  admission,
  compareWith: unregistered,
  target: (ours, _all, compared) => [
    atMost(ours, 'hogShare', 0.15),
    atLeast(ours, 'honestGot', 0.8),
    ...(compared === undefined ? [] : [atLeast(ours, 'honestGot', 3 * (compared.figures['honestGot'] ?? NaN))])
  ]
}
