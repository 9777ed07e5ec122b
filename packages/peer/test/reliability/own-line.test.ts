import { type BlockKey, type PeerKey, peerKey } from '@shardswap/interface'
import type { Receipt } from '@shardswap/reliability'
import { expect, it, onTestFinished } from 'vitest'
import { OwnAccounts } from '../../src/reliability/own-line.ts'

const peers = Array.from({ length: 20 }, (_, at) => peerKey(`peer${at}`))
const [a, b] = peers as [(typeof peers)[0], (typeof peers)[0]]

function receiptOf(at: number): Receipt {
  const key = String.fromCharCode(0x12, 0x20, ...Array.from({ length: 32 }, () => at % 256)) as BlockKey
  const turn = { role: 'primary', outcome: 'success', rank: 1 } as const
  return { key, closedMs: at, isContinued: false, turns: [{ ...turn, peer: peers[at % peers.length] ?? a }], credited: 0 }
}

/** Accounts of a day of 2,000 receipts; counts the searches that begin, and the most that ever ran at once. */
function scene(written = 2000): { own: OwnAccounts; count: { begun: number; running: number; most: number }; clock: { ms: number } } {
  const count = { begun: 0, running: 0, most: 0 }
  const clock = { ms: 0 }
  const rows = peers.map((peer) => ({
    peer,
    attempted: 100,
    successful: 100,
    rewardable: 100,
    primaryTurns: 100,
    backupTurns: 0,
    rescued: 3
  }))
  async function* receipts(): AsyncGenerator<Receipt> {
    count.begun += 1
    count.most = Math.max(count.most, ++count.running)
    for (let at = 0; at < 2000; at++) yield receiptOf(at)
    count.running -= 1
    clock.ms += 1
  }
  const book = {
    row: (peer: PeerKey) => ({ period: '2026-11-30', receipts: written, row: rows.find((row) => row.peer === peer) })
  }
  const own = new OwnAccounts({ book, receipts: { receipts }, nowMs: () => clock.ms })
  onTestFinished(() => own.stop())
  return { own, count, clock }
}

it('who asks again for the rest is answered from what was found', async () => {
  const { own, count, clock } = scene()
  for (let page = 0; page < 10; page++) expect((await own.of(a)).receipts.length).toBe(100)
  expect(count.begun).toBe(1)
  clock.ms += 60_000
  expect((await own.of(a)).receipts.at(99)).toMatchObject({ closedMs: 1980, turns: [{ who: 'you' }] })
  expect(count.begun).toBe(2)
})

it('peers are searched for one after another, and those who are too many are refused', async () => {
  const { own, count } = scene()
  const results = await Promise.allSettled(peers.map(async (peer) => (await own.of(peer)).receipts.length))
  const found = results.filter(({ status }) => status === 'fulfilled')
  expect(found).toHaveLength(8)
  expect(count).toEqual({ begun: 8, running: 0, most: 1 })
  // The line is free again.
  expect((await own.of(peers[19] ?? b)).receipts.length).toBe(100)
})

it('[P9][P12] a row is told as it is in the account, with what was rescued', async () => {
  const { own } = scene()
  expect((await own.of(a)).account).toEqual({
    period: '2026-11-30',
    attempted: 100,
    successful: 100,
    rewardable: 100,
    primaryTurns: 100,
    backupTurns: 0,
    rescued: 3
  })
})

it('receipts of which older ones are not there are marked as cut, from every page', async () => {
  const whole = scene()
  expect((await whole.own.of(a)).receipts).toMatchObject({ length: 100, isCut: false })
  const cut = scene(2001)
  for (let page = 0; page < 2; page++) expect((await cut.own.of(a)).receipts).toMatchObject({ length: 100, isCut: true })
})

it('who has no row is told so without a search', async () => {
  const { own, count } = scene()
  expect(await own.of(peerKey('stranger'))).toMatchObject({ account: undefined, receipts: { length: 0, isCut: false } })
  expect(count.begun).toBe(0)
})

it('a stop ends the pauses and the searches', async () => {
  const { own } = scene()
  const asked = Promise.allSettled([own.of(a), own.of(b)])
  own.stop()
  expect((await asked).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})
