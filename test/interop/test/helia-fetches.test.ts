import { startChild } from '../src/child.ts'
import type { OurNode } from '../src/node-api.ts'
import { describeTransfers } from '../src/transfers.ts'

describeTransfers({
  serves: 'ours',
  fetches: 'Helia',
  // Helia lists a sharded directory one block after another, 18 ms for each.
  readAll: false,
  start: async () => {
    const [provider, fetcher] = await Promise.all([
      startChild<OurNode>('./ours-process.ts', 'ours'),
      startChild('./helia-process.ts', 'Helia')
    ])
    const [address = ''] = await provider.addresses()
    await fetcher.connect(address)
    return { provider, fetcher }
  }
})
