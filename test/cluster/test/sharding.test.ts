/** Downloads from several providers over real TCP, every peer in a process of its own. Only ratios and counts. */
import { expect, test } from 'vitest'
import { addToAll, cluster, download, duplicateShareMax, linksTo } from './downloads.ts'

const MiB = 1024 * 1024
const file = { seed: 1, bytes: 64 * MiB }

test(
  '[B3][C1][C3] one, two, four and eight providers of 64 MiB: each delivers, the content matches, hardly a byte comes twice',
  { timeout: 90_000 },
  async () => {
    const peers = cluster()
    const providers = await peers.peers(8, { announceNothing: true })
    const { root, sha256 } = await addToAll(providers, file)
    // Without links the downloader's processor is the bound, and the last of eight finds nothing left to do: half as
    // much as eight of these deliver is what one process takes in on any machine.
    const links = await linksTo(
      peers,
      providers,
      providers.map(() => 5e6)
    )
    for (const count of [1, 2, 4, 8]) {
      const sources = providers.slice(0, count)
      const addresses = count === 8 ? links : sources.map(({ address }) => address)
      const { stat, ...fetched } = await download(peers, root, addresses)
      expect(fetched.sha256).toBe(sha256)
      expect(stat.fetch.duplicateBytes).toBeLessThanOrEqual(file.bytes * duplicateShareMax)
      const delivering = stat.peers.filter(({ bytes }) => bytes > 0).map(({ peer }) => peer)
      expect(delivering.toSorted()).toEqual(sources.map(({ peer }) => peer).toSorted())
    }
  }
)

test('[B7] three downloaders that start together on one provider fetch from each other', { timeout: 90_000 }, async () => {
  const peers = cluster()
  const [provider, relay] = await Promise.all([peers.peer({ announceNothing: true }), peers.relay()])
  const { root, sha256 } = await addToAll([provider], file)
  // The three share the provider's uplink; without a limit, four processes on two cores are all that limits them.
  await relay.share('uplink', 20e6)
  const { address } = await relay.open({ target: provider.address, fromTarget: { delayMs: 5 }, shared: { fromTarget: 'uplink' } })
  const downloaders = await peers.peers(3)
  for (const [index, downloader] of downloaders.entries()) {
    await downloader.connect(address)
    for (const other of downloaders.slice(0, index)) await downloader.connect(other.address)
  }
  const fetched = await Promise.all(downloaders.map(async (downloader) => await downloader.cat(root)))
  expect(fetched.map((each) => each.sha256)).toEqual([sha256, sha256, sha256])
  const { serve } = await provider.stat()
  expect(serve.bytesSent / file.bytes).toBeLessThanOrEqual(1.8)
})
