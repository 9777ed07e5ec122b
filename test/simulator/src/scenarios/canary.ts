import type { Command, ExchangeCore, WantEntry } from '@shardswap/broker'
import type { ReliabilityCore } from '@shardswap/reliability'
import type { Layer } from '../checkers/judge.ts'
import { batchBy10, bigBatch } from '../pattern.ts'
import type { Policy, Rule } from '../policy.ts'
import type { Scenario } from '../scenario.ts'

const KiB = 1024

/** A block that nobody has: it is asked for in vain and given up. */
const missing = 4000

/** A small world in which every planted bug has its occasion. */
export const canaryWorld: Scenario = {
  name: 'canary',
  summary: 'bugs planted around a core, each of which the checkers must catch',
  nodes: [
    { name: 'seed', count: 4, holds: (block) => block !== missing },
    { name: 'old', count: 1, holds: (block) => block !== missing, protocol: '1.1.0' },
    { name: 'reader', count: 1 }
  ],
  blocks: { count: missing + 1, bytes: 2 * KiB },
  link: () => ({ delayMs: 20 }),
  jobs: [
    { node: ['reader', 0], pattern: batchBy10, blocks: [0, 100] },
    { node: ['reader', 0], pattern: bigBatch, blocks: [100, 300], abortAtMs: 50 },
    { node: ['reader', 0], pattern: bigBatch, blocks: [300, missing] },
    { node: ['reader', 0], pattern: bigBatch, blocks: [missing, missing + 1], abortAtMs: 1000 }
  ],
  limitMs: 10 * 60 * 1000
}

/** A bug as it might creep into a core, and the rules that it breaks, any of which may be the first to show it. */
export interface Bug {
  readonly name: string
  readonly breaks: readonly Rule[]
  plant?(core: ExchangeCore): Partial<ExchangeCore>
  /** In the reliability layer, where there is one. */
  readonly inLayer?: (layer: Layer) => Partial<Layer>
  /** In what the core tells its layer. */
  readonly inTelling?: (told: ReliabilityCore) => Partial<ReliabilityCore>
}

type Sends = (commands: readonly Command[]) => readonly Command[]

/** Changes what a core says; `next` is called once for each decision. */
function speech(core: ExchangeCore, next: Sends): Partial<ExchangeCore> {
  return {
    decide: (nowMs) => [...next(core.decide(nowMs))],
    tick: (nowMs) => [...next(core.tick(nowMs))]
  }
}

/** Changes each message; one that is left empty is not sent. */
function rewritten(
  core: ExchangeCore,
  rewrite: (entries: readonly WantEntry[], peer: string) => readonly WantEntry[]
): Partial<ExchangeCore> {
  return speech(core, (commands) =>
    commands.flatMap((command): Command[] => {
      if (command.type !== 'send') return [command]
      const entries = rewrite(command.entries, command.peer)
      return entries.length === 0 ? [] : [{ ...command, entries }]
    })
  )
}

function isBlock(entry: WantEntry): boolean {
  return entry.type === 'want-block'
}

