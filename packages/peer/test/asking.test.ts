/** What a caller may say beside the CID: how large a block it takes, and who is likely to have it. */
import { afterEach, expect, test } from 'vitest'
import type { FetchProgress } from '../src/index.ts'
import { connect, Peers, rawBlock, until } from './support.ts'

const peers = new Peers()
afterEach(async () => await peers.stop())

test('a block larger than its only caller takes is refused and not stored, from peers and from the store', async () => {
  const block = rawBlock('large', 5000)
  const [provider, ours] = [await peers.provider([block]), await peers.create()]
  await connect(ours, provider)
  const refused = { name: 'TooLargeError', code: 'ERR_TOO_LARGE' }
  await expect(ours.get(block.cid, { maxBytes: 4999 })).rejects.toMatchObject(refused)
  expect(await ours.has(block.cid)).toBe(false)
  expect(ours.gauges()).toMatchObject({ blocksAwaited: 0, wants: 0, wantsAtPeers: 0 })
  expect(await ours.get(block.cid, { maxBytes: 5000 })).toEqual(block.bytes)
  await expect(ours.get(block.cid, { maxBytes: 4999 })).rejects.toMatchObject(refused)
})

test('a caller who takes less does not keep a block from one who takes more', async () => {
  const block = rawBlock('shared', 5000)
  const [provider, ours] = [await peers.create(), await peers.create()]
  await connect(ours, provider)
  const small = ours.get(block.cid, { maxBytes: 100, timeoutMs: 30_000 }).catch((error: unknown) => error)
  const large = ours.createSession().get(block.cid, { timeoutMs: 30_000 })
  await until('the provider has heard of the want', () => provider.ledger(ours.peerId)?.wants.length === 1)
  await provider.put(block.cid, block.bytes)
  expect(await large).toEqual(block.bytes)
  expect(await small).toMatchObject({ code: 'ERR_TOO_LARGE' })
  expect(await ours.has(block.cid)).toBe(true)
})

test('a session asks the peer that it is told of, by address or by id, and says who delivered', async () => {
  const blocks = [rawBlock('by address'), rawBlock('by id')]
  const [first, second] = await Promise.all(blocks.map(async (block) => await peers.provider([block])))
  if (first === undefined || second === undefined) throw new Error('there are two')
  const ours = await peers.create()
  const session = ours.createSession()
  await session.addPeer(first.libp2p.getMultiaddrs())
  const events: FetchProgress[] = []
  expect(await session.get(blocks[0]!.cid, { onProgress: (event) => events.push(event) })).toEqual(blocks[0]!.bytes)
  const asked = events.filter((event) => event.type === 'shardswap:want')
  // Known for a provider, it is asked for the block at once, and not first whether it has it.
  expect(asked.map(({ detail }) => [detail.peer, detail.wantType])).toEqual([[first.peerId.toString(), 'block']])
  await ours.libp2p.peerStore.merge(second.peerId, { multiaddrs: second.libp2p.getMultiaddrs() })
  await session.addPeer(second.peerId)
  expect(await session.get(blocks[1]!.cid)).toEqual(blocks[1]!.bytes)
  await expect(session.addPeer(first.libp2p.getMultiaddrs(), { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' })
  session.close()
})
