import { blocksOf, Cluster } from '@shardswap-test/cluster'
import { blockBytes, delayMs, type Setup } from './setups.ts'

export interface Measured {
  readonly seconds: number
  readonly wantBlocks: number
}

const seed = 1

/** Runs a set-up with processes of its own, over relays that delay and limit TCP. */
export async function onTcp({ blocks, providers }: Setup): Promise<Measured> {
  const cluster = new Cluster()
  try {
    const relay = await cluster.relay()
    const reader = await cluster.peer({ announceNothing: true })
    for (const { from, to, bytesPerS } of providers) {
      const provider = await cluster.peer({ announceNothing: true })
      await provider.put({ seed, count: to - from, blockBytes, from })
      const shape = { delayMs, bytesPerS }
      const { address } = await relay.open({ target: provider.address, toTarget: shape, fromTarget: shape })
      await reader.connect(address)
    }
    const cids = [...blocksOf({ seed, count: blocks, blockBytes })].map(({ cid }) => cid.toString())
    const fetched = await reader.getMany(cids, { order: 'arrival' })
    const { fetch } = await reader.stat()
    return { seconds: fetched.seconds, wantBlocks: fetch.wantBlocksSent }
  } finally {
    await cluster.stop()
  }
}
