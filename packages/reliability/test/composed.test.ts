import type { PeerKey } from '@shardswap/interface'
import { Reliability } from '@shardswap/reliability'
import type { Outcome, Role, Turn } from '@shardswap/reliability'
import { expect, it } from 'vitest'
import { keyOf, peerOf, rowText } from './account-scene.ts'

function fresh(): Reliability {
  return new Reliability({ wallMs: Date.UTC(2026, 10, 30), nowMs: 0 })
}

function turnOf(index: number, peer: PeerKey, role: Role, failChance = 0.01): Turn {
  return { key: keyOf(index), peer, role, failChance }
}

function fetchOne(reliability: Reliability, index: number, outcome: Outcome, failChance?: number): void {
  const turn = turnOf(index, peerOf(1), 'primary', failChance)
  reliability.asked(turn, index)
  reliability.settled(turn, outcome, index + 1)
  reliability.ended(turn.key, index + 1)
}

it('[P7][P8][P9] the layer counts turns and credits in its accounts and in the records alike', () => {
  const reliability = fresh()
  const [primary, backup] = [peerOf(1), peerOf(2)]
  for (const peer of [primary, backup]) reliability.peerConnected(peer, 0)
  for (const [index, outcome] of (['success', 'timeout', 'withdrawn'] as const).entries()) {
    const turns = [turnOf(index, primary, 'primary'), turnOf(index, backup, 'backup')] as const
    for (const turn of turns) reliability.asked(turn, index)
    reliability.settled(turns[1], 'success', index)
    reliability.ended(keyOf(index), index)
    reliability.settled(turns[0], outcome, index)
  }
  const report = reliability.accounts.report(10)
  expect(rowText(report?.rows, primary)).toBe('3 1 1, 3 0, 0')
  expect(rowText(report?.rows, backup)).toBe('3 3 2, 0 3, 2')
  const scores = new Map(reliability.scores(10).map(({ peer, counts }) => [peer, counts]))
  expect(scores.get(primary)).toMatchObject({ attempted: 3, successful: 1, rewardable: 1, primaryTurns: 3, backupTurns: 0 })
  expect(scores.get(backup)).toMatchObject({ attempted: 3, successful: 3, rewardable: 2, primaryTurns: 0, backupTurns: 3 })
  expect(reliability.accounts.gauges.openWants).toBe(0)
})

it('[C5] the layer pays backups from what primaries earn, and none while most things fail', () => {
  const reliability = fresh()
  let taken = 0
  for (let index = 0; index < 400; index++) {
    fetchOne(reliability, index, 'success')
    if (reliability.takeBackup('late', 0, index)) taken += 1
  }
  expect(taken).toBe(22)
  reliability.returnBackup()
  expect(reliability.takeBackup('late', 0, 400)).toBe(true)
  for (let index = 400; index < 500; index++) fetchOne(reliability, index, 'timeout')
  expect(reliability.takeBackup('late', 1, 500)).toBe(false)
  expect(reliability.backups.isOpen).toBe(true)
})

it('[C5] what is no observation moves no breaker', () => {
  const reliability = fresh()
  const outcomes = ['withdrawn', 'denied', 'refused'] as const
  for (let index = 0; index < 60; index++) fetchOne(reliability, index, outcomes[index % 3] as Outcome)
  expect(reliability.backups).toMatchObject({ isOpen: false, wants: 60 })
})

it('[P5] the layer backs those wants before failure that are among the riskiest', () => {
  const reliability = fresh()
  for (let index = 0; index < 1000; index++) fetchOne(reliability, index, 'success', index % 10 === 0 ? 0.6 : 0.2)
  expect(reliability.takeBackup('proactive', 0.2, 1000)).toBe(false)
  expect(reliability.takeBackup('proactive', 0.6, 1000)).toBe(true)
})
