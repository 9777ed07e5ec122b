/** The exchange as Helia calls it: what its blockstore does not always pass on is asked of the broker itself. */
import { type HeliaBlockBroker, type HeliaNode, withShardswap } from '@shardswap/peer'
import { expect, test, vi } from 'vitest'
import { quietHelia } from '../src/helia-node.ts'
import { connected, ours, raw, started, type SwappedHelia } from '../src/helia-scene.ts'

const waitMs = 20_000

/** A Helia and the broker in it. */
async function withBroker(init?: Parameters<typeof withShardswap>[1]): Promise<{ helia: SwappedHelia; broker: HeliaBlockBroker }> {
  const node = quietHelia()
  const add = (node as HeliaNode).addBlockBroker.bind(node)
  let broker: HeliaBlockBroker | undefined
  const kept: HeliaNode['addBlockBroker'] = (make) => add((components) => (broker = make(components)))
  Object.assign(node, { addBlockBroker: kept })
  const helia = await started(withShardswap(node, init))
  if (broker === undefined) throw new Error('withShardswap adds a broker')
  return { helia, broker }
}

test('validateFn has the last word on a block, from a peer, in a session and offline', async () => {
  const [peer, { helia, broker }] = [await ours(), await withBroker()]
  const [first, second] = [await raw(31), await raw(32)]
  for (const { cid, bytes } of [first, second]) await peer.put(cid, bytes)
  await connected(helia, peer)
  const seen: Uint8Array[] = []
  const validateFn = async (bytes: Uint8Array): Promise<void> => {
    seen.push(bytes)
    throw new Error('not to my taste')
  }
  await expect(broker.retrieve(first.cid, { validateFn })).rejects.toThrow('not to my taste')
  await expect(broker.createSession().retrieve(second.cid, { validateFn })).rejects.toThrow('not to my taste')
  await helia.blockstore.put(first.cid, first.bytes)
  const offline = broker.createSession({ offline: true })
  await expect(offline.retrieve(first.cid, { validateFn })).rejects.toThrow('not to my taste')
  expect(seen).toEqual([first.bytes, second.bytes, first.bytes])
  expect(await offline.retrieve(first.cid, { validateFn: async () => undefined })).toEqual(first.bytes)
})

test('an offline session dials nobody who is added, and one whose caller has given up opens nothing', async () => {
  const [peer, { helia, broker }] = [await ours(), await withBroker()]
  const { cid, bytes } = await raw(33)
  await peer.put(cid, bytes)
  await broker.createSession({ offline: true }).addPeer(peer.libp2p.getMultiaddrs())
  expect(helia.libp2p.getPeers()).toEqual([])
  const providers = [peer.libp2p.getMultiaddrs()]
  const given = broker.createSession({ providers }).retrieve(cid, { signal: AbortSignal.abort(new Error('given up')) })
  await expect(given).rejects.toThrow('given up')
  expect([helia.shardswap.gauges().sessions, helia.libp2p.getPeers()]).toEqual([0, []])
})

test('providers that are given with a block, and peers that were added, serve a session, also once it opens anew', async () => {
  const [first, second, { helia, broker }] = [await ours(), await ours(), await withBroker({ sessionIdleMs: 50 })]
  const blocks = await Promise.all([raw(34), raw(35), raw(36)])
  for (const { cid, bytes } of blocks.slice(1)) await second.put(cid, bytes)
  await first.put(blocks[0].cid, blocks[0].bytes)
  const session = broker.createSession()
  const signal = AbortSignal.timeout(waitMs)
  const providers = [first.libp2p.getMultiaddrs()]
  expect(await session.retrieve(blocks[0].cid, { providers, signal })).toEqual(blocks[0].bytes)
  await session.addPeer(second.libp2p.getMultiaddrs())
  expect(await session.retrieve(blocks[1].cid, { signal })).toEqual(blocks[1].bytes)
  await vi.waitFor(() => expect(helia.shardswap.gauges().sessions).toBe(0), waitMs)
  await helia.libp2p.hangUp(second.peerId)
  expect(await session.retrieve(blocks[2].cid, { signal })).toEqual(blocks[2].bytes)
})
