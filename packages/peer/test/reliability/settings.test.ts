import { peerKey } from '@shardswap/interface'
import { expect, it, onTestFinished } from 'vitest'
import { type Peer, type PeerInit, type PeerScore } from '../../src/index.ts'
import { MemoryBlockstore } from 'blockstore-core'
import { collect, connect, Peers, rawBlocks, until } from '../support.ts'

/** A client of two providers, one that delivers and one whose store never answers; nobody is vetted yet. */
async function scene(init: PeerInit): Promise<{ client: Peer; good: PeerScore; bad: PeerScore }> {
  const peers = new Peers()
  onTestFinished(async () => await peers.stop())
  const stuck = new StuckStore()
  onTestFinished(() => stuck.freed.resolve())
  const [ofGood, ofBad] = [rawBlocks(10, 1024, 'good'), rawBlocks(3, 1024, 'bad')]
  const [first, second] = [await peers.provider(ofGood), await peers.provider(ofBad, { blockstore: stuck })]
  const client = await peers.create(init)
  const session = client.createSession()
  await connect(client, first)
  await collect(session.getMany(ofGood.map(({ cid }) => cid)))
  await connect(client, second)
  const enough = new AbortController()
  const reading = collect(
    session.getMany(
      ofBad.map(({ cid }) => cid),
      { signal: enough.signal }
    )
  )
  const ended = reading.catch(() => 'ended')
  const scoreOf = (peer: Peer): PeerScore | undefined => client.scores().find((each) => each.peer === peerKey(peer.peerId))
  await until('both have been judged', () => scoreOf(first)?.success24h === 1 && scoreOf(second)?.success24h === 0)
  enough.abort()
  expect(await ended).toBe('ended')
  session.close()
  const [good, bad] = [scoreOf(first) as PeerScore, scoreOf(second) as PeerScore]
  expect(bad.score).toBeLessThan(0.7 * good.score)
  return { client, good, bad }
}

/** Knows of its blocks, and never comes to read them. */
class StuckStore extends MemoryBlockstore {
  readonly freed = Promise.withResolvers<void>()

  size(): number {
    return 1024
  }

  override async *get(): AsyncGenerator<Uint8Array> {
    await this.freed.promise
    yield new Uint8Array(0)
  }
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
  const { startMs = 0, endMs = 0, wants = 0 } = client.report() ?? {}
  expect(endMs - startMs).toBe(3_600_000)
  expect(wants).toBeGreaterThanOrEqual(10)
})

it('limits that cannot work are refused, by their names', async () => {
  const peers = new Peers()
  onTestFinished(async () => await peers.stop())
  await expect(peers.create({ budgetLimits: { backupShare: 2 } })).rejects.toThrow('backupShare')
  await expect(peers.create({ accountLimits: { periodsMax: 0 } })).rejects.toThrow('periodsMax')
  await expect(peers.create({ reliabilityLimits: { fastGain: 0 } })).rejects.toThrow('fastGain')
})
