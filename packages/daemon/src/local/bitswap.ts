/** The exchange of a peer that runs, in the terms of Kubo. */
import type { CID } from '@shardswap/interface'
import type { Peer } from '@shardswap/peer'
import { checkPeerId } from '../address.ts'
import type { BitswapLedger, BitswapStat, NodeBitswap } from '../api/network.ts'

export class LocalBitswap implements NodeBitswap {
  readonly #peer: () => Promise<Peer>

  constructor(peer: () => Promise<Peer>) {
    this.#peer = peer
  }

  async stat(): Promise<BitswapStat> {
    const { fetch, serve, peers, wantlist } = (await this.#peer()).stat()
    return {
      wantlist,
      peers: peers.map(({ peer }) => peer).toSorted(),
      blocksReceived: fetch.blocks + fetch.duplicateBlocks,
      bytesReceived: fetch.bytes + fetch.duplicateBytes,
      duplicateBlocks: fetch.duplicateBlocks,
      duplicateBytes: fetch.duplicateBytes,
      blocksSent: serve.blocksSent,
      bytesSent: serve.bytesSent
    }
  }

  async wantlist(other?: string): Promise<readonly CID[]> {
    const peer = await this.#peer()
    if (other === undefined || other === peer.peerId.toString()) return peer.wantlist()
    checkPeerId(other)
    return peer.ledger(other)?.wants ?? []
  }

  async ledger(other: string): Promise<BitswapLedger> {
    checkPeerId(other)
    const ledger = (await this.#peer()).ledger(other)
    if (ledger === undefined) return { peer: other, bytesSent: 0, bytesReceived: 0, exchanged: 0 }
    const { bytesSent, bytesReceived, blocksSent, blocksReceived } = ledger
    return { peer: other, bytesSent, bytesReceived, exchanged: blocksSent + blocksReceived }
  }
}
