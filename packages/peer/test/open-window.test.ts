import { afterEach, expect, it } from 'vitest'
import { firstWindowBytes } from '../src/network/open-window.ts'
import { Scene } from './field/scene.ts'
import { rawBlock } from './support.ts'

const scene = new Scene()
afterEach(async () => await scene.stop())

it('a stream that brings blocks may have more on its way from the start than Yamux allows by itself', async () => {
  const [ours, provider] = [await scene.ours(), await scene.ours()]
  const { cid, bytes } = rawBlock('small')
  await provider.put(cid, bytes)
  await ours.connect(provider.addresses()[0] ?? '')
  expect(await ours.get(cid, { timeoutMs: 20_000 })).toEqual(bytes)
  const streams = ours.libp2p.getConnections().flatMap((connection) => connection.streams)
  const bringing = streams.filter(({ direction, protocol }) => direction === 'inbound' && protocol.includes('bitswap'))
  const windows = bringing.map((stream) => ('recvWindow' in stream ? Number(stream.recvWindow) : 0))
  expect(windows.length).toBeGreaterThan(0)
  for (const window of windows) expect(window).toBeGreaterThanOrEqual(firstWindowBytes)
})
