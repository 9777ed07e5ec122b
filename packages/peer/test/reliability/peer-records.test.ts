import { type BlockKey, peerKey } from '@shardswap/interface'
import type { Outcome, PeerScore, Reliability } from '@shardswap/reliability'
import { MemoryDatastore } from 'datastore-core'
import { Key } from 'interface-datastore'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { PeerRecords } from '../../src/reliability/peer-records.ts'
import { damagedKey, recordKey } from '../../src/reliability/record-store.ts'
import { KeptLog } from './log.ts'

const [good, bad, gone] = [peerKey('good'), peerKey('bad'), peerKey('gone')]
const hourMs = 3_600_000
const yearMs = 365 * 24 * hourMs

afterEach(() => void vi.useRealTimers())

/** A clock of the cores that a test moves; each process has one of its own, which begins anywhere. */
class TestClock {
  ms: number

  constructor(ms = 0) {
    this.ms = ms
  }

  readonly nowMs = (): number => this.ms
}

async function open(datastore: MemoryDatastore | undefined, clock = new TestClock(), kept = new KeptLog()): Promise<PeerRecords> {
  const records = await PeerRecords.open({ datastore, log: kept.log, nowMs: clock.nowMs })
  records.start()
  onTestFinished(async () => await records.stop())
  return records
}

function turns(core: Reliability, peer: typeof good, outcome: Outcome, count: number, nowMs: number): void {
  for (let at = 0; at < count; at++) {
    const turn = { key: `${peer}${nowMs}${at}` as BlockKey, peer, role: 'primary' as const, failChance: 0.1 }
    core.asked(turn, nowMs)
    const delivery = { latencyMs: 20, bytes: 1000, queuedBytes: 1000 }
    core.settled(turn, outcome, nowMs, ...(outcome === 'success' ? [delivery] : []))
    core.ended(turn.key, nowMs)
  }
}

/** A run in which one peer was good, one broke its promises and one was shut out. */
async function ran(datastore: MemoryDatastore): Promise<Map<string, PeerScore>> {
  const clock = new TestClock(5000)
  const records = await open(datastore, clock)
  const { core } = records
  for (const peer of [good, bad, gone]) core.peerConnected(peer, clock.ms)
  turns(core, good, 'success', 60, clock.ms)
  turns(core, bad, 'silence', 30, clock.ms)
  core.failedHard(gone, clock.ms)
  clock.ms += hourMs
  for (const peer of [good, bad, gone]) core.peerDisconnected(peer, clock.ms)
  await records.stop()
  return byPeer(records)
}

function byPeer(records: PeerRecords): Map<string, PeerScore> {
  return new Map(records.scores().map((score) => [score.peer, score]))
}

/** Every number in it. */
function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
}

it('[C4] what was known of peers at the end of a run is known at the beginning of the next', async () => {
  const datastore = new MemoryDatastore()
  const before = await ran(datastore)
  const after = byPeer(await open(datastore, new TestClock(77)))
  expect([...after.keys()].sort()).toEqual(['bad', 'gone', 'good'])
  for (const [peer, score] of after) {
    expect(score.counts).toEqual(before.get(peer)?.counts)
    expect(Math.abs(score.score - (before.get(peer)?.score ?? -1))).toBeLessThan(0.5)
  }
  expect(after.get('good')?.isVetted).toBe(true)
  expect(after.get('bad')?.score ?? 100).toBeLessThan(10)
  expect(after.get('gone')?.shutOutMs ?? 0).toBeGreaterThan(22.9 * hourMs)
})

it.each([-10 * yearMs, -hourMs, hourMs, 10 * yearMs])(
  '[F86] a wall clock set by %d ms between two runs changes no duration, and no score to NaN',
  async (jumpMs) => {
    const datastore = new MemoryDatastore()
    const before = await ran(datastore)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + jumpMs })
    const records = await open(datastore)
    const after = byPeer(records)
    for (const [peer, score] of after) {
      expect(numbersIn(score).every(Number.isFinite)).toBe(true)
      const was = before.get(peer) as PeerScore
      // A pause of a second or two between the runs, and hours that are counted whole.
      expect(Math.abs(score.score - was.score)).toBeLessThan(0.5)
      expect(Math.abs(score.shutOutMs - was.shutOutMs)).toBeLessThan(60_000)
      expect(score.success24h).toBe(was.success24h)
      expect(score.latencyP50Ms).toBe(was.latencyP50Ms)
    }
    await records.stop()
    // Set right again, all is as it was.
    vi.useRealTimers()
    expect(byPeer(await open(datastore)).get('gone')?.shutOutMs ?? 0).toBeGreaterThan(22.9 * hourMs)
  }
)

it('[F86] a wall clock that is set while a peer runs changes nothing', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const clock = new TestClock()
  const records = await open(new MemoryDatastore(), clock)
  records.core.peerConnected(good, 0)
  turns(records.core, good, 'success', 40, 0)
  const before = records.scores()
  for (const jumpMs of [hourMs, -2 * hourMs, 10 * yearMs, -20 * yearMs]) {
    vi.setSystemTime(Date.now() + jumpMs)
    expect(records.scores()).toEqual(before)
  }
})

