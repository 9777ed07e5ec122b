import { startChild } from '@shardswap-test/cluster/child'
import type { BitswapNode, OurNode } from '../src/node-api.ts'
import { describeTransfers } from '../src/transfers.ts'

describeTransfers({
  serves: 'ours',
  fetches: 'Helia',
  // Helia lists a sharded directory one block after another, 18 ms for each.
  readAll: false,
  start: async () => {
    const [provider, fetcher] = await Promise.all([
      startChild<OurNode>(new URL('../src/ours-process.ts', import.meta.url), 'ours'),
      startChild<BitswapNode>(new URL('../src/helia-process.ts', import.meta.url), 'Helia')
    ])
    const [address = ''] = await provider.addresses()
    await fetcher.connect(address)
    return { provider, fetcher }
  }
})
