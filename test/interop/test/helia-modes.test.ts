import { startChild } from '@shardswap-test/cluster/child'
import { testModes } from '../src/modes.ts'
import type { BitswapNode } from '../src/node-api.ts'
import { startOurs } from '../src/start-ours.ts'

testModes({
  fetches: 'Helia',
  start: async (admission) => {
    const [ours, client] = await Promise.all([
      startOurs(admission),
      startChild<BitswapNode>(new URL('../src/helia-process.ts', import.meta.url), 'Helia')
    ])
    const [address = ''] = await ours.addresses()
    await client.connect(address)
    const stop = async (): Promise<void> => {
      await Promise.all([client.stop(), ours.stop()])
    }
    return { ours, client, stop }
  }
})
