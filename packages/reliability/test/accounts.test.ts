import { assert } from '@shardswap/interface'
import type { BlockKey, PeerKey } from '@shardswap/interface'
import { defaultAccountLimits, isSavedPeriod, Reliability, verifyAccountLimits } from '@shardswap/reliability'
import type { Accounts, Outcome, PeerCounts, Role } from '@shardswap/reliability'
import { describe, expect, it } from 'vitest'
import { accountsWith, keyOf, noonMs, peerOf, receiptsIn, rowText } from './account-scene.ts'

const key = keyOf(1)
const primary = peerOf(1)
const backup = peerOf(2)
const third = peerOf(3)

type Delivery = 'in time' | 'late' | 'never' | 'wrong bytes'

/** What else is counted of a peer that does so, with one want-block there, whoever came first. */
const countsOf = {
  'in time': { timeouts: 0, silences: 0, late: 0, badBlocks: 0 },
  late: { timeouts: 1, silences: 0, late: 1, badBlocks: 0 },
  never: { timeouts: 1, silences: 0, late: 0, badBlocks: 0 },
  // They name no want: the block is one that nobody asked for, and the want ends in silence after HAVE.
  'wrong bytes': { timeouts: 0, silences: 1, late: 0, badBlocks: 1 }
} as const satisfies Record<Delivery, Partial<PeerCounts>>

function isBlock(delivery: Delivery): boolean {
  return delivery === 'in time' || delivery === 'late'
}

/** What one peer does, as the broker tells it. `isHere`: the block came from the other one before. */
function deliver(core: Reliability, peer: PeerKey, role: Role, delivery: Delivery, isHere: boolean): void {
  const turn = { key, peer, role, failChance: 0.1 }
  if (delivery === 'in time') core.settled(turn, 'success', 10, { latencyMs: 10, bytes: 1000, queuedBytes: 1000 })
  else if (delivery === 'wrong bytes') {
    core.receivedBad(peer, 9)
    core.settled(turn, 'silence', 10)
  } else core.settled(turn, 'timeout', 10)
  if (delivery === 'late') core.settled(turn, 'late', 11)
  if (isBlock(delivery)) core.ended(key, 12)
  if (isBlock(delivery) && isHere) core.duplicated(peer, 1000)
}

// Per peer: attempted, successful, rewardable; primary turns, backup turns; credits earned as a backup.
const primaryEarns = ['1 1 1, 1 0, 0', '1 1 0, 0 1, 0'] as const
const backupEarns = ['1 0 0, 1 0, 0', '1 1 1, 0 1, 1'] as const
const onlyPrimary = ['1 1 1, 1 0, 0', '1 0 0, 0 1, 0'] as const
const nobody = ['1 0 0, 1 0, 0', '1 0 0, 0 1, 0'] as const

const matrix: readonly (readonly [Delivery, Delivery, 'primary' | 'backup', readonly [string, string]])[] = [
  ['in time', 'in time', 'primary', primaryEarns],
  ['in time', 'in time', 'backup', primaryEarns],
  ['in time', 'late', 'primary', onlyPrimary],
  ['in time', 'late', 'backup', onlyPrimary],
  ['in time', 'never', 'primary', onlyPrimary],
  ['in time', 'never', 'backup', onlyPrimary],
  ['in time', 'wrong bytes', 'primary', onlyPrimary],
  ['in time', 'wrong bytes', 'backup', onlyPrimary],
  ['late', 'in time', 'primary', backupEarns],
  ['late', 'in time', 'backup', backupEarns],
  ['late', 'late', 'primary', nobody],
  ['late', 'late', 'backup', nobody],
  ['late', 'never', 'primary', nobody],
  ['late', 'never', 'backup', nobody],
  ['late', 'wrong bytes', 'primary', nobody],
  ['late', 'wrong bytes', 'backup', nobody],
  ['never', 'in time', 'primary', backupEarns],
  ['never', 'in time', 'backup', backupEarns],
  ['never', 'late', 'primary', nobody],
  ['never', 'late', 'backup', nobody],
  ['never', 'never', 'primary', nobody],
  ['never', 'never', 'backup', nobody],
  ['never', 'wrong bytes', 'primary', nobody],
  ['never', 'wrong bytes', 'backup', nobody],
  ['wrong bytes', 'in time', 'primary', backupEarns],
  ['wrong bytes', 'in time', 'backup', backupEarns],
  ['wrong bytes', 'late', 'primary', nobody],
  ['wrong bytes', 'late', 'backup', nobody],
  ['wrong bytes', 'never', 'primary', nobody],
  ['wrong bytes', 'never', 'backup', nobody],
  ['wrong bytes', 'wrong bytes', 'primary', nobody],
  ['wrong bytes', 'wrong bytes', 'backup', nobody]
]

