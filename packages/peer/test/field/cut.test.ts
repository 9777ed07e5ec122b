import { afterEach, expect, it } from 'vitest'
import { rawBlocks } from '../support.ts'
import { cidsOf, Scene } from './scene.ts'

const scene = new Scene()
afterEach(async () => await scene.stop())

// docs/sessions-and-broker.md says that a peer which had delivered and left is dialled again while anything is wanted. Only
// connections that we closed as dead are; one that the network resets is not, and the fetch ends with NotFoundError after a minute.
it('a fetch goes on by itself after the network has cut its only connection', { timeout: 90_000 }, async () => {
  const [ours, provider] = [await scene.ours(), await scene.ours()]
  const all = rawBlocks(1000, 20_000)
  for (const { cid, bytes } of all) await provider.put(cid, bytes)
  const relay = await scene.relay(provider, 5)
  await ours.connect(relay.address)
  let read = 0
  for await (const _ of ours.getMany(cidsOf(all))) {
    read += 1
    if (read === 100) relay.last.cut('both')
  }
  expect(read).toBe(1000)
})
