import { peerKey } from '@shardswap/interface'
import { expect, it } from 'vitest'
import { Intake } from '../src/index.ts'

const [talker, other, quiet] = [peerKey('talker'), peerKey('other'), peerKey('quiet')]
const limits = { talkMsPerSMax: 100, talkAheadMsMax: 10 }

/** How many messages of `ms` each of the peers can say in a second, all of them whenever they may. */
function saidInASecond(intake: Intake, peers: readonly (typeof talker)[], ms: number, fromMs: number): number[] {
  const said = peers.map(() => 0)
  for (let nowMs = fromMs; nowMs < fromMs + 1000; nowMs++) {
    for (const [index, peer] of peers.entries()) {
      while (!intake.mustWait(peer, nowMs)) {
        intake.took(peer, ms, nowMs)
        said[index] = (said[index] ?? 0) + 1
      }
    }
  }
  return said
}

it('who talks without end takes its part of the time and no more', () => {
  const intake = new Intake(limits)
  const [said = 0] = saidInASecond(intake, [talker], 2, 1000)
  // 100 ms in a second, 10 ms ahead, and the message that passes them.
  expect(said).toBeGreaterThanOrEqual(50)
  expect(said).toBeLessThanOrEqual(56)
})

it('talkers share it alike, and one who says little never waits', () => {
  const intake = new Intake(limits)
  for (let nowMs = 0; nowMs < 3000; nowMs++) {
    for (const peer of [talker, other]) while (!intake.mustWait(peer, nowMs)) intake.took(peer, 3, nowMs)
    if (nowMs % 100 !== 0) continue
    expect(intake.mustWait(quiet, nowMs)).toBe(false)
    intake.took(quiet, 0.1, nowMs)
  }
  const [first = 0, second = 0] = saidInASecond(intake, [talker, other], 1, 3000)
  expect(first + second).toBeLessThanOrEqual(100 + 2)
  expect(Math.abs(first - second)).toBeLessThanOrEqual(2)
})

it('nothing is kept of those who have paid, or are gone', () => {
  const intake = new Intake(limits)
  intake.took(talker, 5, 0)
  intake.took(other, 500, 0)
  intake.took(quiet, 0, 0)
  expect(intake.size).toBe(2)
  expect(intake.mustWait(other, 1000)).toBe(true)
  expect(intake.size).toBe(1)
  intake.forget(other)
  expect(intake.size).toBe(0)
  expect(intake.mustWait(other, 1000)).toBe(false)
})
