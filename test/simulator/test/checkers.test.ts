import type { Arrival, Command, ExchangeCore, Gauges } from '@shardswap/broker'
import { peerKey, type BlockKey } from '@shardswap/interface'
import { describe, expect, it } from 'vitest'
import { runCanary } from '../src/canary.ts'
import { Checker } from '../src/checkers/checker.ts'
import { Violation } from '../src/checkers/violation.ts'
import { makeBlocks, type SimulatedBlock } from '../src/engine/block.ts'
import type { Rule } from '../src/policy.ts'
import { policies } from '../src/registry.ts'

const a = peerKey('a')
const b = peerKey('b')
const blocks = makeBlocks(20, () => 1000)
const nothing: Gauges = { peers: 2, sessions: 0, wants: 0, inFlight: 0, inFlightBytes: 0, haves: 0, records: 0 }

function block(index: number): SimulatedBlock {
  return blocks[index] as SimulatedBlock
}

/** A checker of a core that says of itself what it is told to say; both peers are connected, and all blocks wanted. */
function makeChecker(gauges: Partial<Gauges> = {}, limitWants = 1000, wakeAtMs?: number): Checker {
  const core = {
    gauges: () => ({ ...nothing, ...gauges }),
    wakeAtMs: () => wakeAtMs,
    queues: () => [a, b].map((peer) => ({ peer, connected: true, inFlight: 3, limitWants }))
  } as unknown as ExchangeCore
  const checker = new Checker(core, new Set())
  checker.connected(a, true)
  checker.connected(b, true)
  for (const { key } of blocks) checker.wanted(0, key)
  return checker
}

function send(peer: typeof a, ...lines: ['want-block' | 'want-have' | 'cancel', number][]): Command {
  return { type: 'send', peer, entries: lines.map(([type, index]) => ({ type, cid: block(index).cid, key: block(index).key })) }
}

function late(peer: typeof a, index: number): Command {
  return { type: 'timed-out', peer, cid: block(index).cid, key: block(index).key }
}

function broken(act: () => void): Rule | undefined {
  try {
    act()
  } catch (error) {
    if (error instanceof Violation) return error.rule
    throw error
  }
  return undefined
}

const wanted: Arrival = { kind: 'wanted', cid: block(0).cid, sessions: [0] }

describe('what stands where', () => {
  it('[B19] lets no want stand twice at one peer, until it is answered or cancelled', () => {
    const checker = makeChecker()
    checker.commands([send(a, ['want-have', 0])])
    expect(broken(() => checker.commands([send(a, ['want-have', 0])]))).toBe('one-at-a-peer')
    // A want-have may become a want-block, never the other way round.
    checker.commands([send(a, ['want-block', 0])])
    expect(broken(() => checker.commands([send(a, ['want-have', 0])]))).toBe('one-at-a-peer')
    expect(broken(() => checker.commands([send(a, ['want-block', 0])]))).toBe('one-at-a-peer')
    checker.presence(a, block(0).key, 'dont-have')
    checker.commands([send(a, ['want-block', 0])])
    checker.commands([send(a, ['cancel', 0])])
    checker.commands([send(a, ['want-block', 0])])
    checker.disconnected(a)
    checker.connected(a, true)
    checker.commands([send(a, ['want-block', 0])])
  })

  it('[B15] has a want that had its time cancelled before the same peer is asked again', () => {
    const checker = makeChecker()
    checker.commands([send(a, ['want-block', 0])])
    checker.commands([late(a, 0), send(b, ['want-block', 0])])
    expect(broken(() => checker.commands([send(a, ['want-block', 0])]))).toBe('cancels')
    const other = makeChecker()
    other.commands([send(a, ['want-block', 0])])
    other.commands([send(b, ['want-block', 1]), late(a, 0), send(a, ['cancel', 0])])
    other.commands([send(a, ['want-block', 0])])
  })

  it('[B10] lets no second copy be asked for while one has its time, whatever the order of the commands', () => {
    const checker = makeChecker()
    checker.commands([send(a, ['want-block', 0], ['want-have', 1]), send(b, ['want-have', 0], ['want-block', 1])])
    expect(broken(() => checker.commands([send(b, ['want-block', 0])]))).toBe('backups')
    const moved = makeChecker()
    moved.commands([send(a, ['want-block', 0])])
    moved.commands([send(b, ['want-block', 0]), send(a, ['cancel', 0])])
    const denied = makeChecker()
    denied.commands([send(a, ['want-block', 0])])
    denied.presence(a, block(0).key, 'dont-have')
    denied.commands([send(b, ['want-block', 0])])
  })

  it('takes HAVE for no answer to a want-block', () => {
    const checker = makeChecker()
    checker.commands([send(a, ['want-block', 0])])
    checker.presence(a, block(0).key, 'have')
    expect(broken(() => checker.commands([send(b, ['want-block', 0])]))).toBe('backups')
  })
})