it.each(matrix)(
  '[P6][P8][P9][P10] the primary %s, the backup %s, the %s first',
  (primaryDoes, backupDoes, first, [ofPrimary, ofBackup]) => {
    const core = new Reliability({ wallMs: noonMs, nowMs: 0 })
    const does = { primary: primaryDoes, backup: backupDoes }
    const peers = { primary, backup }
    for (const role of ['primary', 'backup'] as const) core.asked({ key, peer: peers[role], role, failChance: 0.1 }, 0)
    const second = first === 'primary' ? 'backup' : 'primary'
    deliver(core, peers[first], first, does[first], false)
    deliver(core, peers[second], second, does[second], isBlock(does[first]))
    core.ended(key, 20)
    const report = core.accounts.report(20)
    expect(rowText(report?.rows, primary)).toBe(ofPrimary)
    expect(rowText(report?.rows, backup)).toBe(ofBackup)
    expect(report?.wants).toBe(1)
    expect(core.accounts.gauges.openWants).toBe(0)
    for (const role of ['primary', 'backup'] as const) {
      const { attempted, successful, rewardable, primaryTurns, backupTurns, ...others } = countsIn(core, peers[role])
      const isCopy = role === second && isBlock(does[first]) && isBlock(does[second])
      // What the peer's own record says is what the accounts say.
      expect(role === 'primary' ? ofPrimary : ofBackup).toContain(
        `${attempted} ${successful} ${rewardable}, ${primaryTurns} ${backupTurns}, `
      )
      expect(others).toEqual({ ...noOthers, ...countsOf[does[role]], duplicateBlocks: Number(isCopy), duplicateBytes: isCopy ? 1000 : 0 })
    }
  }
)

const noOthers = { resets: 0, brokenHaves: 0, denied: 0, withdrawn: 0, refused: 0, hardFailures: 0 }

function countsIn(core: Reliability, peer: PeerKey): PeerCounts {
  const counts = core.scores(20).find((score) => score.peer === peer)?.counts
  assert(counts !== undefined, 'the peer was asked')
  return counts
}

function settleAll(accounts: Accounts, ...settled: (readonly [PeerKey, Outcome])[]): void {
  for (const [peer, outcome] of settled) accounts.settle(key, peer, outcome, 10)
}

describe('a want that was backed', () => {
  it('[P6] waits for its primary although it is over, and credits it where it is in time', () => {
    const accounts = accountsWith()
    accounts.turn(key, primary, 'primary', 0)
    accounts.turn(key, backup, 'backup', 0)
    settleAll(accounts, [backup, 'success'])
    accounts.end(key, 11)
    expect(accounts.report(11)?.rows).toEqual([])
    expect(accounts.gauges.openWants).toBe(1)
    settleAll(accounts, [primary, 'success'])
    expect(rowText(accounts.report(11)?.rows, primary)).toBe('1 1 1, 1 0, 0')
    expect(rowText(accounts.report(11)?.rows, backup)).toBe('1 1 0, 0 1, 0')
    expect(accounts.gauges.openWants).toBe(0)
  })

  it.each(['timeout', 'silence', 'reset', 'broken-have', 'denied', 'withdrawn', 'refused'] as const)(
    '[P9] goes to the backup where the primary ends with %s after it',
    (outcome) => {
      const accounts = accountsWith()
      accounts.turn(key, primary, 'primary', 0)
      accounts.turn(key, backup, 'backup', 0)
      settleAll(accounts, [backup, 'success'])
      accounts.end(key, 11)
      settleAll(accounts, [primary, outcome])
      expect(rowText(accounts.report(11)?.rows, primary)).toBe('1 0 0, 1 0, 0')
      expect(rowText(accounts.report(11)?.rows, backup)).toBe('1 1 1, 0 1, 1')
    }
  )

  it('[P9] credits the first of two backups that delivered', () => {
    const accounts = accountsWith()
    accounts.turn(key, primary, 'primary', 0)
    accounts.turn(key, backup, 'backup', 0)
    accounts.turn(key, third, 'backup', 0)
    settleAll(accounts, [third, 'success'], [backup, 'success'], [primary, 'timeout'])
    accounts.end(key, 11)
    expect(rowText(accounts.report(11)?.rows, third)).toBe('1 1 1, 0 1, 1')
    expect(rowText(accounts.report(11)?.rows, backup)).toBe('1 1 0, 0 1, 0')
  })

  it('[P7] has the same credits for primaries as one without backups, where primaries are in time', () => {
    const credits = [false, true].map((isBacked) => {
      const accounts = accountsWith()
      for (let index = 0; index < 50; index++) {
        const want = keyOf(index)
        accounts.turn(want, peerOf(index % 3), 'primary', index)
        if (isBacked) accounts.turn(want, peerOf((index + 1) % 3), 'backup', index)
        if (isBacked) accounts.settle(want, peerOf((index + 1) % 3), 'success', index)
        accounts.end(want, index)
        accounts.settle(want, peerOf(index % 3), 'success', index)
      }
      return accounts
        .report(50)
        ?.rows.map(({ peer, rewardable, primaryTurns }) => [peer, rewardable, primaryTurns])
        .sort()
    })
    expect(credits[1]).toEqual(credits[0])
  })
})

