import { peerIdFromCID } from '@libp2p/peer-id'
import type { Routing } from '../types.ts'
import type { HeliaComponents } from './types.ts'

const bitswapTransport = 'transport-bitswap'

/** Helia's routing as ours: without gateways, and without those who say that they do not speak Bitswap. */
export function heliaRouting({ routing }: Pick<HeliaComponents, 'routing'>): Routing {
  return {
    async *findProviders(cid, options) {
      for await (const { id, multiaddrs, protocols, fallback } of routing.findProviders(cid, options)) {
        const saysOthers = protocols !== undefined && protocols.length > 0 && !protocols.includes(bitswapTransport)
        if (!fallback && !saysOthers) yield { id: peerIdFromCID(id), multiaddrs }
      }
    }
  }
}