it('a record that is damaged or cut off at any byte costs what was remembered, and nothing else', { timeout: 120_000 }, async () => {
  const datastore = new MemoryDatastore()
  await ran(datastore)
  const whole = await datastore.get(recordKey)
  const other = new Key('/peers/somebody')
  await datastore.put(other, Uint8Array.of(1, 2, 3))
  for (let at = 0; at < whole.byteLength; at++) {
    const flipped = Uint8Array.from(whole)
    flipped[at] = (flipped[at] as number) ^ (1 << (at % 8))
    for (const damaged of [flipped, whole.subarray(0, at)]) {
      await datastore.put(recordKey, damaged)
      const kept = new KeptLog()
      const records = await PeerRecords.open({ datastore, log: kept.log, nowMs: new TestClock().nowMs })
      expect(records.scores()).toEqual([])
      expect(kept.errors).toHaveLength(1)
      expect(await datastore.get(damagedKey)).toEqual(damaged)
    }
  }
  expect(await datastore.get(other)).toEqual(Uint8Array.of(1, 2, 3))
  const records = await open(datastore)
  records.core.peerConnected(good, 0)
  turns(records.core, good, 'success', 3, 0)
  await records.stop()
  expect(byPeer(await open(datastore)).get('good')?.counts.successful).toBe(3)
})

it('one record that makes no sense costs that peer only, and is told', async () => {
  const datastore = new MemoryDatastore()
  await ran(datastore)
  const { decodeRecord, encodeRecord } = await import('../../src/reliability/record.ts')
  const decoded = decodeRecord(await datastore.get(recordKey))
  const body = (decoded.kind === 'good' ? decoded.body : {}) as { state: { remembered: { peers: { peer: string; evidence: unknown }[] } } }
  for (const peer of body.state.remembered.peers) if (peer.peer === 'bad') peer.evidence = [-1, 'x']
  await datastore.put(recordKey, encodeRecord(body))
  const kept = new KeptLog()
  const warnings: string[] = []
  const onWarning = (message: string): unknown => warnings.push(message)
  const after = byPeer(await PeerRecords.open({ datastore, log: kept.log, nowMs: new TestClock().nowMs, onWarning }))
  expect([...after.keys()].sort()).toEqual(['gone', 'good'])
  expect(kept.errors).toHaveLength(1)
  expect(warnings).toEqual(['of what is remembered of peers, records that make no sense are left out: 1 of 3'])
})

it('without a datastore all is in memory', async () => {
  const records = await open(undefined)
  records.core.peerConnected(good, 0)
  turns(records.core, good, 'success', 3, 0)
  expect(records.scores()).toHaveLength(1)
  await records.stop()
  expect((await open(undefined)).scores()).toEqual([])
})

it('what has changed is written now and then; what has not is not', async () => {
  let writes = 0
  const datastore = new (class extends MemoryDatastore {
    override put(...args: Parameters<MemoryDatastore['put']>): ReturnType<MemoryDatastore['put']> {
      if (args[0].toString() === recordKey.toString()) writes += 1
      return super.put(...args)
    }
  })()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const records = await open(datastore)
  await vi.advanceTimersByTimeAsync(300_000)
  expect(writes).toBe(0)
  records.core.peerConnected(good, 0)
  turns(records.core, good, 'success', 3, 0)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(writes).toBe(1)
  await vi.advanceTimersByTimeAsync(300_000)
  expect(writes).toBe(1)
  turns(records.core, good, 'success', 3, 0)
  await records.stop()
  expect(writes).toBe(2)
  await vi.advanceTimersByTimeAsync(300_000)
  expect(vi.getTimerCount()).toBe(0)
})

it('[P8][P9] a peer is told its own row and receipts, and others only by number', async () => {
  const records = await open(undefined)
  const { core } = records
  const key = String.fromCharCode(0x12, 0x20, ...new Uint8Array(32)) as BlockKey
  core.asked({ key, peer: bad, role: 'primary', failChance: 0.5 }, 0)
  core.asked({ key, peer: good, role: 'backup', failChance: 0.1 }, 0)
  core.settled({ key, peer: good, role: 'backup', failChance: 0.1 }, 'success', 5, { latencyMs: 5, bytes: 10, queuedBytes: 10 })
  core.settled({ key, peer: bad, role: 'primary', failChance: 0.5 }, 'timeout', 9)
  core.ended(key, 9)
  const { score, account, receipts } = await records.line(good, undefined)
  expect(score?.peer).toBe('good')
  expect(account).toMatchObject({ attempted: 1, successful: 1, rewardable: 1, primaryTurns: 0, backupTurns: 1, rescued: 1 })
  const all = Array.from({ length: receipts.length }, (_, at) => receipts.at(at))
  expect(all).toMatchObject([
    {
      multihash: 'QmNLei78zWmzUdbeRB3CiUfAizWUrbeeZh5K1rhAQKCh51',
      credited: 1,
      turns: [
        { who: 1, role: 'primary', outcome: 'timeout' },
        { who: 'you', role: 'backup', outcome: 'success' }
      ]
    }
  ])
  expect(JSON.stringify(all)).not.toContain('bad')
  expect(await records.line(good, '1999-12-31')).toMatchObject({ score, account: undefined, receipts: { length: 0 } })
  expect(await records.line(gone, undefined)).toMatchObject({ account: undefined, receipts: { length: 0 } })
})

it('who asks how it stands does not make us reckon everybody’s score, nor everybody’s account', async () => {
  const records = await open(undefined)
  for (const peer of [good, bad]) records.core.peerConnected(peer, 0)
  turns(records.core, good, 'success', 30, 0)
  const all = records.scores()
  const scores = vi.spyOn(records.core, 'scores')
  const report = vi.spyOn(records.core.accounts, 'report')
  expect((await records.line(good, undefined)).score).toEqual(all.find(({ peer }) => peer === good))
  expect((await records.line(gone, undefined)).score).toBeUndefined()
  expect(scores).not.toHaveBeenCalled()
  expect(report).not.toHaveBeenCalled()
})
