import { startChild } from '../src/child.ts'
import type { OurNode } from '../src/node-api.ts'
import { describeTransfers } from '../src/transfers.ts'

describeTransfers({
  serves: 'Helia',
  fetches: 'ours',
  readAll: false,
  start: async () => {
    const [provider, fetcher] = await Promise.all([
      startChild('./helia-process.ts', 'Helia'),
      startChild<OurNode>('./ours-process.ts', 'ours')
    ])
    const [address = ''] = await provider.addresses()
    await fetcher.connect(address)
    return { provider, fetcher }
  }
})
