import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { rawBlocks } from '../support.ts'
import type { Peer } from '../../src/index.ts'
import type { Relay } from './relay.ts'
import { cidsOf, Scene } from './scene.ts'

const scene = new Scene()
afterEach(async () => await scene.stop())

/** A provider of 20 MB behind a relay, and who fetches them. `onPart` is called when a connection has brought 5 MB. */
async function fetching(
  onPart: (ours: Peer, provider: Peer, relay: Relay) => void
): Promise<{ read: Promise<number>; abort: AbortController }> {
  const [ours, provider] = [await scene.ours(), await scene.ours()]
  const all = rawBlocks(1000, 20_000)
  for (const { cid, bytes } of all) await provider.put(cid, bytes)
  const relay = await scene.relay(provider, 5)
  relay.onPair = ({ down }) => {
    let isDone = false
    down.onBytes = (bytes) => {
      if (!isDone && down.bytes > 5e6) {
        isDone = true
        onPart(ours, provider, relay)
      }
      return bytes
    }
  }
  await ours.connect(relay.address)
  const abort = new AbortController()
  const read = (async (): Promise<number> => {
    let count = 0
    for await (const _ of ours.getMany(cidsOf(all), { signal: abort.signal })) count += 1
    return count
  })()
  return { read, abort }
}

it('a fetch goes on by itself after the network has cut its only connection', { timeout: 40_000 }, async () => {
  let cuts = 0
  const { read } = await fetching((_ours, _provider, { last }) => {
    cuts += 1
    setImmediate(() => last.cut('both'))
  })
  expect(await read).toBe(1000)
  expect(cuts).toBeGreaterThan(0)
})

it('a peer that we hung up is not dialled again', { timeout: 40_000 }, async () => {
  const hungUp = Promise.withResolvers<[ours: Peer, provider: Peer]>()
  const { read, abort } = await fetching((ours, provider) => {
    void ours.libp2p.hangUp(provider.libp2p.peerId)
    hungUp.resolve([ours, provider])
  })
  const [ours, provider] = await hungUp.promise
  // It would be dialled at once.
  await sleep(1000)
  expect(ours.libp2p.getConnections(provider.libp2p.peerId)).toEqual([])
  abort.abort()
  await expect(read).rejects.toThrow('abort')
})
