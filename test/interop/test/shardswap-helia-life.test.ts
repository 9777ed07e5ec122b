/** How the exchange lives in a Helia node: its start and its end, what it serves, what it leaves behind. */
import { withBitswap } from '@helia/bitswap'
import { unixfs } from '@helia/unixfs'
import { prometheusMetrics } from '@libp2p/prometheus-metrics'
import { type HeliaBlockBroker, type HeliaNode, type HeliaSessionBroker, withShardswap } from '@shardswap/peer'
import { type Block, CID } from '@shardswap/interface'
import { MemoryBlockstore } from 'blockstore-core'
import { type BlockBroker, type createHelia, createHeliaLight, type SessionBlockBroker } from 'helia'
import { Registry } from 'prom-client'
import { describe, expect, expectTypeOf, test, vi } from 'vitest'
import { contentOf, mebibyte, sha256Of, type FileSpec } from '../src/content.ts'
import { quietHelia, type QuietHelia } from '../src/helia-node.ts'
import { connected, ours, raw, started, swapped } from '../src/helia-scene.ts'
import { addFile } from '../src/ours-content.ts'

const file: FileSpec = { bytes: 8 * mebibyte, seed: 91, cidVersion: 1, rawLeaves: true }
const waitMs = 20_000

describe('the exchange of a Helia node', () => {
  test("takes the place of Helia's Bitswap where there is one, and serves what Helia stores", async () => {
    const helia = await swapped({}, withBitswap(quietHelia()))
    const stock = await started(withBitswap(quietHelia()))
    const cid = await unixfs(helia).addByteStream(contentOf(file))
    await stock.libp2p.dial(helia.libp2p.getMultiaddrs())
    expect(sha256Of(await Array.fromAsync(unixfs(stock).cat(cid)))).toBe(sha256Of(contentOf(file)))
    const { serve } = helia.shardswap.stat()
    expect(serve.bytesSent).toBeGreaterThanOrEqual(file.bytes)
    expect(helia.shardswap.ledger(stock.libp2p.peerId)?.blocksSent).toBe(serve.blocksSent)
  })

  test('answers from the store alone: what a client wants is not fetched for it, and reaches it once Helia stores it', async () => {
    class SlowStore extends MemoryBlockstore {
      override put(...args: Parameters<MemoryBlockstore['put']>): CID {
        const put = async (): Promise<CID> => {
          await new Promise((resolve) => setTimeout(resolve, 30))
          return await super.put(...args)
        }
        return put() as unknown as CID
      }
    }
    const [helia, client, provider] = [await swapped({}, quietHelia({ blockstore: new SlowStore() })), await ours(), await ours()]
    const [elsewhere, here] = [await raw(21), await raw(22)]
    await provider.put(elsewhere.cid, elsewhere.bytes)
    await connected(helia, provider)
    await client.connect(helia.libp2p.getMultiaddrs()[0]!)
    const gets = [elsewhere, here].map(async ({ cid }) => await client.get(cid, { timeoutMs: waitMs }))
    await vi.waitFor(() => expect(helia.shardswap.ledger(client.peerId)?.wants).toHaveLength(2), waitMs)
    expect(helia.shardswap.wantlist()).toEqual([])
    await helia.blockstore.put(here.cid, here.bytes)
    expect(await gets[1]).toEqual(here.bytes)
    expect(helia.shardswap.stat().fetch.wantsSent).toBe(0)
    await Array.fromAsync(helia.blockstore.get(elsewhere.cid))
    expect(await gets[0]).toEqual(elsewhere.bytes)
  })

  test('ends with the node in mid-transfer, and works again after the next start with the scores that it had', async () => {
    const gate = Promise.withResolvers<void>()
    let reads = 0
    class GatedStore extends MemoryBlockstore {
      override async *get(...args: Parameters<MemoryBlockstore['get']>): AsyncGenerator<Uint8Array> {
        if (++reads > 10) await gate.promise
        yield* super.get(...args)
      }
    }
    const peer = await ours({ blockstore: new GatedStore() })
    const root = CID.parse(await addFile(file, peer))
    const helia = await swapped()
    await connected(helia, peer)
    const reading = Array.fromAsync(unixfs(helia).cat(root)).catch((error: unknown) => error)
    await vi.waitFor(() => expect(reads).toBeGreaterThan(10), waitMs)
    expect(helia.shardswap.gauges().wantsAtPeers).toBeGreaterThan(0)
    await helia.stop()
    gate.resolve()
    expect(await reading).toMatchObject({ errors: [{ name: 'StoppedError', code: 'ERR_STOPPED' }] })
    expect(helia.shardswap.gauges()).toMatchObject({
      sessions: 0,
      blocksAwaited: 0,
      wants: 0,
      wantsAtPeers: 0,
      searches: 0,
      clientWants: 0
    })
    await vi.waitFor(() => expect(peer.ledger(helia.libp2p.peerId)).toBeUndefined(), waitMs)

    await helia.start()
    await connected(helia, peer)
    expect(sha256Of(await Array.fromAsync(unixfs(helia).cat(root)))).toBe(sha256Of(contentOf(file)))
    expect(helia.shardswap.scores().map(({ peer: id }) => id)).toEqual([peer.peerId.toString()])
  })

  test('leaves the writing of what Helia fetches to Helia, and stores what is fetched beside it', async () => {
    let puts = 0
    class CountingStore extends MemoryBlockstore {
      override put(...args: Parameters<MemoryBlockstore['put']>): CID {
        puts += 1
        return super.put(...args) as CID
      }
    }
    const peer = await ours()
    const root = CID.parse(await addFile(file, peer))
    const { cid, bytes } = await raw(26)
    await peer.put(cid, bytes)
    const helia = await swapped({}, quietHelia({ blockstore: new CountingStore() }))
    await connected(helia, peer)
    expect(sha256Of(await Array.fromAsync(unixfs(helia).cat(root)))).toBe(sha256Of(contentOf(file)))
    expect(puts).toBe(helia.shardswap.stat().fetch.blocks)
    expect(await helia.shardswap.get(cid)).toEqual(bytes)
    expect(await helia.blockstore.has(cid)).toBe(true)
  })

  test('closes sessions that Helia is done with, and opens them anew', async () => {
    const peer = await ours()
    const blocks = await Promise.all([raw(24), raw(25)])
    for (const { cid, bytes } of blocks) await peer.put(cid, bytes)
    const helia = await swapped({ sessionIdleMs: 50 })
    const session = helia.blockstore.createSession(blocks[0].cid, { providers: [peer.libp2p.getMultiaddrs()] })
    for (const { cid, bytes } of blocks) {
      expect(await Array.fromAsync(session.get(cid))).toEqual([bytes])
      await vi.waitFor(() => expect(helia.shardswap.gauges().sessions).toBe(0), waitMs)
      await helia.libp2p.hangUp(peer.peerId)
    }
    for (let time = 0; time < 200; time++) helia.blockstore.createSession(blocks[0].cid)
    expect(helia.shardswap.gauges().sessions).toBe(0)
  })
})

