/** Nodes of one test, in its own process, that are stopped with it. */
import { createPeer, type Peer, type PeerInit, type WithExchange, withShardswap, type WithShardswapInit } from '@shardswap/peer'
import type { Block } from '@shardswap/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { onTestFinished } from 'vitest'
import { blockOf, bytesOf } from './content.ts'
import { quietHelia, type QuietHelia } from './helia-node.ts'

/** A Helia with our exchange in it. */
export type SwappedHelia = QuietHelia & WithExchange

/** A Helia node, started, that is stopped with the test. */
export async function started<H extends QuietHelia>(helia: H): Promise<H> {
  onTestFinished(async () => {
    await helia.stop()
  })
  return await helia.start()
}

export async function swapped(init?: WithShardswapInit, helia = quietHelia()): Promise<SwappedHelia> {
  return await started(withShardswap(helia, init))
}

export async function ours(init?: PeerInit): Promise<Peer> {
  const peer = await createPeer(init)
  onTestFinished(async () => await peer.stop())
  return peer
}

/** A raw block of 4 KiB. */
export async function raw(seed: number): Promise<Block> {
  return await blockOf(bytesOf(4096, seed), 0x55)
}

export async function connected(helia: QuietHelia, peer: Peer): Promise<void> {
  const [address = ''] = peer.addresses()
  await helia.libp2p.dial(multiaddr(address))
}
