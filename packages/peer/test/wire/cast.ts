import type { PrivateKey } from '@libp2p/interface'
import { CID } from '@shardswap/interface'
import { createPeer } from '../../src/index.ts'
import type { Peer, PeerInit } from '../../src/index.ts'
import { hex, rawCid, rawPrefix, seeded } from './bytes.ts'
import { RawPeer } from './raw.ts'
import type { Version } from './raw.ts'

/** The peers of one test, stopped together. */
export class Cast {
  readonly #stops: (() => Promise<void>)[] = []

  /** The peer under test. */
  async ours(init: PeerInit = {}): Promise<Peer> {
    const peer = await createPeer(init)
    this.#stops.push(async () => peer.stop())
    return peer
  }

  async raw(versions?: readonly Version[], privateKey?: PrivateKey): Promise<RawPeer> {
    const peer = await RawPeer.start(versions, privateKey)
    this.#stops.push(async () => peer.stop())
    return peer
  }

  async stop(): Promise<void> {
    await Promise.all(this.#stops.splice(0).map(async (stop) => stop()))
  }
}

export function address(peer: Peer): string {
  const first = peer.addresses()[0]
  if (first === undefined) throw new Error('the peer listens nowhere')
  return first
}

/** A block, its CID also as it stands in messages, in hex, and its prefix. */
export interface TestBlock {
  readonly cid: CID
  readonly hex: string
  readonly prefix: Uint8Array
  readonly data: Uint8Array
}

export function block(seed: number, size = 2000): TestBlock {
  const data = seeded(seed, size)
  const cid = rawCid(data)
  return { cid: CID.decode(cid), hex: hex(cid), prefix: rawPrefix, data }
}

export function blocks(count: number, size = 2000, from = 0): TestBlock[] {
  return Array.from({ length: count }, (_, index) => block(from + index, size))
}

export function byCid(all: readonly TestBlock[]): Map<string, TestBlock> {
  return new Map(all.map((each) => [each.hex, each]))
}
