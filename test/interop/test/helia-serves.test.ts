import { startChild } from '@shardswap-test/cluster/child'
import type { BitswapNode, OurNode } from '../src/node-api.ts'
import { describeTransfers } from '../src/transfers.ts'

describeTransfers({
  serves: 'Helia',
  fetches: 'ours',
  readAll: false,
  start: async () => {
    const [provider, fetcher] = await Promise.all([
      startChild<BitswapNode>(new URL('../src/helia-process.ts', import.meta.url), 'Helia'),
      startChild<OurNode>(new URL('../src/ours-process.ts', import.meta.url), 'ours')
    ])
    const [address = ''] = await provider.addresses()
    await fetcher.connect(address)
    return { provider, fetcher }
  }
})
