import { peerKey } from '@shardswap/interface'
import { expect, it, onTestFinished } from 'vitest'
import { type Peer, type PeerInit, type PeerScore } from '../../src/index.ts'
import { collect, connect, Peers, rawBlocks, until } from '../support.ts'

const blocks = rawBlocks(40)

/** A client of two providers, of which one has proved itself and the other is new. */
async function scene(init: PeerInit): Promise<{ client: Peer; proved: PeerScore; fresh: PeerScore }> {
  const peers = new Peers()
  onTestFinished(async () => await peers.stop())
  const [first, second] = [await peers.provider(blocks), await peers.create()]
  const client = await peers.create(init)
  await connect(client, first)
  await connect(client, second)
  const session = client.createSession({ peers: [first.peerId] })
  await collect(session.getMany(blocks.map(({ cid }) => cid)))
  session.close()
  const scoreOf = (peer: Peer): PeerScore => {
    const found = client.scores().find((each) => each.peer === peerKey(peer.peerId))
    if (found === undefined) throw new Error('a connected peer has no score')
    return found
  }
  // What newcomers are measured by is taken anew ten times a second.
  await until('the newcomer counts as one', () => scoreOf(second).score < 0.7 * scoreOf(first).score)
  return { client, proved: scoreOf(first), fresh: scoreOf(second) }
}

it('[P2][P21] a peer made without a word about it shares by score', async () => {
  const { proved, fresh } = await scene({})
  expect(proved.share).toBeCloseTo(proved.score / (proved.score + fresh.score), 2)
})

it('[P3][P21] the setting `equal` makes shares alike, whatever the scores', async () => {
  const { proved, fresh } = await scene({ share: 'equal' })
  expect([proved.share, fresh.share]).toEqual([0.5, 0.5])
})

it('limits of accounts are the caller’s to set', async () => {
  const { client } = await scene({ accountLimits: { periodMs: 3_600_000 } })
  const { startMs = 0, endMs = 0, wants = 0 } = client.report() ?? {}
  expect([endMs - startMs, wants]).toEqual([3_600_000, 40])
})

it('limits that cannot work are refused, by their names', async () => {
  const peers = new Peers()
  onTestFinished(async () => await peers.stop())
  await expect(peers.create({ budgetLimits: { backupShare: 2 } })).rejects.toThrow('backupShare')
  await expect(peers.create({ accountLimits: { periodsMax: 0 } })).rejects.toThrow('periodsMax')
  await expect(peers.create({ reliabilityLimits: { fastGain: 0 } })).rejects.toThrow('fastGain')
})