describe('a want that is tried again', () => {
  it('[P8][P9] has a new primary turn after a deadline, and credits whoever delivers in time', () => {
    const accounts = accountsWith()
    accounts.turn(key, primary, 'primary', 0)
    settleAll(accounts, [primary, 'timeout'])
    accounts.turn(key, third, 'primary', 11)
    settleAll(accounts, [third, 'success'])
    accounts.end(key, 12)
    expect(rowText(accounts.report(12)?.rows, primary)).toBe('1 0 0, 1 0, 0')
    expect(rowText(accounts.report(12)?.rows, third)).toBe('1 1 1, 1 0, 0')
    expect(accounts.report(12)?.wants).toBe(1)
  })

  it('counts both turns of a peer that is asked twice', () => {
    const accounts = accountsWith()
    accounts.turn(key, primary, 'primary', 0)
    settleAll(accounts, [primary, 'timeout'])
    accounts.turn(key, primary, 'primary', 11)
    settleAll(accounts, [primary, 'success'])
    accounts.end(key, 12)
    expect(rowText(accounts.report(12)?.rows, primary)).toBe('2 1 1, 2 0, 0')
    expect(receiptsIn(accounts)[0]?.turns.map(({ outcome }) => outcome)).toEqual(['timeout', 'success'])
  })

  it('goes on as the same want where it is wanted again while a turn is out', () => {
    const accounts = accountsWith()
    accounts.turn(key, primary, 'primary', 0)
    accounts.turn(key, backup, 'backup', 0)
    settleAll(accounts, [backup, 'success'])
    accounts.end(key, 10)
    accounts.turn(key, third, 'primary', 11)
    settleAll(accounts, [primary, 'timeout'], [third, 'success'])
    expect(accounts.gauges.openWants).toBe(1)
    accounts.end(key, 12)
    expect(rowText(accounts.report(12)?.rows, third)).toBe('1 1 1, 1 0, 0')
    expect(accounts.report(12)).toMatchObject({ wants: 1, totals: { attempted: 3, successful: 2, rewardable: 1 } })
  })

  it('leaves several receipts where it fails for ever, and is one want', () => {
    const accounts = accountsWith({ turnsPerReceiptMax: 4 })
    for (let turn = 0; turn < 11; turn++) {
      accounts.turn(key, peerOf(turn), 'primary', turn)
      if (turn < 10) accounts.settle(key, peerOf(turn), 'timeout', turn)
    }
    accounts.settle(key, peerOf(10), 'success', 11)
    accounts.end(key, 11)
    const receipts = receiptsIn(accounts)
    expect(receipts.map(({ turns, isContinued }) => `${turns.length} ${isContinued}`)).toEqual(['4 true', '4 true', '3 false'])
    expect(accounts.report(11)).toMatchObject({ wants: 1, totals: { attempted: 11, successful: 1, rewardable: 1 } })
  })
})

