import { MalformedError, peerKey } from '@shardswap/interface'
import type { BlockKey } from '@shardswap/interface'
import { Accounts, creditedTurn, defaultAccountLimits, hasTurn, readSegment, rewardableByTurn, sumReceipts } from '@shardswap/reliability'
import type { Outcome, Receipt, Role, Segment } from '@shardswap/reliability'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteWriter } from '../src/bytes.ts'
import { SegmentWriter } from '../src/receipts.ts'
import { accountsWith, keyOf, peerOf, receiptsIn } from './account-scene.ts'

// Deterministic seeds: a failure is the same on every machine.
const runs = { seed: 20_261_130, numRuns: 300 }
const keys = [0, 1, 2, 3, 4, 5].map(keyOf)
const peers = [0, 1, 2, 3].map(peerOf)
const hourMs = 3_600_000

interface Step {
  readonly key: number
  readonly peer: number
  readonly what: 'turn' | 'settle' | 'end'
  readonly role: Role
  readonly outcome: Outcome
  readonly waitMs: number
}

const outcome = fc.constantFrom<Outcome>(
  'success',
  'success',
  'success',
  'timeout',
  'silence',
  'reset',
  'broken-have',
  'late',
  'denied',
  'withdrawn',
  'refused'
)
const step: fc.Arbitrary<Step> = fc.record({
  key: fc.nat(keys.length - 1),
  peer: fc.nat(peers.length - 1),
  what: fc.constantFrom('turn', 'turn', 'settle', 'settle', 'end'),
  role: fc.constantFrom('primary', 'backup'),
  outcome,
  waitMs: fc.constantFrom(0, 1, 2.5, hourMs)
})

/** Plays steps as a broker would: no second copy at a peer, each copy settled once; in the end all is over. Returns the time. */
function play(accounts: Accounts, steps: readonly Step[]): { nowMs: number; asked: number; succeeded: number } {
  const pending = new Set<string>()
  let nowMs = 0
  let asked = 0
  let succeeded = 0
  const settle = (key: number, peer: number, outcome: Outcome): void => {
    if (pending.delete(`${key} ${peer}`) && outcome === 'success') succeeded += 1
    accounts.settle(keys[key] as BlockKey, peerOf(peer), outcome, nowMs)
  }
  for (const { key, peer, what, role, outcome, waitMs } of steps) {
    nowMs += waitMs
    const isPending = pending.has(`${key} ${peer}`)
    if (what === 'end') accounts.end(keys[key] as BlockKey, nowMs)
    else if (what === 'settle' && (isPending || outcome === 'late')) settle(key, peer, outcome)
    else if (what === 'turn' && !isPending) {
      pending.add(`${key} ${peer}`)
      asked += 1
      accounts.turn(keys[key] as BlockKey, peerOf(peer), role, nowMs)
    }
  }
  for (const copy of pending) {
    const [key, peer] = copy.split(' ').map(Number) as [number, number]
    settle(key, peer, 'withdrawn')
  }
  for (const key of keys) accounts.end(key, nowMs)
  return { nowMs, asked, succeeded }
}

/** What a stranger makes of receipts, by the words of the rule alone. */
function replay(receipts: readonly Receipt[]): Map<string, string> {
  const rows = new Map<string, number[]>()
  for (const { turns } of receipts) {
    const primaries = turns.filter(({ role, outcome }) => role === 'primary' && outcome === 'success')
    const backups = turns.filter(({ role, outcome }) => role === 'backup' && outcome === 'success')
    const [earner] = (primaries.length > 0 ? primaries : backups).toSorted((a, b) => a.rank - b.rank)
    for (const turn of turns) {
      const row = rows.get(turn.peer) ?? [0, 0, 0]
      rows.set(turn.peer, row)
      const add = [1, turn.outcome === 'success' ? 1 : 0, turn === earner ? 1 : 0]
      for (const [at, value] of add.entries()) row[at] = (row[at] as number) + value
    }
  }
  return new Map(Array.from(rows, ([peer, row]) => [peer, row.join(' ')]))
}

