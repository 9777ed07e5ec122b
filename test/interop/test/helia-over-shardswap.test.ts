import { startChild } from '@shardswap-test/cluster/child'
import type { BitswapNode } from '../src/node-api.ts'
import { describeOverShardswap } from '../src/over-shardswap.ts'

describeOverShardswap({
  serves: 'Helia',
  start: async () => await startChild<BitswapNode>(new URL('../src/helia-process.ts', import.meta.url), 'Helia')
})
