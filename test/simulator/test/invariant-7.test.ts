import type { Command, ExchangeCore } from '@shardswap/broker'
import type { BlockKey, PeerKey } from '@shardswap/interface'
import { createExchangeCore } from '@shardswap/peer'
import { Reliability } from '@shardswap/reliability'
import { expect, it } from 'vitest'
import type { Judge } from '../src/checkers/judge.ts'
import type { Policy } from '../src/policy.ts'
import { run } from '../src/run.ts'
import type { Scenario } from '../src/scenario.ts'

const KiB = 1024

/** Every primary delivers in its time, some of them late enough for a backup; nothing is small enough to come unasked. */
const world: Scenario = {
  name: 'stalls',
  summary: 'peers that stall now and then, and deliver within their time all the same',
  nodes: [
    {
      name: 'seed',
      count: 8,
      holds: () => true,
      answerMs: {
        mixture: [
          { weight: 0.95, of: { uniform: { from: 0, to: 4 } } },
          { weight: 0.05, of: { uniform: { from: 20, to: 30 } } }
        ]
      }
    },
    { name: 'reader', count: 1 }
  ],
  blocks: { count: 3000, bytes: 4 * KiB },
  link: () => ({ delayMs: { uniform: { from: 4, to: 8 } } }),
  jobs: [{ node: ['reader', 0], pattern: { kind: 'batches', sizes: [1, 24] }, blocks: [0, 3000], sessionBlocks: 500 }],
  limitMs: 10 * 60 * 1000
}

interface Picks {
  readonly primaries: readonly string[]
  readonly backups: number
  readonly failures: number
}

/** The primary picks of one run, in order. What is sent as a backup does not leave, so that outcomes and slots are the same without. */
function picksOf(hasBackups: boolean, seed: number): Picks {
  const primaries: string[] = []
  let judge: Judge | undefined
  const policy: Policy = {
    name: 'replayed',
    summary: 'ours, with backups that nobody hears of',
    backups: { share: 0.05, besides: 20 },
    create: (options) => {
      const judged = options.judge?.(new Reliability({ wallMs: 0, nowMs: 0 })) as Judge
      judge = judged
      const core = createExchangeCore({
        self: options.self,
        random: options.random,
        reliability: noting(judged, primaries),
        backups: hasBackups
      })
      return withoutBackups(core, (peer, key) => judged.roleOf(peer, key) === 'backup')
    }
  }
  run(world, policy, seed)
  return { primaries, backups: judge?.turns.backup ?? NaN, failures: judge?.forecasts.failures ?? NaN }
}

function noting(judge: Judge, primaries: string[]): Judge {
  return replaced(judge, {
    asked: (turn, nowMs) => {
      if (turn.role === 'primary') primaries.push(`${nowMs} ${turn.key} ${turn.peer}`)
      judge.asked(turn, nowMs)
    }
  })
}

/** Takes backups, and the cancels of such, out of all messages. */
function withoutBackups(core: ExchangeCore, isBackup: (peer: PeerKey, key: BlockKey) => boolean): ExchangeCore {
  const unsent = new Set<string>()
  const strip = (commands: readonly Command[]): Command[] =>
    commands.flatMap((command): Command[] => {
      if (command.type !== 'send') return [command]
      const { peer } = command
      const entries = command.entries.filter(({ type, key }) => {
        if (type === 'cancel') return !unsent.delete(`${peer} ${key}`)
        if (type !== 'want-block' || !isBackup(peer, key)) return true
        unsent.add(`${peer} ${key}`)
        return false
      })
      return entries.length === 0 ? [] : [{ ...command, entries }]
    })
  return replaced(core, { decide: (nowMs) => strip(core.decide(nowMs)), tick: (nowMs) => strip(core.tick(nowMs)) })
}

function replaced<T extends object>(target: T, changes: Partial<T>): T {
  return new Proxy(target, {
    get: (_target, name) => {
      const owner = name in changes ? changes : target
      const value: unknown = Reflect.get(owner, name)
      return typeof value === 'function' ? (value.bind(owner) as unknown) : value
    }
  })
}

it('[P7] with outcomes and slots alike, primary picks are the same with backups and without (invariant 7)', () => {
  let backups = 0
  for (const seed of [1, 2, 3]) {
    const on = picksOf(true, seed)
    const off = picksOf(false, seed)
    expect(off.backups).toBe(0)
    expect([on.failures, off.failures]).toEqual([0, 0])
    expect(on.primaries).toEqual(off.primaries)
    backups += on.backups
  }
  expect(backups).toBeGreaterThan(20)
})