describe('receipts', () => {
  it('[P8][P9][P12] give exactly the counters of their period, for whoever sums them', () => {
    const input = fc.tuple(fc.array(step, { maxLength: 120 }), fc.constantFrom(2, 3, 16), fc.constantFrom(256, 65_536))
    fc.assert(
      fc.property(input, ([steps, turnsPerReceiptMax, segmentBytes]) => {
        const accounts = accountsWith({ turnsPerReceiptMax, segmentBytes })
        const { nowMs, asked, succeeded } = play(accounts, steps)
        expect(accounts.gauges.openWants).toBe(0)
        let attempted = 0
        let successful = 0
        for (const period of accounts.periods) {
          const receipts = accounts
            .segments()
            .filter((segment) => segment.period === period)
            .flatMap(({ bytes }) => readSegment(bytes).receipts)
          const report = accounts.report(nowMs, period)
          expect(receipts).toHaveLength(report?.receipts ?? Number.NaN)
          expect(sumReceipts(receipts)).toEqual({ wants: report?.wants, rows: report?.rows })
          const rows = (report?.rows ?? []).map((row): [string, string] => [
            row.peer,
            `${row.attempted} ${row.successful} ${row.rewardable}`
          ])
          expect(new Map(rows)).toEqual(replay(receipts))
          for (const row of report?.rows ?? []) {
            expect(accounts.row(nowMs, row.peer, period)).toEqual({ period, receipts: receipts.length, row })
          }
          attempted += report?.totals.attempted ?? 0
          successful += report?.totals.successful ?? 0
        }
        expect([attempted, successful]).toEqual([asked, succeeded])
      }),
      runs
    )
  })

  it('[P6][P9][P10] credit each want once at most, and always where somebody succeeded', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const accounts = accountsWith({ turnsPerReceiptMax: 5 })
        const { nowMs } = play(accounts, steps)
        for (const receipt of receiptsIn(accounts)) {
          const successes = receipt.turns.filter(({ outcome }) => outcome === 'success')
          expect(receipt.credited === undefined).toBe(successes.length === 0)
          expect(creditedTurn(receipt.turns)).toBe(receipt.credited)
          const credited = receipt.turns[receipt.credited ?? -1]
          const primarySucceeded = successes.some(({ role }) => role === 'primary')
          expect(credited?.role === 'primary').toBe(primarySucceeded)
        }
        for (const period of accounts.periods) {
          for (const row of accounts.report(nowMs, period)?.rows ?? []) {
            expect(row.rewardable).toBeLessThanOrEqual(row.successful)
            expect(row.successful).toBeLessThanOrEqual(row.attempted)
            expect(row.primaryTurns + row.backupTurns).toBe(row.attempted)
            expect(row.rescued).toBeLessThanOrEqual(Math.min(row.rewardable, row.backupTurns))
            expect(rewardableByTurn(row)).toBe(row.primaryTurns + row.rescued)
          }
        }
      }),
      runs
    )
  })

  it('[P9] may be read so that a primary earns by its turn alone', () => {
    const accounts = accountsWith()
    accounts.turn(keyOf(1), peerOf(1), 'primary', 0)
    accounts.turn(keyOf(1), peerOf(2), 'backup', 0)
    accounts.settle(keyOf(1), peerOf(1), 'timeout', 1)
    accounts.settle(keyOf(1), peerOf(2), 'success', 1)
    accounts.end(keyOf(1), 1)
    const rows = accounts.report(1)?.rows ?? []
    expect(rows.map((row) => [row.peer, row.rewardable, rewardableByTurn(row)])).toEqual([
      [peerOf(2), 1, 1],
      [peerOf(1), 0, 1]
    ])
  })

  it('name the multihash, the time, the turns and who has the credit', () => {
    const accounts = new Accounts(defaultAccountLimits, -1_000_000.5, 0)
    accounts.turn(keyOf(300), peerOf(1), 'primary', 0)
    accounts.turn(keyOf(300), peerOf(2), 'backup', 0)
    accounts.settle(keyOf(300), peerOf(2), 'success', 900_000)
    accounts.settle(keyOf(300), peerOf(1), 'timeout', 900_000)
    accounts.end(keyOf(300), 900_000)
    accounts.settle(keyOf(300), peerOf(1), 'late', 900_001)
    expect(receiptsIn(accounts)).toEqual([
      {
        key: keyOf(300),
        closedMs: -100_001,
        isContinued: false,
        turns: [
          { peer: peerOf(1), role: 'primary', outcome: 'timeout', rank: 0 },
          { peer: peerOf(2), role: 'backup', outcome: 'success', rank: 1 }
        ],
        credited: 1
      }
    ])
  })

  it('say that a block came late where it came before the want was closed', () => {
    const accounts = accountsWith()
    accounts.turn(keyOf(1), peerOf(1), 'primary', 0)
    accounts.settle(keyOf(1), peerOf(1), 'silence', 1)
    accounts.settle(keyOf(1), peerOf(1), 'late', 2)
    accounts.settle(keyOf(1), peerOf(1), 'late', 3)
    accounts.end(keyOf(1), 3)
    expect(receiptsIn(accounts)[0]?.turns[0]?.outcome).toBe('late')
    expect(accounts.report(3)?.totals).toMatchObject({ attempted: 1, successful: 0, rewardable: 0 })
  })

  it('of one peer are those that it has a turn in', () => {
    const accounts = accountsWith()
    for (const [key, peer] of [
      [1, 1],
      [2, 2],
      [3, 1]
    ] as const) {
      accounts.turn(keyOf(key), peerOf(peer), 'primary', 0)
      accounts.settle(keyOf(key), peerOf(peer), 'success', 0)
      accounts.end(keyOf(key), 0)
    }
    const own = receiptsIn(accounts).filter((receipt) => hasTurn(receipt, peerOf(1)))
    expect(own.map(({ key }) => key)).toEqual([keyOf(1), keyOf(3)])
    expect(sumReceipts(own).rows).toEqual(accounts.report(0)?.rows.filter(({ peer }) => peer === peerOf(1)))
  })
})

