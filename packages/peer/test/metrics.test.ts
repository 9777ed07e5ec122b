import { prometheusMetrics } from '@libp2p/prometheus-metrics'
import type { Stream } from '@libp2p/interface'
import { Registry } from 'prom-client'
import { afterEach, expect, test } from 'vitest'
import { exchangeMetrics, type Peer } from '../src/index.ts'
import { collect, connect, Peers, rawBlock, rawBlocks, until } from './support.ts'

const peers = new Peers()
afterEach(async () => await peers.stop())

/** A peer whose metrics go to a registry of its own. */
async function measured(): Promise<{ peer: Peer; registry: Registry }> {
  const registry = new Registry()
  return { registry, peer: await peers.create({ metrics: prometheusMetrics({ registry, collectDefaultMetrics: false }) }) }
}

/** All values of a registry by their names, a label's value behind the name. */
async function valuesOf(registry: Registry): Promise<Map<string, number>> {
  const all = await registry.getMetricsAsJSON()
  const rows = all.flatMap(({ name, values }) =>
    values.map(({ value, labels }) => [[name, ...Object.values(labels)].join(' '), value] as const)
  )
  return new Map(rows)
}

test('[F29] what an exchange counts is what its metrics tell, and each gauge that should be is 0 at rest', async () => {
  const { peer, registry } = await measured()
  const blocks = rawBlocks(40, 20_000)
  const provider = await peers.provider(blocks)
  await connect(peer, provider)
  const session = peer.createSession()
  await collect(session.getMany(blocks.map(({ cid }) => cid)))
  await provider.get((await putOne(peer)).cid)
  const busy = await valuesOf(registry)
  const { fetch, serve } = peer.stat()
  expect(Object.fromEntries(busy)).toMatchObject({
    shardswap_sessions: 1,
    shardswap_connected_peers: 1,
    shardswap_blocks_received_total: 40,
    shardswap_block_bytes_received_total: 800_000,
    shardswap_want_blocks_sent_total: fetch.wantBlocksSent,
    shardswap_duplicate_blocks_received_total: fetch.duplicateBlocks,
    shardswap_blocks_sent_total: 1,
    shardswap_block_bytes_sent_total: serve.bytesSent,
    'shardswap_admission_decisions_total free': 1
  })
  expect(busy.get('libp2p_data_transfer_bytes_total global received')).toBeGreaterThan(800_000)
  const byScore = [...busy].filter(([name]) => name.startsWith('shardswap_peers_by_score'))
  expect(byScore.map(([, count]) => count).toSorted((one, other) => one - other)).toEqual([0, 0, 0, 0, 1])
  // A second collection adds nothing that did not happen.
  expect((await valuesOf(registry)).get('shardswap_blocks_received_total')).toBe(40)

  session.close()
  await provider.stop()
  await until('nobody is connected', () => peer.connections().length === 0)
  const rest = await valuesOf(registry)
  for (const { name, isZeroAtRest } of exchangeMetrics) {
    if (isZeroAtRest !== true) continue
    const left = [...rest].filter(([key, value]) => key.split(' ')[0] === name && value !== 0)
    expect({ name, left }).toEqual({ name, left: [] })
  }
  await peer.stop()
  expect((await valuesOf(registry)).get('shardswap_blocks_received_total')).toBe(40)
})

async function putOne(peer: Peer): Promise<ReturnType<typeof rawBlock>> {
  const block = rawBlock('served', 5000)
  await peer.put(block.cid, block.bytes)
  return block
}

/** What a handler that is slow to read gets of frames that were sent at once when the stream opened. */
async function firstFrames(node: Peer): Promise<string> {
  const sender = await peers.create()
  await connect(sender, node)
  const sent = Promise.withResolvers<void>()
  const read = Promise.withResolvers<string>()
  await node.libp2p.handle('/test/slow-reader/1.0.0', async (stream: Stream) => {
    await sent.promise
    // The frames are here by now: an answer to something sent after them has come back.
    await sender.libp2p.dial(node.peerId)
    let text = ''
    stream.addEventListener('message', ({ data }) => {
      text += new TextDecoder().decode(data.subarray())
      if (text.endsWith('last')) read.resolve(text)
    })
  })
  const stream = await sender.libp2p.dialProtocol(node.peerId, '/test/slow-reader/1.0.0')
  for (const frame of ['first ', 'second ', 'last']) stream.send(new TextEncoder().encode(frame))
  const block = await putOne(node)
  await sender.get(block.cid)
  sent.resolve()
  return await read.promise
}

test('[F29] with metrics on a handler that reads late misses no frame, and neither do we', async () => {
  const { peer } = await measured()
  const plain = await peers.create()
  expect(await firstFrames(peer)).toBe('first second last')
  expect(await firstFrames(plain)).toBe('first second last')
})
