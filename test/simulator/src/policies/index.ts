import type { ExchangeCore } from '@shardswap/broker'
import type { Policy, PolicyOptions, Rule } from '../policy.ts'
import { AllProviders } from './all-providers.ts'
import { fixed, never, ours, stall, type Deadlines } from './deadlines.ts'
import { HedgeP95 } from './hedge-p95.ts'
import { Lassie } from './lassie.ts'
import { OneWantBlock } from './one-want-block/core.ts'
import { foreseen, Oracle } from './oracle.ts'
import { P2c } from './p2c.ts'
import { RoundRobin } from './round-robin.ts'
import { SplitFactor } from './split-factor.ts'
import { Uniform } from './uniform.ts'

/** What go-bitswap took for an answer that never comes, and what policies have that name no deadline of their own. */
const plainMs = 5000
/** Lassie leaves a provider that sends nothing for so long. */
const lassieStallMs = 20_000
/** How often boxo's cancels and the next wants were seen to leave in one message, where both come up at once. */
const mergeShare = 0.25

function baseline(
  name: string,
  summary: string,
  own: Deadlines,
  make: (deadlines: Deadlines, options: PolicyOptions) => ExchangeCore,
  exempt: readonly Rule[] = []
): Policy {
  return {
    name,
    summary,
    // Only ours takes turns among sessions, cancels before it asks the same peer again, and starts with few wants.
    exempt: ['fair-turns', 'cancels', 'session-limits', ...exempt],
    create: (options) => make(options.deadlines === 'ours' ? ours : own, options)
  }
}

/** The policies that ours is compared with. */
export const baselines: readonly Policy[] = [
  baseline(
    'uniform',
    'any peer that may have the block, all alike',
    fixed(plainMs),
    (deadlines, { random }) => new Uniform(deadlines, random)
  ),
  baseline('round-robin', 'the next peer in turn, as Presearch did', fixed(plainMs), (deadlines) => new RoundRobin(deadlines)),
  baseline(
    'split-factor',
    'wants split over groups of peers by the share of duplicates, as go-bitswap did in 2019',
    never,
    (deadlines, { random }) => new SplitFactor(deadlines, random),
    ['limits', 'backups']
  ),
  {
    name: 'one-want-block',
    summary: 'one want-block to the likeliest peer and want-haves to the others, as boxo does',
    exempt: ['commands', 'fair-turns', 'cancels', 'limits', 'session-limits', 'one-at-a-peer', 'backups'],
    create: ({ random, deadlines, queuesInProcess }) =>
      new OneWantBlock({ random, deadlines: deadlines === 'ours' ? ours : undefined, queuesInProcess, mergeShare })
  },
  baseline(
    'all-providers',
    'every want to every provider of the session, as Helia does',
    never,
    (deadlines) => new AllProviders(deadlines),
    ['limits', 'backups', 'gauges']
  ),
  baseline(
    'lassie',
    'one provider at a time, drawn by a sum of smoothed scores, as Lassie does',
    stall(lassieStallMs),
    (deadlines, { random }) => new Lassie(deadlines, random),
    ['limits']
  ),
  baseline(
    'p2c',
    'of two peers taken by chance, the one with less in flight times latency',
    fixed(plainMs),
    (deadlines, { random }) => new P2c(deadlines, random)
  ),
  baseline(
    'hedge-p95',
    'any peer, and a second one after the 95th percentile of latencies, as "The Tail at Scale" says',
    fixed(plainMs),
    (deadlines, { random }) => new HedgeP95(deadlines, random),
    ['backups']
  ),
  {
    name: 'oracle',
    summary: 'the peer from which the block will be here first, by foresight',
    exempt: ['fair-turns', 'cancels', 'session-limits', 'limits'],
    create: ({ world, deadlines }) => new Oracle(deadlines === 'ours' ? ours : foreseen(world), world)
  }
]
