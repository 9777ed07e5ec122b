import { randomBytes } from 'node:crypto'
import { MemoryDatastore } from 'datastore-core'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { CID } from '@shardswap/interface'
import type { Peer, PeerInit } from '../../src/index.ts'
import { DhtRouter } from '../../src/routing/dht.ts'
import { collect, Peers, rawBlock, rawBlocks, until } from '../support.ts'

// Each waits for several things that a busy machine may take its time for.
vi.setConfig({ testTimeout: 100_000 })

const peers = new Peers()
afterEach(async () => await peers.stop())

/** Peers on a network of their own, which know the first one and nobody else. */
async function privateNetwork(count: number, init: (at: number) => PeerInit = () => ({})): Promise<Peer[]> {
  const swarmKey = `/key/swarm/psk/1.0.0/\n/base16/\n${randomBytes(32).toString('hex')}`
  const all: Peer[] = []
  for (let at = 0; at < count; at++) {
    const bootstrap = all[0]?.addresses() ?? []
    all.push(await peers.create({ swarmKey, dht: 'server', bootstrap, ...init(at) }))
  }
  return all
}

describe('the DHT of a private network', () => {
  test('[B5] a peer finds blocks of others that it was never told of, and is found in turn', async () => {
    const [, far, asker] = await privateNetwork(5, (at) => (at === 2 ? { dht: 'client' } : {}))
    const blocks = rawBlocks(5, 2048, 'dht')
    if (far === undefined || asker === undefined) throw new Error('there are five')
    for (const { cid, bytes } of blocks) await far.put(cid, bytes)
    const [root] = blocks
    if (root === undefined) throw new Error('there are five')
    await far.routing.provide(root.cid)
    // Only the peer to begin with is connected: where the block is has to be looked up.
    const session = asker.createSession()
    expect(await session.get(root.cid)).toEqual(root.bytes)
    // The others are known to nobody but come in the same session.
    for (const { cid, bytes } of blocks.slice(1)) expect(await session.get(cid)).toEqual(bytes)
    session.close()
    const [found] = await collect(asker.routing.findProviders(root.cid))
    expect(found).toMatchObject({ router: 'dht' })
    expect(found?.id.toString()).toBe(far.peerId.toString())
    expect((await asker.routing.findPeer(far.peerId)).multiaddrs?.map(String).join()).toContain('/tcp/')
  })

  test('what is put is announced in the background, and not again after a restart', async () => {
    const datastore = new MemoryDatastore()
    const blocks = rawBlocks(20, 64, 'announced')
    const [known, late] = blocks
    if (known === undefined || late === undefined) throw new Error('there are twenty')
    const all: CID[] = blocks.slice(2).map(({ cid }) => cid)
    const provide = {
      keys: async function* (): AsyncGenerator<CID> {
        yield* [known.cid, ...all]
      }
    }
    const [, announcing, asker] = await privateNetwork(3, (at) => (at === 1 ? { provide, datastore } : {}))
    if (announcing === undefined || asker === undefined) throw new Error('there are three')
    await until('all are announced', () => announcing.routing.stat().announced === 19, 30_000)
    announcing.routing.announce(late.cid)
    announcing.routing.announce(late.cid)
    await until('the new one is announced', () => announcing.routing.stat().announced === 20, 30_000)
    const found = await collect(asker.routing.findProviders(late.cid))
    expect(found.map(({ id }) => id.toString())).toEqual([announcing.peerId.toString()])
    const { nextAnnounceAtMs = 0, announcesWaiting } = announcing.routing.stat()
    expect(announcesWaiting).toBe(0)
    expect(nextAnnounceAtMs - Date.now()).toBeGreaterThan(21 * 3_600_000)
    await announcing.stop()
    // Nobody is there to be told: what was announced a moment ago is not due, so nothing fails.
    const again = await peers.create({ datastore, dht: 'server', provide })
    await until('all were gone through', () => (again.routing.stat().nextAnnounceAtMs ?? 0) > Date.now() + 20 * 3_600_000, 30_000)
    expect(again.routing.stat()).toMatchObject({ announced: 0, announcesFailed: 0, announcesWaiting: 0 })
  })

  test('a peer that knows no other says that nobody could be told', async () => {
    const [alone] = await privateNetwork(1)
    if (alone === undefined) throw new Error('there is one')
    const signal = AbortSignal.timeout(300)
    await expect(alone.routing.provide(rawBlock(1).cid, { signal })).rejects.toThrow(/abort|time/i)
    // Who gives no time waits for the first peer for a while, and not for ever.
    const { dht } = alone.libp2p.services as unknown as { dht: ConstructorParameters<typeof DhtRouter>[0] }
    const router = new DhtRouter(dht, 50)
    const end = { signal: new AbortController().signal }
    const failure = { code: 'ERR_ROUTER', message: expect.stringContaining('found no peer to ask') as string }
    await expect(router.provide(rawBlock(1).cid, end)).rejects.toMatchObject(failure)
    await expect(collect(router.findProviders(rawBlock(1).cid, end))).rejects.toMatchObject(failure)
  })
})
