import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import type { Block } from '@shardswap/interface'
import type { Peer } from '../../src/index.ts'
import { connect, Peers, rawBlock, rawBlocks } from '../support.ts'

const peers = new Peers()
afterEach(async () => await peers.stop())

function newKey(): string {
  return `/key/swarm/psk/1.0.0/\n/base16/\n${randomBytes(32).toString('hex')}\n`
}

async function fetched(from: Peer, blocks: readonly Block[]): Promise<number> {
  let bytes = 0
  for await (const block of from.getMany(blocks.map(({ cid }) => cid))) bytes += block.bytes.byteLength
  return bytes
}

const isFull = process.env['SHARDSWAP_SCALE'] === 'full'
const sizes = isFull ? [32, 128] : [8]
const MiB = 1024 * 1024

describe('a private network', () => {
  test.each(sizes)('[F28] %d MiB go both ways at once between peers with the same swarm.key, and no byte is lost', async (mib) => {
    const swarmKey = newKey()
    const there = rawBlocks(mib, MiB, 'there')
    const here = rawBlocks(mib, MiB, 'here')
    const first = await peers.provider(here, { swarmKey })
    const second = await peers.provider(there, { swarmKey })
    await connect(first, second)
    expect(await Promise.all([fetched(first, there), fetched(second, here)])).toEqual([mib * MiB, mib * MiB])
    expect(first.stat().fetch.duplicateBlocks).toBe(0)
  })

  // With @libp2p/pnet 3.0.27 four readers of 60 of them ended the process each time: so much waits to be enciphered at once.
  test('[F28] blocks of 2 MiB go to several peers that read at once', async () => {
    const swarmKey = newKey()
    const blocks = rawBlocks(isFull ? 60 : 5, 2 * MiB, 'large')
    const provider = await peers.provider(blocks, { swarmKey })
    const readers = await Promise.all(Array.from({ length: isFull ? 4 : 2 }, async () => await peers.create({ swarmKey })))
    for (const reader of readers) await connect(reader, provider)
    const bytes = blocks.length * 2 * MiB
    expect(await Promise.all(readers.map(async (reader) => await fetched(reader, blocks)))).toEqual(readers.map(() => bytes))
  })

  // The first byte deciphered with a wrong key is as likely as not the length of a message: so more than one try.
  test('[F67] peers with different keys do not connect, fail fast, and say why; both go on', async () => {
    const provider = await peers.provider([rawBlock(1)], { swarmKey: newKey() })
    const others = await Promise.all(Array.from({ length: 8 }, async () => await peers.create({ swarmKey: newKey() })))
    const startMs = performance.now()
    for (const other of others) {
      await expect(connect(other, provider)).rejects.toThrow(/private network.*swarm\.key|swarm\.key/)
    }
    // Eight time-outs of libp2p would take 80 s, and of ours 24.
    expect(performance.now() - startMs).toBeLessThan(16_000)
    expect(provider.connections()).toEqual([])
    expect(await provider.has(rawBlock(1).cid)).toBe(true)
  })

  test('[F67] a peer without a key and one with do not connect, whoever dials', async () => {
    const provider = await peers.provider([rawBlock(1)], { swarmKey: newKey() })
    const stranger = await peers.create()
    const dials = await Promise.allSettled([connect(stranger, provider), connect(provider, stranger)])
    expect(dials.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(String((dials[1] as PromiseRejectedResult).reason)).toContain('swarm.key')
    expect(provider.connections()).toEqual([])
  })
})
