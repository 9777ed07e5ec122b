import { createHash } from 'node:crypto'
import { multihashOf } from '@shardswap/hashes'
import { type Block, CID } from '@shardswap/interface'
import { createPeer, type Peer, type PeerInit } from '../src/index.ts'

/** A raw block of `size` bytes that depends on `seed` only. */
export function rawBlock(seed: number | string, size = 1024): Block {
  const bytes = new Uint8Array(createHash('shake128', { outputLength: size }).update(`block ${seed}`).digest())
  const digest = multihashOf(0x12, 32, bytes)
  if (digest === undefined) throw new Error('sha2-256 is always there')
  return { cid: CID.createV1(0x55, digest), bytes }
}

export function rawBlocks(count: number, size = 1024, name = ''): Block[] {
  return Array.from({ length: count }, (_, i) => rawBlock(`${name}${i}`, size))
}

/** Peers that are stopped together. */
export class Peers {
  readonly #peers: Peer[] = []

  async create(init?: PeerInit): Promise<Peer> {
    const peer = await createPeer(init)
    this.#peers.push(peer)
    return peer
  }

  /** A peer that has these blocks. */
  async provider(blocks: readonly Block[], init?: PeerInit): Promise<Peer> {
    const peer = await this.create(init)
    for (const { cid, bytes } of blocks) await peer.put(cid, bytes)
    return peer
  }

  async stop(): Promise<void> {
    await Promise.all(this.#peers.splice(0).map(async (peer) => await peer.stop()))
  }
}

export async function connect(from: Peer, to: Peer): Promise<void> {
  const addr = to.addresses()[0]
  if (addr === undefined) throw new Error('the peer listens nowhere')
  await from.connect(addr)
}

export async function until(what: string, condition: () => boolean, withinMs = 10_000): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`waited ${withinMs} ms in vain until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const each of source) all.push(each)
  return all
}