export const bugs: readonly Bug[] = [
  {
    name: 'a want-block goes to a second peer while the first has its time',
    // Where backups are paid for, it takes some until there are too many; nor do these keep to a session's limit.
    breaks: ['backups', 'session-limits'],
    plant: (core) =>
      speech(core, (commands) => {
        const first = commands.find((command) => command.type === 'send' && command.peer.startsWith('seed'))
        if (first?.type !== 'send') return commands
        const other = core.queues().find(({ peer, connected }) => connected && peer !== first.peer && peer.startsWith('seed'))
        const entries = first.entries.filter(isBlock).slice(0, 1)
        if (other === undefined || entries.length === 0) return commands
        return [...commands, { type: 'send', peer: other.peer, entries }]
      })
  },
  {
    name: 'a want-block is sent to the same peer once more',
    breaks: ['one-at-a-peer'],
    plant: (core) =>
      speech(core, (commands) => {
        const again = commands.find((command) => command.type === 'send' && command.entries.some(isBlock))
        return again?.type === 'send' ? [...commands, { ...again, entries: again.entries.filter(isBlock) }] : commands
      })
  },
  {
    name: 'a peer gets the wants of another, whatever its limit',
    breaks: ['limits', 'session-limits'],
    plant: (core) =>
      speech(core, (commands) =>
        commands.map((command) =>
          command.type === 'send' && command.peer.startsWith('seed') && command.entries.every(isBlock)
            ? { ...command, peer: core.queues().find(({ peer }) => peer === 'seed-0')?.peer ?? command.peer }
            : command
        )
      )
  },
  {
    name: 'no cancel is ever sent',
    breaks: ['gauges', 'limits', 'one-at-a-peer', 'backups'],
    plant: (core) => rewritten(core, (entries) => entries.filter((entry) => entry.type !== 'cancel'))
  },
  {
    name: 'a key stands twice in one message',
    breaks: ['commands'],
    plant: (core) => rewritten(core, (entries) => [...entries, ...entries.slice(0, 1)])
  },
  {
    name: 'an old peer is asked by want-haves',
    breaks: ['commands'],
    plant: (core) =>
      rewritten(core, (entries, peer) =>
        peer.startsWith('old') ? entries.map((entry) => (isBlock(entry) ? { ...entry, type: 'want-have' } : entry)) : entries
      )
  },
  {
    name: 'a block that somebody waits for is taken for a duplicate',
    breaks: ['wants-end'],
    plant: (core) => {
      let isDone = false
      return {
        receiveBlock: (peer, key, bytes, nowMs) => {
          if (isDone || nowMs < 300) return core.receiveBlock(peer, key, bytes, nowMs)
          isDone = true
          return { kind: 'duplicate', isAgain: false }
        }
      }
    }
  },
  {
    name: 'a want is forgotten',
    breaks: ['wants-end', 'fair-turns'],
    plant: (core) => {
      let wants = 0
      return {
        addWant: (id, cid, key, nowMs) => {
          wants += 1
          if (wants !== 5) core.addWant(id, cid, key, nowMs)
        }
      }
    }
  },
  {
    name: 'a timer is left after the last session',
    breaks: ['gauges'],
    plant: (core) => ({ wakeAtMs: () => core.wakeAtMs() ?? Number.MAX_SAFE_INTEGER })
  },
  {
    name: 'the first session never has its turn',
    breaks: ['fair-turns'],
    plant: (core) => ({
      addWant: (id, cid, key, nowMs) => {
        if (id !== 0) core.addWant(id, cid, key, nowMs)
      }
    })
  },
  {
    name: 'backups are asked without a token',
    breaks: ['backups'],
    inLayer: () => ({ failChance: () => 0.9, takeBackup: () => true, isFitForBackup: () => true })
  },
  {
    name: 'a want-block is taken to account twice',
    breaks: ['credit'],
    inLayer: (layer) => ({
      asked: (turn, nowMs) => {
        layer.asked(turn, nowMs)
        layer.asked(turn, nowMs)
      }
    })
  },
  {
    name: 'nobody is told what became of a want-block that was cancelled',
    breaks: ['credit'],
    inTelling: (told) => ({
      settled: (turn, outcome, nowMs, delivery) => {
        if (outcome !== 'withdrawn') told.settled(turn, outcome, nowMs, delivery)
      }
    })
  },
  {
    name: 'every peer is given the share of the best',
    breaks: ['shares'],
    inLayer: (layer) => ({
      scores: (nowMs) => {
        const scores = layer.scores(nowMs)
        const share = Math.max(...scores.map((score) => score.share))
        return scores.map((score) => ({ ...score, share }))
      }
    })
  }
]

/** Whether the policy has what the bug is planted in. */
export function isAtHome(bug: Bug, policy: Policy): boolean {
  return policy.backups !== undefined || (bug.inLayer === undefined && bug.inTelling === undefined)
}

/** The policy with a bug in it. Everything else passes through. */
export function planted(policy: Policy, bug: Bug): Policy {
  const { inLayer, inTelling } = bug
  return {
    ...policy,
    create: (options) => {
      const judge = (layer: Layer): ReliabilityCore => {
        const told = changed(layer, inLayer)
        return changed(options.judge?.(told) ?? told, inTelling)
      }
      return changed(policy.create({ ...options, judge }), bug.plant?.bind(bug))
    }
  }
}

function changed<T extends object>(target: T, change: ((target: T) => Partial<T>) | undefined): T {
  if (change === undefined) return target
  const changes = change(target)
  return new Proxy(target, {
    get: (_target, name) => {
      const owner = name in changes ? changes : target
      const value: unknown = Reflect.get(owner, name)
      return typeof value === 'function' ? (value.bind(owner) as unknown) : value
    }
  })
}