test("the metrics of Helia's libp2p are told of the exchange, also after a restart", async () => {
  const registry = new Registry()
  const metrics = prometheusMetrics({ registry, collectDefaultMetrics: false })
  const [peer, helia] = [await ours(), await swapped({}, quietHelia({ metrics }))]
  const blocks = await Promise.all([raw(27), raw(28), raw(29)])
  const fetch = async (some: readonly Block[]): Promise<string> => {
    await connected(helia, peer)
    for (const { cid, bytes } of some) {
      await peer.put(cid, bytes)
      await Array.fromAsync(helia.blockstore.get(cid))
    }
    return await registry.metrics()
  }
  expect(await fetch(blocks.slice(0, 2))).toMatch(/^shardswap_blocks_received_total 2$/m)
  await helia.stop()
  await helia.start()
  expect(await fetch(blocks.slice(2))).toMatch(/^shardswap_blocks_received_total 3$/m)
})

test("our broker is one of Helia's, by its types", () => {
  expectTypeOf<HeliaBlockBroker>().toExtend<BlockBroker>()
  expectTypeOf<HeliaSessionBroker>().toExtend<SessionBlockBroker>()
  expectTypeOf<ReturnType<typeof createHelia>>().toExtend<HeliaNode>()
  expect(withShardswap(quietHelia()).hasBlockBroker('bitswap')).toBe(true)
})

describe('mistakes show', () => {
  test('a node that has started, or has a Bitswap, or no libp2p, or limits that cannot work', async () => {
    const invalid = expect.objectContaining({ name: 'InvalidParametersError', code: 'ERR_INVALID_PARAMETERS' }) as Error
    const running = await started(quietHelia())
    expect(() => withShardswap(running)).toThrow(invalid)
    const twice = withShardswap(quietHelia())
    expect(() => withShardswap(twice)).toThrow(invalid)
    expect(() => twice.shardswap.stat()).toThrow(expect.objectContaining({ code: 'ERR_STOPPED' }))
    expect(() => withShardswap(quietHelia(), { limits: { giveUpMs: 0 } })).toThrow(invalid)
    for (const sessionIdleMs of [-1, NaN, '60' as never]) {
      expect(() => withShardswap(quietHelia(), { sessionIdleMs })).toThrow(invalid)
    }
    const without = withShardswap(createHeliaLight() as QuietHelia)
    await expect(without.start()).rejects.toMatchObject({ code: 'ERR_INVALID_PARAMETERS' })
  })
})