describe('limits', () => {
  it('holds a peer’s queue to its limit, and the core to its count', () => {
    expect(broken(() => makeChecker({}, 2).commands([send(a, ['want-block', 0])]))).toBe('limits')
    const four: ['want-block', number][] = [0, 1, 2, 3].map((index) => ['want-block', index])
    expect(broken(() => makeChecker().commands([send(a, ...four)]))).toBe('limits')
    expect(broken(() => makeChecker().commands([send(a, ...four.slice(1))]))).toBeUndefined()
  })
})

describe('messages', () => {
  it('make sense', () => {
    expect(broken(() => makeChecker().commands([send(a, ['cancel', 0], ['want-block', 0])]))).toBe('commands')
    expect(broken(() => makeChecker().commands([send(a)]))).toBe('commands')
    expect(broken(() => makeChecker().commands([send(peerKey('c'), ['want-block', 0])]))).toBe('commands')
    const old = makeChecker()
    old.connected(a, false)
    expect(broken(() => old.commands([send(a, ['want-have', 0])]))).toBe('commands')
    const left = makeChecker()
    left.left(0, block(0).key)
    expect(broken(() => left.commands([send(a, ['want-block', 0])]))).toBe('commands')
  })
})

describe('wants', () => {
  it('get their block when it comes', () => {
    const unknown: Arrival = { kind: 'unasked', shutOut: false }
    expect(broken(() => makeChecker().block(a, block(0).key, unknown, true))).toBe('wants-end')
    expect(broken(() => makeChecker().block(a, block(0).key, wanted, false))).toBe('wants-end')
    expect(broken(() => makeChecker().block(a, block(0).key, wanted, true))).toBeUndefined()
    expect(broken(() => makeChecker().block(a, 'wrong' as BlockKey, unknown, false))).toBeUndefined()
  })
})

function ended(checker: Checker): Checker {
  for (const { key } of blocks) checker.left(0, key)
  return checker
}

describe('at the end', () => {
  it('nothing is held, no timer runs, nothing is wanted and nothing stands anywhere', () => {
    expect(broken(() => ended(makeChecker()).atEnd())).toBeUndefined()
    expect(broken(() => makeChecker().atEnd())).toBe('wants-end')
    for (const name of ['sessions', 'wants', 'inFlight', 'inFlightBytes', 'haves', 'records']) {
      expect(broken(() => ended(makeChecker({ [name]: 1 })).atEnd())).toBe('gauges')
    }
    expect(broken(() => ended(makeChecker({}, 1000, 5000)).atEnd())).toBe('gauges')
    const standing = makeChecker()
    standing.commands([send(a, ['want-have', 0])])
    expect(broken(() => ended(standing).atEnd())).toBe('gauges')
  })
})

it.each(['shardswap', 'uniform'])('the canary is caught, each bug by its rule, around %s', (name) => {
  const policy = policies.get(name)
  expect(policy).toBeDefined()
  if (policy === undefined) return
  // Their exemptions are for what they do by themselves; here all rules are tried.
  const caught = runCanary({ ...policy, exempt: [] }, 1)
  expect(caught.filter(({ isCaught }) => !isCaught)).toEqual([])
  expect(caught).toHaveLength(10)
})
