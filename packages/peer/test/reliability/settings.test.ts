import { type BlockKey, peerKey } from '@shardswap/interface'
import { MemoryDatastore } from 'datastore-core'
import { expect, it, onTestFinished } from 'vitest'
import { nowMs } from '../../src/clock.ts'
import type { Peer, PeerInit, PeerScore } from '../../src/index.ts'
import { PeerRecords } from '../../src/reliability/peer-records.ts'
import { connect, Peers, until } from '../support.ts'
import { KeptLog } from './log.ts'

/** A client that remembers two peers, one that delivered and one that did not, and is connected to both; nobody is vetted. */
async function scene(init: PeerInit): Promise<{ client: Peer; good: PeerScore; bad: PeerScore }> {
  const peers = new Peers()
  onTestFinished(async () => await peers.stop())
  const [first, second] = [await peers.create(), await peers.create()]
  const datastore = new MemoryDatastore()
  const before = await PeerRecords.open({ datastore, log: new KeptLog().log, nowMs })
  before.start()
  for (const [peer, outcome] of [
    [first, 'success'],
    [second, 'timeout']
  ] as const) {
    for (let at = 0; at < 5; at++) {
      const turn = { key: `${outcome}${at}` as BlockKey, peer: peerKey(peer.peerId), role: 'primary', failChance: 0.1 } as const
      before.core.asked(turn, nowMs())
      before.core.settled(turn, outcome, nowMs(), { latencyMs: 5, bytes: 1000, queuedBytes: 1000 })
      before.core.ended(turn.key, nowMs())
    }
  }
  await before.stop()
  const client = await peers.create({ datastore, ...init })
  for (const peer of [first, second]) await connect(client, peer)
  const scoreOf = (peer: Peer): PeerScore => client.scores().find((each) => each.peer === peerKey(peer.peerId)) as PeerScore
  await until('both are connected', () => client.scores().every(({ isConnected }) => isConnected))
  const [good, bad] = [scoreOf(first), scoreOf(second)]
  expect(bad.score).toBeLessThan(0.7 * good.score)
  return { client, good, bad }
}

it('[P2][P21] a peer made without a word about it shares by score', async () => {
  const { good, bad } = await scene({})
  expect(good.share).toBeCloseTo(good.score / (good.score + bad.score), 2)
})

it('[P3][P21] the setting `equal` makes shares alike, whatever the scores', async () => {
  const { good, bad } = await scene({ share: 'equal' })
  expect([good.share, bad.share]).toEqual([0.5, 0.5])
})

it('limits of accounts are the caller’s to set', async () => {
  const { client } = await scene({ accountLimits: { periodMs: 3_600_000 } })
  const { startMs = 0, endMs = 0 } = client.report() ?? {}
  expect(endMs - startMs).toBe(3_600_000)
})

it('limits that cannot work are refused, by their names', async () => {
  const peers = new Peers()
  onTestFinished(async () => await peers.stop())
  await expect(peers.create({ share: 'fair' as 'equal' })).rejects.toMatchObject({
    code: 'ERR_INVALID_PARAMETERS',
    message: expect.stringContaining('proportional, equal, percentile, not "fair"') as string
  })
  await expect(peers.create({ budgetLimits: { backupShare: 2 } })).rejects.toThrow('backupShare')
  await expect(peers.create({ accountLimits: { periodsMax: 0 } })).rejects.toThrow('periodsMax')
  await expect(peers.create({ reliabilityLimits: { fastGain: 0 } })).rejects.toThrow('fastGain')
})