function segmentOf(receipt: Receipt, startMs = 0): Uint8Array {
  const writer = new SegmentWriter('2026-11-30', startMs, new ByteWriter(1024))
  writer.add(receipt)
  return writer.segment().bytes
}

/** What reading throws that is no MalformedError, or gives that no account says. */
function faultOf(bytes: Uint8Array): unknown {
  try {
    const { receipts } = readSegment(bytes)
    return receipts.find(({ closedMs, turns, credited }) => Math.abs(closedMs) > 8.64e15 || creditedTurn(turns) !== credited)
  } catch (error) {
    return error instanceof MalformedError ? undefined : error
  }
}

function fill(accounts: Accounts, wants: number, from = 0): void {
  for (let index = from; index < from + wants; index++) {
    accounts.turn(keyOf(index), peerOf(index % 3), 'primary', index)
    accounts.settle(keyOf(index), peerOf(index % 3), 'success', index)
    accounts.end(keyOf(index), index)
  }
}

describe('segments', () => {
  it('can be taken, oldest first, and all receipts are in them once', () => {
    const accounts = accountsWith({ segmentBytes: 512 })
    fill(accounts, 100)
    const taken: Segment[] = []
    for (let segment = accounts.takeSegment(); segment !== undefined; segment = accounts.takeSegment()) taken.push(segment)
    const rest = accounts.segments()
    expect(rest).toHaveLength(1)
    const last = accounts.takeSegment(true)
    expect(last).toEqual(rest[0])
    expect(accounts.takeSegment(true)).toBeUndefined()
    expect(accounts.gauges.receiptBytes).toBe(0)
    const receipts = [...taken, ...rest].flatMap(({ bytes }) => readSegment(bytes).receipts)
    expect(receipts.map(({ key }) => key)).toEqual(Array.from({ length: 100 }, (_, index) => keyOf(index)))
    for (const segment of [...taken, ...rest]) {
      expect(segment.bytes.length).toBeLessThanOrEqual(512)
      expect(readSegment(segment.bytes)).toMatchObject({ period: '2026-11-30', receipts: { length: segment.receipts } })
    }
  })

  it('keep a receipt of a usual want within 48 bytes', () => {
    const accounts = accountsWith()
    fill(accounts, 1000)
    expect(accounts.gauges.receiptBytes / 1000).toBeLessThan(48)
  })

  it('leave, the oldest first, where nobody takes them; the counters stay', () => {
    const accounts = accountsWith({ segmentBytes: 512, receiptBytesMax: 2048 })
    for (let round = 0; round < 20; round++) {
      fill(accounts, 50, round * 50)
      expect(accounts.gauges.receiptBytes).toBeLessThanOrEqual(2048)
    }
    const receipts = receiptsIn(accounts)
    expect(receipts.length).toBeLessThan(100)
    expect(receipts.at(-1)?.key).toBe(keyOf(999))
    expect(accounts.report(1000)).toMatchObject({ receipts: 1000, wants: 1000, totals: { rewardable: 1000 } })
  })

  it('take a receipt that is larger than a segment', () => {
    const accounts = accountsWith({ segmentBytes: 256, turnsPerReceiptMax: 64 })
    for (let peer = 0; peer < 40; peer++) accounts.turn(keyOf(1), peerOf(peer), 'backup', 0)
    for (let peer = 0; peer < 40; peer++) accounts.settle(keyOf(1), peerOf(peer), 'success', 0)
    accounts.end(keyOf(1), 0)
    const [receipt] = receiptsIn(accounts)
    expect(receipt?.turns).toHaveLength(40)
    expect(receipt?.turns.map(({ rank }) => rank).slice(0, 9)).toEqual([1, 2, 3, 4, 5, 6, 7, 7, 7])
    expect(receipt?.credited).toBe(0)
  })

  it('[P9] that say what no account says are malformed', () => {
    const turn = { peer: peerOf(1), role: 'primary', outcome: 'success', rank: 1 } as const
    const good: Receipt = { key: keyOf(1), closedMs: 1000, isContinued: false, turns: [turn], credited: 0 }
    const open = { ...turn, outcome: 'open' } as const
    const other = { ...turn, peer: peerOf(2), rank: 0, outcome: 'timeout' } as const
    expect(readSegment(segmentOf(good))).toMatchObject({ receipts: [good] })
    const bad: Receipt[] = [
      { ...good, turns: [open] },
      { ...good, turns: [{ ...turn, outcome: 'timeout' }] },
      { ...good, turns: [{ ...turn, rank: 0 }], credited: undefined },
      { ...good, credited: undefined },
      { ...good, turns: [turn, other], credited: 1 },
      { ...good, turns: [turn, { ...turn, role: 'backup', rank: 2 }], credited: 1 },
      { ...good, turns: [{ ...turn, peer: peerKey('a\u001b[2J') }] },
      { ...good, turns: [{ ...turn, peer: peerKey('') }] },
      { ...good, closedMs: 8.64e15 + 1 },
      { ...good, closedMs: 2 ** 53 - 1 }
    ]
    for (const receipt of bad) expect(() => readSegment(segmentOf(receipt))).toThrow(MalformedError)
    expect(() => readSegment(segmentOf(good, 2 ** 53 - 1))).toThrow(MalformedError)
  })

  it('that are damaged are malformed or read as something that can be, never worse', () => {
    const accounts = accountsWith()
    fill(accounts, 4)
    const bytes = accounts.takeSegment(true)?.bytes ?? new Uint8Array()
    for (let at = 0; at < bytes.length; at++) {
      expect(faultOf(bytes.subarray(0, at))).toBeUndefined()
      for (const value of [0, 1, 127, 128, 255]) {
        const damaged = bytes.slice()
        damaged[at] = value
        expect(faultOf(damaged)).toBeUndefined()
      }
    }
    expect(() => readSegment(bytes.subarray(0, bytes.length - 1))).toThrow(MalformedError)
    expect(() => readSegment(Uint8Array.of(9, ...bytes.subarray(1)))).toThrow('version 9')
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => faultOf(bytes) === undefined),
      runs
    )
  })
})