describe('the bounds', () => {
  it('close the oldest want by what is known of it', () => {
    const accounts = accountsWith({ openWantsMax: 2 })
    accounts.turn(keyOf(1), primary, 'primary', 0)
    accounts.turn(keyOf(1), backup, 'backup', 0)
    accounts.settle(keyOf(1), backup, 'success', 0)
    for (const index of [2, 3]) accounts.turn(keyOf(index), primary, 'primary', 0)
    expect(accounts.gauges.openWants).toBe(2)
    expect(receiptsIn(accounts)[0]?.turns.map(({ outcome }) => outcome)).toEqual(['open', 'success'])
    expect(rowText(accounts.report(1)?.rows, backup)).toBe('1 1 1, 0 1, 1')
    // What comes of it later finds nothing to change.
    accounts.settle(keyOf(1), primary, 'success', 2)
    accounts.end(keyOf(1), 2)
    expect(rowText(accounts.report(2)?.rows, primary)).toBe('1 0 0, 1 0, 0')
  })

  it('give peers that come late one row together', () => {
    const accounts = accountsWith({ peersPerPeriodMax: 2 })
    for (let index = 0; index < 5; index++) {
      accounts.turn(keyOf(index), peerOf(index), 'primary', 0)
      accounts.settle(keyOf(index), peerOf(index), 'success', 0)
      accounts.end(keyOf(index), 0)
    }
    expect(rowText(accounts.report(0)?.rows, '*' as PeerKey)).toBe('3 3 3, 3 0, 0')
    expect(accounts.report(0)?.totals.rewardable).toBe(5)
  })

  it('must make sense', () => {
    expect(() => verifyAccountLimits({ ...defaultAccountLimits, openWantsMax: 0 })).toThrow('openWantsMax')
    expect(() => verifyAccountLimits({ ...defaultAccountLimits, receiptBytesMax: 1 })).toThrow('receiptBytesMax')
  })
})

function fetchOne(accounts: Accounts, want: BlockKey, fromMs: number, toMs: number): void {
  accounts.turn(want, primary, 'primary', fromMs)
  accounts.settle(want, primary, 'success', toMs)
  accounts.end(want, toMs)
}

describe('periods', () => {
  const dayMs = 86_400_000

  it('[P8] are days in UTC, and a want counts in the one in which it is closed', () => {
    const accounts = accountsWith()
    fetchOne(accounts, keyOf(1), 0, 0)
    fetchOne(accounts, keyOf(2), dayMs / 2 - 1, dayMs / 2)
    fetchOne(accounts, keyOf(3), dayMs, dayMs)
    expect(accounts.periods).toEqual(['2026-11-30', '2026-12-01'])
    expect(accounts.report(dayMs, '2026-11-30')).toMatchObject({ wants: 1, receipts: 1 })
    expect(accounts.report(dayMs)).toMatchObject({ period: '2026-12-01', wants: 2, receipts: 2 })
    expect(accounts.report(dayMs, '2026-12-24')).toBeUndefined()
    expect(accounts.report(9 * dayMs)).toMatchObject({ period: '2026-12-09', wants: 0, rows: [] })
  })

  it('are forgotten, the oldest first', () => {
    const accounts = accountsWith({ periodsMax: 3 })
    for (let day = 0; day < 6; day++) fetchOne(accounts, keyOf(day), day * dayMs, day * dayMs)
    expect(accounts.periods).toEqual(['2026-12-03', '2026-12-04', '2026-12-05'])
  })

  it('go on after a restart', () => {
    const before = accountsWith()
    fetchOne(before, keyOf(1), 0, 0)
    before.turn(keyOf(2), backup, 'primary', 0)
    before.settle(keyOf(2), backup, 'reset', 0)
    before.end(keyOf(2), 0)
    const after = accountsWith()
    const saved: unknown = JSON.parse(JSON.stringify(before.save(0)))
    assert(isSavedPeriod(saved), 'a period comes through JSON')
    after.restore(saved)
    fetchOne(after, keyOf(3), 5, 5)
    expect(rowText(after.report(5)?.rows, primary)).toBe('2 2 2, 2 0, 0')
    expect(rowText(after.report(5)?.rows, backup)).toBe('1 0 0, 1 0, 0')
    expect(after.report(5)).toMatchObject({ wants: 3, receipts: 3, totals: { attempted: 3, rewardable: 2 } })
  })
})

it('[P11][P12] tells the credit of each want to who asks for it', () => {
  const credited: PeerKey[] = []
  const accounts = accountsWith({}, (peer) => credited.push(peer))
  for (const index of [1, 2, 3]) {
    accounts.turn(keyOf(index), primary, 'primary', 0)
    accounts.turn(keyOf(index), backup, 'backup', 0)
    accounts.settle(keyOf(index), primary, index === 1 ? 'success' : 'timeout', 1)
    accounts.settle(keyOf(index), backup, index === 3 ? 'timeout' : 'success', 1)
    accounts.end(keyOf(index), 1)
  }
  expect(credited).toEqual([primary, backup])
  expect(accounts.report(1)?.totals).toEqual({ attempted: 6, successful: 3, rewardable: 2, primaryTurns: 3, backupTurns: 3, rescued: 1 })
})
